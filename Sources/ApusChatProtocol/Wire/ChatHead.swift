/// Somebody, as others see them.
public struct ChatUser: Hashable, Sendable, Codable {
    /// The lasting identity.
    public var id: UserID
    /// The name to sign in with and to be found by.
    public var name: String
    /// The name to show.
    public var display: String
    /// Whether a device is connected at the moment.
    public var online: Bool

    /// A user with all parts.
    public init(id: UserID, name: String, display: String, online: Bool = false) {
        self.id = id
        self.name = name
        self.display = display
        self.online = online
    }
}

/// A member of a conversation.
public struct ChatMember: Hashable, Sendable, Codable {
    /// What a member may do. Open.
    public struct Role: Hashable, Sendable, Codable, RawRepresentable {
        /// The text that goes over the wire.
        public let rawValue: String
        /// Any role, listed or not.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Made the group.
        public static let owner = Self(rawValue: "owner")
        /// Takes part.
        public static let member = Self(rawValue: "member")
    }

    /// Who.
    public var user: UserID
    /// What they may do.
    public var role: Role
    /// The ordinal of the last message they have read.
    public var read: Int64

    /// A member with all parts.
    public init(user: UserID, role: Role, read: Int64) {
        self.user = user
        self.role = role
        self.read = read
    }

    /// Reads the fields. A number below zero is refused.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.user = try container.decode(UserID.self, forKey: .user)
        self.role = try container.decode(Role.self, forKey: .role)
        self.read = try container.decodeCount(forKey: .read)
    }
}

/// What a conversation is. Open.
public struct ConversationKind: Hashable, Sendable, Codable, RawRepresentable {
    /// The text that goes over the wire.
    public let rawValue: String
    /// Any kind, listed or not.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Two people; there is one for every two.
    public static let pair = Self(rawValue: "pair")
    /// Several people, with a title.
    public static let group = Self(rawValue: "group")
}

/// A conversation as one member sees it: enough to draw a list, and to know what to pull.
public struct ChatHead: Hashable, Sendable, Codable {
    /// Which conversation.
    public var conv: ConversationID
    /// Pair or group.
    public var kind: ConversationKind
    /// A group's title; nil for a pair, which is shown under the other's name.
    public var title: String?
    /// The members, at most 500, including the recipient of the head.
    public var members: [ChatMember]
    /// The number of members when `members` does not contain all of them; nil otherwise.
    public var memberCount: Int64?
    /// The `seq` of the newest event; 0 when there is none.
    public var seq: Int64
    /// The ordinal of the newest message; 0 when there is none.
    public var n: Int64
    /// The ordinal up to which you have read.
    public var read: Int64
    /// How many messages you have not read (rule 3).
    public var unread: Int64
    /// The first `seq` that you may see.
    public var minSeq: Int64
    /// When it last changed, in milliseconds since 1970.
    public var updatedAt: Int64
    /// The newest event.
    public var last: ChatEvent?

    /// A head with all its parts.
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

    /// Reads the fields. A number below zero is refused.
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

    /// Writes all fields; `last` is null when there is no event, `title` is omitted for a pair,
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
