/// `search`: finds messages by the words of their texts, or lists the messages of given kinds.
package struct SearchRequest: Hashable, WireObject {
    /// The words. A message must contain all of them; text in quotes must occur literally. An empty
    /// text matches all messages; the request must then name kinds and a conversation.
    package var query: String
    /// The conversation to which the search is restricted; nil for all conversations.
    package var conversation: ConversationID?
    /// The sender to which the search is restricted; nil for all senders.
    package var sender: UserName?
    /// The kinds to which the search is restricted; empty for all kinds.
    package var kinds: [EventKind]
    /// The earliest time of a message, in milliseconds since 1970; nil for no limit.
    package var fromAt: Int64?
    /// The latest time of a message, in milliseconds since 1970; nil for no limit.
    package var untilAt: Int64?
    /// The `page` of the previous answer; nil for the first page.
    package var page: PageToken?

    package init(
        query: String = "", conversation: ConversationID? = nil, sender: UserName? = nil, kinds: [EventKind] = [], fromAt: Int64? = nil,
        untilAt: Int64? = nil, page: PageToken? = nil
    ) {
        self.query = query
        self.conversation = conversation
        self.sender = sender
        self.kinds = kinds
        self.fromAt = fromAt
        self.untilAt = untilAt
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.query = try reader.stringIfPresent("query", minimum: 1, maximum: ChatLimits.queryLength) ?? ""
        self.conversation = try reader.textIfPresent("conv")
        self.sender = try reader.textIfPresent("sender")
        self.kinds = try reader.texts("kinds", maximum: 20)
        if self.query.isEmpty, self.conversation == nil || self.kinds.isEmpty {
            throw WireError(.invalid, field: "query", rule: "is required unless both `conv` and `kinds` are present")
        }
        self.fromAt = try reader.integerIfPresent("from_at")
        self.untilAt = try reader.integerIfPresent("until_at")
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        if !self.query.isEmpty { writer.write("query", self.query) }
        writer.write("conv", ifPresent: self.conversation)
        writer.write("sender", ifPresent: self.sender)
        writer.write("kinds", ifAny: self.kinds)
        writer.write("from_at", ifPresent: self.fromAt)
        writer.write("until_at", ifPresent: self.untilAt)
        writer.write("page", ifPresent: self.page)
    }
}

/// A message that a search found.
package struct SearchHit: Hashable, WireObject {
    /// The message.
    package var event: ChatEvent
    /// The part of the text around the first found word.
    package var snippet: String
    /// The ranges of the found words in the snippet.
    package var ranges: [TextRange]

    package init(event: ChatEvent, snippet: String, ranges: [TextRange] = []) {
        self.event = event
        self.snippet = snippet
        self.ranges = ranges
    }

    package init(from reader: WireReader) throws(WireError) {
        self.event = try reader.object("event")
        self.snippet = try reader.string("snippet", maximum: ChatLimits.previewLength)
        self.ranges = try reader.objects("ranges", maximum: 20)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("event", self.event)
        writer.write("snippet", self.snippet)
        writer.write("ranges", ifAny: self.ranges)
    }
}

/// A range of a text, counted in Unicode scalars.
public struct TextRange: Hashable, Sendable, WireObject {
    /// The number of scalars before the range.
    public var offset: Int64
    /// The number of scalars in the range.
    public var length: Int64

    /// Creates a range.
    ///
    /// - Parameters:
    ///   - offset: The number of scalars before the range.
    ///   - length: The number of scalars in the range.
    public init(offset: Int64, length: Int64) {
        self.offset = offset
        self.length = length
    }

    package init(from reader: WireReader) throws(WireError) {
        self.offset = try reader.integer("offset")
        self.length = try reader.integer("length")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("offset", self.offset)
        writer.write("length", self.length)
    }
}

/// The answer to `search`. The newest message is the first.
package struct SearchAnswer: Hashable, WireObject {
    package var hits: [SearchHit]
    /// The position of the next page; nil on the last page.
    package var page: PageToken?
    /// The time up to which the index contains all messages, in milliseconds since 1970; nil if the
    /// index is complete.
    package var indexedAt: Int64?

    package init(hits: [SearchHit], page: PageToken? = nil, indexedAt: Int64? = nil) {
        self.hits = hits
        self.page = page
        self.indexedAt = indexedAt
    }

    package init(from reader: WireReader) throws(WireError) {
        self.hits = try reader.objects("hits", maximum: ChatLimits.searchPage)
        self.page = try reader.textIfPresent("page")
        self.indexedAt = try reader.integerIfPresent("indexed_at")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("hits", all: self.hits)
        writer.write("page", ifPresent: self.page)
        writer.write("indexed_at", ifPresent: self.indexedAt)
    }
}
