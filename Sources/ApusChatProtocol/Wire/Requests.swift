public import ApusJSON

/// The names of the Socket.IO events of the namespace `/chat`.
public enum ChatVerb {
    /// The namespace.
    public static let namespace = "/chat"
    /// Client → server: request the own user and the users of shared conversations.
    public static let hello = "hello"
    /// Client → server: store a message.
    public static let send = "send"
    /// Client → server: request changed heads, or events of a conversation.
    public static let sync = "sync"
    /// Both directions: set a read position.
    public static let mark = "mark"
    /// Client → server: open the pair conversation with a user.
    public static let open = "open"
    /// Client → server: create a group.
    public static let create = "create"
    /// Client → server: search users.
    public static let users = "users"
    /// Server → client: a `ChatEvent`.
    public static let event = "event"
    /// Server → client: a `ChatHead`.
    public static let head = "head"
    /// Server → client: a `ChatPresence`.
    public static let presence = "presence"
    /// Server → client: a `ChatBye`, after which the connection closes.
    public static let bye = "bye"
}

/// `hello`: requests the user and the users of all shared conversations.
public struct HelloRequest: Hashable, Sendable, Codable {
    /// The `page` of the previous answer; nil requests the first page.
    public var page: String?

    /// Creates a request.
    public init(page: String? = nil) { self.page = page }

    /// Reads the fields.
    public init(from decoder: any Decoder) throws {
        self.page = try decoder.container(keyedBy: CodingKeys.self).decodePageIfPresent(forKey: .page)
    }
}

/// The answer to `hello`.
public struct HelloReply: Hashable, Sendable, Codable {
    /// The requesting user.
    public var user: ChatUser
    /// One page of the users that share a conversation with the requesting user, ordered by name.
    public var users: [ChatUser]
    /// The token of the next page; nil on the last page.
    public var page: String?
    /// The server's time, in milliseconds since 1970.
    public var at: Int64

    /// Creates an answer.
    public init(user: ChatUser, users: [ChatUser], page: String? = nil, at: Int64) {
        self.user = user
        self.users = users
        self.page = page
        self.at = at
    }
}

/// `send`: stores a message.
public struct SendRequest: Hashable, Sendable, Codable {
    /// The conversation.
    public var conv: ConversationID
    /// The sender's id of the message. A retry carries the same id.
    public var id: ClientID
    /// `text` or `image`.
    public var kind: ChatEventKind
    /// The content, depending on the kind.
    public var body: JSONValue
    /// The `seq` of an event in the same conversation that this message replies to.
    public var ref: Int64?

    /// Creates a request.
    public init(conv: ConversationID, id: ClientID, kind: ChatEventKind, body: JSONValue, ref: Int64? = nil) {
        self.conv = conv
        self.id = id
        self.kind = kind
        self.body = body
        self.ref = ref
    }
}

/// The answer to `send`, sent after the commit. A retry gets the original answer.
public struct SendReply: Hashable, Sendable, Codable {
    /// The conversation.
    public var conv: ConversationID
    /// The sender's id of the message.
    public var id: ClientID
    /// The sequence number in the log.
    public var seq: Int64
    /// The ordinal among messages.
    public var n: Int64
    /// The time at which the message was stored, in milliseconds since 1970.
    public var at: Int64

    /// Creates an answer.
    public init(conv: ConversationID, id: ClientID, seq: Int64, n: Int64, at: Int64) {
        self.conv = conv
        self.id = id
        self.seq = seq
        self.n = n
        self.at = at
    }

    /// Reads the fields. Rejects negative counters.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.conv = try container.decode(ConversationID.self, forKey: .conv)
        self.id = try container.decode(ClientID.self, forKey: .id)
        self.seq = try container.decodeCount(forKey: .seq)
        self.n = try container.decodeCount(forKey: .n)
        self.at = try container.decode(Int64.self, forKey: .at)
    }
}

/// `mark`: sets the read position.
public struct MarkRequest: Hashable, Sendable, Codable {
    /// The conversation.
    public var conv: ConversationID
    /// The ordinal (`n`) of the last message read. A lower number than the current one has no
    /// effect.
    public var read: Int64

    /// Creates a request.
    public init(conv: ConversationID, read: Int64) {
        self.conv = conv
        self.read = read
    }
}

/// The answer to `mark`.
public struct MarkReply: Hashable, Sendable, Codable {
    /// The conversation.
    public var conv: ConversationID
    /// The current read position.
    public var read: Int64
    /// The number of unread messages.
    public var unread: Int64

    /// Creates an answer.
    public init(conv: ConversationID, read: Int64, unread: Int64) {
        self.conv = conv
        self.read = read
        self.unread = unread
    }

    /// Reads the fields. Rejects negative counters.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.conv = try container.decode(ConversationID.self, forKey: .conv)
        self.read = try container.decodeCount(forKey: .read)
        self.unread = try container.decodeCount(forKey: .unread)
    }
}

/// `open`: opens the pair conversation with a user, which is created if it does not exist.
public struct OpenRequest: Hashable, Sendable, Codable {
    /// The other user.
    public var with: UserID

    /// Creates a request.
    public init(with: UserID) { self.with = with }
}

/// `create`: creates a group that contains the requesting user.
public struct CreateRequest: Hashable, Sendable, Codable {
    /// The title, 1 to 100 characters.
    public var title: String
    /// The other members.
    public var members: [UserID]

    /// Creates a request.
    public init(title: String, members: [UserID]) {
        self.title = title
        self.members = members
    }
}

/// The answer to `open` and `create`.
public struct HeadReply: Hashable, Sendable, Codable {
    /// The conversation.
    public var head: ChatHead

    /// Creates an answer.
    public init(head: ChatHead) { self.head = head }
}

/// `users`: searches users.
public struct UsersRequest: Hashable, Sendable, Codable {
    /// The words to search for; nil returns all users. Each word must occur in the name or the
    /// display name, in any order. A word after `@` must occur in the name.
    public var query: String?
    /// ``UsersReply/next`` of the previous page; nil requests the first page.
    public var after: String?

    /// Creates a request.
    public init(query: String? = nil, after: String? = nil) {
        self.query = query
        self.after = after
    }
}

/// The answer to `users`.
public struct UsersReply: Hashable, Sendable, Codable {
    /// One page, at most ``ChatLimits/users`` users. A user with exactly this name comes first,
    /// then names that begin with the query.
    public var users: [ChatUser]
    /// The value of ``UsersRequest/after`` for the next page; nil on the last page.
    public var next: String?

    /// Creates an answer.
    public init(users: [ChatUser], next: String? = nil) {
        self.users = users
        self.next = next
    }
}
