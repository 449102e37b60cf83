/// `history`: requests a part of a log.
package struct HistoryRequest: Hashable, WireObject {
    /// The requested part of the log.
    package enum Range: Hashable, Sendable {
        /// The newest events.
        case newest
        /// The oldest events with `seq` ≥ `from`.
        case from(Int64)
        /// The newest events with `seq` < `before`.
        case before(Int64)
        /// The events around a `seq`: at most half of the limit before the `seq`, and the rest from
        /// the `seq` onward.
        case around(Int64)
    }

    package var conversation: ConversationID
    package var range: Range
    package var limit: Int
    /// The `seq` of the message that began a thread. Restricts the events to this message and its
    /// replies, which need not be consecutive.
    package var thread: Int64?
    /// The `seq` of a message. Restricts the events to the message and its edits, each with its
    /// original content. These events need not be consecutive.
    package var edits: Int64?

    package init(
        conversation: ConversationID, range: Range, limit: Int = ChatLimits.historyEvents, thread: Int64? = nil, edits: Int64? = nil
    ) {
        self.conversation = conversation
        self.range = range
        self.limit = limit
        self.thread = thread
        self.edits = edits
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        let seq: ClosedRange<Int64> = 1...WireReader.largestInteger
        let from = try reader.integerIfPresent("from", in: seq)
        let before = try reader.integerIfPresent("before", in: seq)
        let around = try reader.integerIfPresent("around", in: seq)
        switch (from, before, around) {
        case (nil, nil, nil): self.range = .newest
        case (let from?, nil, nil): self.range = .from(from)
        case (nil, let before?, nil): self.range = .before(before)
        case (nil, nil, let around?): self.range = .around(around)
        default: throw WireError(.invalid, field: "from", rule: "must be the only one of `from`, `before` and `around`")
        }
        self.limit = Int(try reader.integerIfPresent("limit", in: 1...Int64(ChatLimits.historyEvents)) ?? Int64(ChatLimits.historyEvents))
        self.thread = try reader.integerIfPresent("thread", in: seq)
        self.edits = try reader.integerIfPresent("edits", in: seq)
        if self.edits != nil, self.thread != nil {
            throw WireError(.invalid, field: "edits", rule: "must be absent if `thread` is present")
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        switch self.range {
        case .newest: break
        case .from(let seq): writer.write("from", seq)
        case .before(let seq): writer.write("before", seq)
        case .around(let seq): writer.write("around", seq)
        }
        if self.limit != ChatLimits.historyEvents { writer.write("limit", Int64(self.limit)) }
        writer.write("thread", ifPresent: self.thread)
        writer.write("edits", ifPresent: self.edits)
    }
}

/// The answer to `history`.
package struct HistoryAnswer: Hashable, WireObject {
    /// The requesting user's reactions and votes for one event of the page.
    package struct Mine: Hashable, WireObject {
        package var seq: Int64
        package var reactions: [String]
        package var votes: [Int64]

        package init(seq: Int64, reactions: [String] = [], votes: [Int64] = []) {
            self.seq = seq
            self.reactions = reactions
            self.votes = votes
        }

        package init(from reader: WireReader) throws(WireError) {
            self.seq = try reader.integer("seq", in: WireReader.seqs)
            self.reactions = try reader.strings("reactions", length: ChatLimits.reactionLength, maximum: ChatLimits.ownReactions)
            self.votes = try reader.integers("votes", maximum: ChatLimits.pollOptions)
        }

        package func write(to writer: inout WireWriter) {
            writer.write("seq", self.seq)
            writer.write("reactions", ifAny: self.reactions)
            writer.write("votes", ifAny: self.votes)
        }
    }

    package var conversation: ConversationID
    /// Events in ascending order of `seq`. They are consecutive unless the request is for a thread
    /// or for edits. Their number is lower than requested at the ends of the visible log and at the
    /// size limit of an answer.
    package var events: [ChatEvent]
    package var mine: [Mine]
    /// The `seq` of the newest event that the user can see. Unless the request is for edits, all
    /// changes up to this `seq` are applied to the events.
    package var seq: Int64
    /// The first `seq` that the user can see.
    package var minSeq: Int64

    package init(conversation: ConversationID, events: [ChatEvent], mine: [Mine] = [], seq: Int64, minSeq: Int64 = 1) {
        self.conversation = conversation
        self.events = events
        self.mine = mine
        self.seq = seq
        self.minSeq = minSeq
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.events = try reader.objects("events", maximum: ChatLimits.historyEvents)
        self.mine = try reader.objects("mine", maximum: ChatLimits.historyEvents)
        self.seq = try reader.integer("seq")
        self.minSeq = try reader.integer("min_seq", in: WireReader.seqs)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("events", all: self.events)
        writer.write("mine", ifAny: self.mine)
        writer.write("seq", self.seq)
        writer.write("min_seq", self.minSeq)
    }
}
