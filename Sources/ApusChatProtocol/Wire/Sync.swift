/// `sync`: requests the changed heads, or part of a conversation's log.
public enum SyncRequest: Hashable, Sendable {
    /// The heads that changed at or after a server time in milliseconds; nil requests all. `page`
    /// is the token of the previous answer; nil requests the first page. The answer is a
    /// `HeadsReply`.
    case heads(since: Int64?, page: String? = nil)
    /// Events with `seq` ≥ `from`: at most `limit`, at least one, and fewer when they exceed
    /// `ChatLimits.answerBytes`. The next request begins after the last event, until the head's
    /// `seq` is reached. The answer is an `EventsReply`.
    case forward(conv: ConversationID, from: Int64, limit: Int)
    /// The newest events, those with `seq` < `before` if it is not nil: at most `limit`, and fewer
    /// when they exceed `ChatLimits.answerBytes`. The answer is an `EventsReply` in ascending
    /// order.
    case backward(conv: ConversationID, before: Int64?, limit: Int)
}

extension SyncRequest: Codable {
    private enum CodingKeys: String, CodingKey { case since, page, conv, from, before, limit }

    /// Reads the fields. A request with `conv` is for events. A limit that is absent or above 200
    /// is read as 200.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let conv = try container.decodeIfPresent(ConversationID.self, forKey: .conv) else {
            self = .heads(
                since: try container.decodeIfPresent(Int64.self, forKey: .since),
                page: try container.decodePageIfPresent(forKey: .page))
            return
        }
        let requestedLimit = try container.decodeIfPresent(Int64.self, forKey: .limit) ?? Int64(ChatLimits.syncEvents)
        guard requestedLimit > 0 else {
            throw DecodingError.dataCorruptedError(forKey: .limit, in: container, debugDescription: "`limit` must be at least 1")
        }
        let limit = Int(min(requestedLimit, Int64(ChatLimits.syncEvents)))
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
        case .heads(let since, let page):
            try container.encodeIfPresent(since, forKey: .since)
            try container.encodeIfPresent(page, forKey: .page)
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
///
/// Heads that exceed `ChatLimits.answerBytes` are returned in pages. The first page contains the
/// newest. The following pages contain all heads, including those of the first page, in an order
/// that does not change between two requests.
public struct HeadsReply: Hashable, Sendable, Codable {
    /// One page of heads. On the first page, the newest change comes first.
    public var heads: [ChatHead]
    /// The token of the next page, for a request with the same `since`; nil on the last page.
    public var page: String?
    /// The server's time of the last change before the first page was read, in milliseconds since
    /// 1970; the same on every page. After the last page, the next `sync` requests changes since 10
    /// s before this time (docs/chat-rules.md, 5).
    public var at: Int64

    /// Creates an answer.
    public init(heads: [ChatHead], page: String? = nil, at: Int64) {
        self.heads = heads
        self.page = page
        self.at = at
    }

    /// Reads the fields. Rejects a negative time, because the client computes with it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.heads = try container.decode([ChatHead].self, forKey: .heads)
        self.page = try container.decodePageIfPresent(forKey: .page)
        self.at = try container.decodeCount(forKey: .at)
    }
}

/// The answer to `sync` with a conversation.
public struct EventsReply: Hashable, Sendable, Codable {
    /// Events in ascending order of `seq`, without holes; fewer than requested when they exceed
    /// `ChatLimits.answerBytes`.
    public var events: [ChatEvent]
    /// The current head, whose `seq` is the end of the log.
    public var head: ChatHead

    /// Creates an answer.
    public init(events: [ChatEvent], head: ChatHead) {
        self.events = events
        self.head = head
    }
}
