public import ApusJSON

/// The kind of an event. Later servers may send kinds that are not listed here, which a client
/// shows as unknown.
public struct ChatEventKind: Hashable, Sendable, Codable, RawRepresentable, CustomStringConvertible {
    /// The kind on the wire.
    public let rawValue: String
    /// Creates a kind, which need not be one of the listed ones.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The kind on the wire.
    public var description: String { self.rawValue }

    /// A text message; the body is a `ChatTextBody`.
    public static let text = Self(rawValue: "text")
    /// A picture message; the body is a `ChatImageBody`.
    public static let image = Self(rawValue: "image")
    /// A change: users joined. The body is `{"users": [id, …]}`.
    public static let memberJoin = Self(rawValue: "member.join")
    /// A change: the conversation was created or renamed. The body contains the new values.
    public static let conversationSet = Self(rawValue: "conversation.set")
}

/// An entry of a conversation's log. The server determines its order and its sender
/// (docs/chat-rules.md, 9).
public struct ChatEvent: Hashable, Sendable, Codable {
    /// The conversation.
    public var conv: ConversationID
    /// The sequence number in the log: 1, 2, 3 … without holes.
    public var seq: Int64
    /// The ordinal among messages: 1, 2, 3 … without holes; nil for a change. Unread counts are
    /// based on it.
    public var n: Int64?
    /// The sender, as authenticated by the server.
    public var sender: UserID
    /// The id that the sender chose for the event.
    public var id: ClientID
    /// The time at which the server stored the event, in milliseconds since 1970.
    public var at: Int64
    /// The kind.
    public var kind: ChatEventKind
    /// The `seq` of a related event, for example the message that a reply refers to.
    public var ref: Int64?
    /// The content, depending on the kind; always an object.
    public var body: JSONValue

    /// Creates an event.
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

    /// Reads the fields. Rejects negative counters.
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

    /// Writes all fields. `n` is null for a change; `ref` is omitted when nil.
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
