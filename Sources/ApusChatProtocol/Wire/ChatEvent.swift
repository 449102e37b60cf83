public import ApusJSON

/// What an event is. Open: a later server may send a kind that is not listed here, and a client shows it as unknown.
public struct ChatEventKind: Hashable, Sendable, Codable, RawRepresentable, CustomStringConvertible {
    /// The text that goes over the wire.
    public let rawValue: String
    /// Any kind, listed or not.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The text that goes over the wire.
    public var description: String { self.rawValue }

    /// A message; the body is a `ChatTextBody`.
    public static let text = Self(rawValue: "text")
    /// A picture; the body is a `ChatImageBody`.
    public static let image = Self(rawValue: "image")
    /// A change: somebody joined; the body is `{"users": [id, …]}`.
    public static let memberJoin = Self(rawValue: "member.join")
    /// A change: the conversation was made or renamed; the body holds what was set.
    public static let conversationSet = Self(rawValue: "conversation.set")
}

/// One entry of a conversation's log. Order and identity come from the server (rule 9).
public struct ChatEvent: Hashable, Sendable, Codable {
    /// The conversation whose log this is.
    public var conv: ConversationID
    /// The place in the log: 1, 2, 3 … without a hole. A cursor counts these.
    public var seq: Int64
    /// The ordinal among messages: 1, 2, 3 … without a hole; nil for a change. Unread counts count these.
    public var n: Int64?
    /// Who sent it, as the server knows it.
    public var sender: UserID
    /// The sender's own id of it.
    public var id: ClientID
    /// When the server stored it, in milliseconds since 1970.
    public var at: Int64
    /// What it is.
    public var kind: ChatEventKind
    /// The `seq` of the event this one is about: a reply's original, say.
    public var ref: Int64?
    /// What the kind says it is; always an object.
    public var body: JSONValue

    /// An event with all its parts.
    public init(
        conv: ConversationID, seq: Int64, n: Int64?, sender: UserID, id: ClientID, at: Int64, kind: ChatEventKind, ref: Int64? = nil,
        body: JSONValue
    ) {
        self.conv = conv
        self.seq = seq
        self.n = n
        self.sender = sender
        self.id = id
        self.at = at
        self.kind = kind
        self.ref = ref
        self.body = body
    }

    private enum CodingKeys: String, CodingKey { case conv, seq, n, sender, id, at, kind, ref, body }

    /// Reads the fields. A number below zero is refused.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.conv = try container.decode(ConversationID.self, forKey: .conv)
        self.seq = try container.decodeCount(forKey: .seq)
        self.n = try container.decodeCountIfPresent(forKey: .n)
        self.sender = try container.decode(UserID.self, forKey: .sender)
        self.id = try container.decode(ClientID.self, forKey: .id)
        self.at = try container.decode(Int64.self, forKey: .at)
        self.kind = try container.decode(ChatEventKind.self, forKey: .kind)
        self.ref = try container.decodeIfPresent(Int64.self, forKey: .ref)
        self.body = try container.decode(JSONValue.self, forKey: .body)
    }

    /// Writes all fields; `n` is written as null for a change, `ref` is left out when there is none.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.conv, forKey: .conv)
        try container.encode(self.seq, forKey: .seq)
        try container.encode(self.n, forKey: .n)
        try container.encode(self.sender, forKey: .sender)
        try container.encode(self.id, forKey: .id)
        try container.encode(self.at, forKey: .at)
        try container.encode(self.kind, forKey: .kind)
        try container.encodeIfPresent(self.ref, forKey: .ref)
        try container.encode(self.body, forKey: .body)
    }
}
