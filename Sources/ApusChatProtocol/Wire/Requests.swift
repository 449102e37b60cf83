public import ApusJSON

/// The names of the Socket.IO events of the namespace `/chat`.
public enum ChatVerb {
    /// The namespace itself.
    public static let namespace = "/chat"
    /// Client → server: who am I, and whom do I know?
    public static let hello = "hello"
    /// Client → server: store a message.
    public static let send = "send"
    /// Client → server: what did I miss?
    public static let sync = "sync"
    /// Both ways: read up to here.
    public static let mark = "mark"
    /// Client → server: my conversation with somebody.
    public static let open = "open"
    /// Client → server: a new group.
    public static let create = "create"
    /// Client → server: find people.
    public static let users = "users"
    /// Server → client: a `ChatEvent`.
    public static let event = "event"
    /// Server → client: a `ChatHead`.
    public static let head = "head"
    /// Server → client: a `ChatPresence`.
    public static let presence = "presence"
    /// Server → client: a `ChatBye`, then the connection ends.
    public static let bye = "bye"
}

/// `hello`: requests the user and the users of all shared conversations.
public struct HelloRequest: Hashable, Sendable, Codable {
    /// The `page` of the previous answer; nil requests the first page.
    public var page: String?

    /// The request.
    public init(page: String? = nil) { self.page = page }

    /// Reads the fields.
    public init(from decoder: any Decoder) throws {
        self.page = try decoder.container(keyedBy: CodingKeys.self).decodePageIfPresent(forKey: .page)
    }
}

/// The answer to `hello`.
public struct HelloReply: Hashable, Sendable, Codable {
    /// Who you are.
    public var user: ChatUser
    /// One page of the users that share a conversation with you, ordered by name.
    public var users: [ChatUser]
    /// The token of the next page; nil on the last page.
    public var page: String?
    /// The server's time, in milliseconds since 1970.
    public var at: Int64

    /// An answer with all its parts.
    public init(user: ChatUser, users: [ChatUser], page: String? = nil, at: Int64) {
        self.user = user
        self.users = users
        self.page = page
        self.at = at
    }
}

/// `send`: store a message.
public struct SendRequest: Hashable, Sendable, Codable {
    /// Where to.
    public var conv: ConversationID
    /// The sender's own id; a retry carries the same one.
    public var id: ClientID
    /// `text` or `image`.
    public var kind: ChatEventKind
    /// What the kind says.
    public var body: JSONValue
    /// The `seq` of an event in the same conversation that this one answers.
    public var ref: Int64?

    /// A request with all its parts.
    public init(conv: ConversationID, id: ClientID, kind: ChatEventKind, body: JSONValue, ref: Int64? = nil) {
        self.conv = conv
        self.id = id
        self.kind = kind
        self.body = body
        self.ref = ref
    }
}

/// The answer to `send`, given after the commit. A retry gets the first answer again, word for word.
public struct SendReply: Hashable, Sendable, Codable {
    /// Where it was stored.
    public var conv: ConversationID
    /// The sender's own id.
    public var id: ClientID
    /// Its place in the log.
    public var seq: Int64
    /// Its ordinal among messages.
    public var n: Int64
    /// When it was stored, in milliseconds since 1970.
    public var at: Int64

    /// An answer with all its parts.
    public init(conv: ConversationID, id: ClientID, seq: Int64, n: Int64, at: Int64) {
        self.conv = conv
        self.id = id
        self.seq = seq
        self.n = n
        self.at = at
    }

    /// Reads the fields. A number below zero is refused.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.conv = try container.decode(ConversationID.self, forKey: .conv)
        self.id = try container.decode(ClientID.self, forKey: .id)
        self.seq = try container.decodeCount(forKey: .seq)
        self.n = try container.decodeCount(forKey: .n)
        self.at = try container.decode(Int64.self, forKey: .at)
    }
}

/// `mark`: I have read up to here.
public struct MarkRequest: Hashable, Sendable, Codable {
    /// In which conversation.
    public var conv: ConversationID
    /// The ordinal (`n`) of the last message read. It only moves forward; a lower one changes nothing.
    public var read: Int64

    /// A request with all its parts.
    public init(conv: ConversationID, read: Int64) {
        self.conv = conv
        self.read = read
    }
}

/// The answer to `mark`.
public struct MarkReply: Hashable, Sendable, Codable {
    /// In which conversation.
    public var conv: ConversationID
    /// Up to where you have read now.
    public var read: Int64
    /// What is left.
    public var unread: Int64

    /// An answer with all its parts.
    public init(conv: ConversationID, read: Int64, unread: Int64) {
        self.conv = conv
        self.read = read
        self.unread = unread
    }

    /// Reads the fields. A number below zero is refused.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.conv = try container.decode(ConversationID.self, forKey: .conv)
        self.read = try container.decodeCount(forKey: .read)
        self.unread = try container.decodeCount(forKey: .unread)
    }
}

/// `open`: my pair conversation with somebody; made when there is none.
public struct OpenRequest: Hashable, Sendable, Codable {
    /// The other one.
    public var with: UserID

    /// A request with all its parts.
    public init(with: UserID) { self.with = with }
}

/// `create`: a new group with me in it.
public struct CreateRequest: Hashable, Sendable, Codable {
    /// Its title, 1 to 100 characters.
    public var title: String
    /// The others.
    public var members: [UserID]

    /// A request with all its parts.
    public init(title: String, members: [UserID]) {
        self.title = title
        self.members = members
    }
}

/// The answer to `open` and `create`.
public struct HeadReply: Hashable, Sendable, Codable {
    /// The conversation.
    public var head: ChatHead

    /// An answer with all its parts.
    public init(head: ChatHead) { self.head = head }
}

/// `users`: find people.
public struct UsersRequest: Hashable, Sendable, Codable {
    /// Words that each occur in the name or the display name, in any order; after `@` in the name only. nil: all users.
    public var query: String?
    /// ``UsersReply/next`` of the page before; nil: the first page.
    public var after: String?

    /// A request with all its parts.
    public init(query: String? = nil, after: String? = nil) {
        self.query = query
        self.after = after
    }
}

/// The answer to `users`.
public struct UsersReply: Hashable, Sendable, Codable {
    /// One page, at most ``ChatLimits/users``. A user of exactly this name comes first, then names that begin with the query.
    public var users: [ChatUser]
    /// The value of ``UsersRequest/after`` for the next page; nil on the last page.
    public var next: String?

    /// An answer with all its parts.
    public init(users: [ChatUser], next: String? = nil) {
        self.users = users
        self.next = next
    }
}
