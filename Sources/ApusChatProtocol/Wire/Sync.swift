/// `sync`: what did I miss? Either the heads that changed, or a piece of one conversation's log.
public enum SyncRequest: Hashable, Sendable {
    /// The heads that changed at or after this server time (ms); nil: all. Answered by `HeadsReply`.
    case heads(since: Int64?)
    /// Events with `seq` ≥ `from`, at most `limit`. Answered by `EventsReply`.
    case forward(conv: ConversationID, from: Int64, limit: Int)
    /// The `limit` newest events with `seq` < `before`; nil: the newest of all. Answered by `EventsReply`, ascending all the same.
    case backward(conv: ConversationID, before: Int64?, limit: Int)
}

extension SyncRequest: Codable {
    private enum CodingKeys: String, CodingKey { case since, conv, from, before, limit }

    /// Reads the fields; `conv` decides which of the two it is. A limit that is absent or above 200 is 200.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let conv = try container.decodeIfPresent(ConversationID.self, forKey: .conv) else {
            self = .heads(since: try container.decodeIfPresent(Int64.self, forKey: .since))
            return
        }
        let asked = try container.decodeIfPresent(Int64.self, forKey: .limit) ?? Int64(ChatLimits.syncEvents)
        guard asked > 0 else {
            throw DecodingError.dataCorruptedError(forKey: .limit, in: container, debugDescription: "`limit` must be at least 1")
        }
        let limit = Int(min(asked, Int64(ChatLimits.syncEvents)))
        let from = try container.decodeIfPresent(Int64.self, forKey: .from)
        let before = try container.decodeIfPresent(Int64.self, forKey: .before)
        switch (from, before) {
        case (.some(let from), nil): self = .forward(conv: conv, from: from, limit: limit)
        case (nil, let before): self = .backward(conv: conv, before: before, limit: limit)
        case (.some, .some):
            throw DecodingError.dataCorruptedError(forKey: .before, in: container, debugDescription: "give `from` or `before`, not both")
        }
    }

    /// Writes the fields of the case.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .heads(let since):
            try container.encodeIfPresent(since, forKey: .since)
        case .forward(let conv, let from, let limit):
            try container.encode(conv, forKey: .conv)
            try container.encode(from, forKey: .from)
            try container.encode(limit, forKey: .limit)
        case .backward(let conv, let before, let limit):
            try container.encode(conv, forKey: .conv)
            try container.encodeIfPresent(before, forKey: .before)
            try container.encode(limit, forKey: .limit)
        }
    }
}

/// The answer to `sync` without a conversation.
public struct HeadsReply: Hashable, Sendable, Codable {
    /// The newest change first.
    public var heads: [ChatHead]
    /// The server's time of the last change it knew of when it looked, in milliseconds since 1970: ask for changes since this less 10 s next
    /// time (rule 5).
    public var at: Int64

    /// An answer with all its parts.
    public init(heads: [ChatHead], at: Int64) {
        self.heads = heads
        self.at = at
    }

    /// Reads the fields. A time below zero is refused: the client keeps it and computes with it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.heads = try container.decode([ChatHead].self, forKey: .heads)
        self.at = try container.decodeCount(forKey: .at)
    }
}

/// The answer to `sync` with a conversation.
public struct EventsReply: Hashable, Sendable, Codable {
    /// Ascending by `seq`, without a hole.
    public var events: [ChatEvent]
    /// The conversation as it is now: how far there is to go.
    public var head: ChatHead

    /// An answer with all its parts.
    public init(events: [ChatEvent], head: ChatHead) {
        self.events = events
        self.head = head
    }
}
