/// A user as shown to other users.
public struct ChatUser: Hashable, Sendable, Codable {
    /// The permanent identifier.
    public var id: UserID
    /// The account name, which is used to sign in and to find the user.
    public var name: String
    /// The display name.
    public var display: String
    /// Whether a device of the user is connected.
    public var online: Bool

    /// Creates a user.
    public init(id: UserID, name: String, display: String, online: Bool = false) {
        self.id = id
        self.name = name
        self.display = display
        self.online = online
    }
}

/// A member of a conversation.
public struct ChatMember: Hashable, Sendable, Codable {
    /// The role of a member. Later servers may send roles that are not listed here.
    public struct Role: Hashable, Sendable, Codable, RawRepresentable {
        /// The role on the wire.
        public let rawValue: String
        /// Creates a role, which need not be one of the listed ones.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The creator of the group.
        public static let owner = Self(rawValue: "owner")
        /// A member without special permissions.
        public static let member = Self(rawValue: "member")
    }

    /// The user.
    public var user: UserID
    /// The role.
    public var role: Role
    /// The ordinal of the last message that the member has read.
    public var read: Int64

    /// Creates a member.
    public init(user: UserID, role: Role, read: Int64) {
        self.user = user
        self.role = role
        self.read = read
    }

    /// Reads the fields. Rejects negative counters.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.user = try container.decode(UserID.self, forKey: .user)
        self.role = try container.decode(Role.self, forKey: .role)
        self.read = try container.decodeCount(forKey: .read)
    }
}

/// The kind of a conversation. Later servers may send kinds that are not listed here.
public struct ConversationKind: Hashable, Sendable, Codable, RawRepresentable {
    /// The kind on the wire.
    public let rawValue: String
    /// Creates a kind, which need not be one of the listed ones.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A conversation of two users. Each pair of users has at most one.
    public static let pair = Self(rawValue: "pair")
    /// A conversation of several users, with a title.
    public static let group = Self(rawValue: "group")
}

/// The summary of a conversation for one member: the content of a list row and the position of the
/// log.
public struct ChatHead: Hashable, Sendable, Codable {
    /// The conversation.
    public var conv: ConversationID
    /// The kind: pair or group.
    public var kind: ConversationKind
    /// The title of a group; nil for a pair, which is shown under the other user's name.
    public var title: String?
    /// The members, at most 500, including the recipient of the head.
    public var members: [ChatMember]
    /// The number of members when `members` does not contain all of them; nil otherwise.
    public var memberCount: Int64?
    /// The `seq` of the newest event; 0 for an empty log.
    public var seq: Int64
    /// The ordinal of the newest message; 0 without messages.
    public var n: Int64
    /// The ordinal of the last message that the recipient has read.
    public var read: Int64
    /// The number of messages that the recipient has not read (docs/chat-rules.md, 3).
    public var unread: Int64
    /// The first `seq` that the recipient can see.
    public var minSeq: Int64
    /// The time of the last change, in milliseconds since 1970.
    public var updatedAt: Int64
    /// The newest event; nil for an empty log.
    public var last: ChatEvent?

    /// Creates a head.
    public init(
        conv: ConversationID, kind: ConversationKind, title: String? = nil, members: [ChatMember], memberCount: Int64? = nil, seq: Int64,
        n: Int64, read: Int64, unread: Int64, minSeq: Int64, updatedAt: Int64, last: ChatEvent?
    ) {
        self.conv = conv
        self.kind = kind
        self.title = title
        self.members = members
        self.memberCount = memberCount
        self.seq = seq
        self.n = n
        self.read = read
        self.unread = unread
        self.minSeq = minSeq
        self.updatedAt = updatedAt
        self.last = last
    }

    private enum CodingKeys: String, CodingKey {
        case conv, kind, title, members, seq, n, read, unread, last
        case memberCount = "member_count"
        case minSeq = "min_seq"
        case updatedAt = "updated_at"
    }

    /// Reads the fields. Rejects negative counters.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.conv = try container.decode(ConversationID.self, forKey: .conv)
        self.kind = try container.decode(ConversationKind.self, forKey: .kind)
        self.title = try container.decodeIfPresent(String.self, forKey: .title)
        self.members = try container.decode([ChatMember].self, forKey: .members)
        self.memberCount = try container.decodeCountIfPresent(forKey: .memberCount)
        self.seq = try container.decodeCount(forKey: .seq)
        self.n = try container.decodeCount(forKey: .n)
        self.read = try container.decodeCount(forKey: .read)
        self.unread = try container.decodeCount(forKey: .unread)
        self.minSeq = try container.decodeCount(forKey: .minSeq)
        self.updatedAt = try container.decode(Int64.self, forKey: .updatedAt)
        self.last = try container.decodeIfPresent(ChatEvent.self, forKey: .last)
    }

    /// Writes all fields. `last` is null when there is no event. `title` is omitted for a pair, and
    /// `member_count` when `members` is complete.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.conv, forKey: .conv)
        try container.encode(self.kind, forKey: .kind)
        try container.encodeIfPresent(self.title, forKey: .title)
        try container.encode(self.members, forKey: .members)
        try container.encodeIfPresent(self.memberCount, forKey: .memberCount)
        try container.encode(self.seq, forKey: .seq)
        try container.encode(self.n, forKey: .n)
        try container.encode(self.read, forKey: .read)
        try container.encode(self.unread, forKey: .unread)
        try container.encode(self.minSeq, forKey: .minSeq)
        try container.encode(self.updatedAt, forKey: .updatedAt)
        try container.encode(self.last, forKey: .last)
    }
}
