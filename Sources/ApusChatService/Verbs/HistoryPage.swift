import ApusChatProtocol
import ApusChatStorage

/// Creates the answer to `history`: a page of a log.
struct HistoryPage {
    let context: ReadContext
    let request: HistoryRequest

    func answer() throws -> HistoryAnswer {
        let key = self.request.conversation.key
        let head = try self.context.head(key)
        guard let view = MemberView(head.member) else { throw ChatError.noConversation }
        let views: [EventView]
        if let message = self.request.edits {
            views = try self.edits(of: message, in: key)
        } else if let root = self.request.thread {
            views = try self.thread(root, in: key)
        } else {
            views = try self.page(of: key)
        }
        let events = try self.context.events(views, in: key)
        let entries = zip(views, events).map { Entry(event: $1, mine: ReadContext.mine([$0]).first) }
        let range = self.fitting(entries)
        return HistoryAnswer(
            conversation: self.request.conversation, events: Array(events[range]), mine: entries[range].compactMap(\.mine),
            seq: min(view.last, head.conversation.counters.lastSeq), minSeq: max(1, view.first))
    }

    /// An event with the annotations of the viewer.
    private struct Entry {
        let event: ChatEvent
        let mine: HistoryAnswer.Mine?
        let bytes: Int

        init(event: ChatEvent, mine: HistoryAnswer.Mine?) {
            self.event = event
            self.mine = mine
            self.bytes = AnswerSize.bytes(event) + (mine.map { AnswerSize.bytes($0) + 1 } ?? 0)
        }
    }

    private func page(of key: ConversationKey) throws -> [EventView] {
        let (reads, viewer, limit) = (self.context.reads, self.context.viewer, self.request.limit)
        switch self.request.range {
        case .newest: return try reads.events(in: key, .through(.max), as: viewer, limit: limit)
        case .from(let seq): return try reads.events(in: key, .from(seq), as: viewer, limit: limit)
        case .before(let seq): return try reads.events(in: key, .through(max(0, seq - 1)), as: viewer, limit: limit)
        case .around(let seq):
            let before = try reads.events(in: key, .through(max(0, seq - 1)), as: viewer, limit: limit / 2)
            return try before + reads.events(in: key, .from(seq), as: viewer, limit: limit - before.count)
        }
    }

    private func thread(_ root: Int64, in key: ConversationKey) throws -> [EventView] {
        let (reads, viewer) = (self.context.reads, self.context.viewer)
        let limit = self.request.limit
        let first = try reads.events(in: key, .from(root), as: viewer, limit: 1).filter { $0.seq == root }
        guard !first.isEmpty else { throw ChatError.noMessage }
        func before(_ seq: Int64, _ limit: Int) throws -> [EventView] {
            guard seq > root, limit > 0 else { return [] }
            let replies = try reads.events(in: key, .threadEnd(root, through: seq - 1), as: viewer, limit: limit)
            // The message that began the thread precedes its first reply.
            return replies.count < limit ? first + replies : replies
        }
        func from(_ seq: Int64, _ limit: Int) throws -> [EventView] {
            guard limit > 0 else { return [] }
            let start = seq <= root ? first : []
            guard start.count < limit else { return start }
            return try start + reads.events(in: key, .thread(root, from: seq), as: viewer, limit: limit - start.count)
        }
        switch self.request.range {
        case .newest: return try before(.max, limit)
        case .before(let seq): return try before(seq, limit)
        case .from(let seq): return try from(seq, limit)
        case .around(let seq):
            let earlier = try before(seq, limit / 2)
            return try earlier + from(seq, limit - earlier.count)
        }
    }

    /// Returns a message and its edits, each with its original content.
    private func edits(of message: Int64, in key: ConversationKey) throws -> [EventView] {
        let (reads, viewer) = (self.context.reads, self.context.viewer)
        guard var view = try reads.events(in: key, .from(message), as: viewer, limit: 1).first, view.seq == message, view.row != nil else {
            throw ChatError.noMessage
        }
        view.row = view.row?.firstForm
        return try [view] + reads.events(in: key, .edits(of: message), as: viewer, limit: max(1, self.request.limit - 1))
    }

    /// Returns the range of events that fits into an answer, beginning at the end from which the
    /// request reads.
    private func fitting(_ events: [Entry]) -> Range<Int> {
        switch self.request.range {
        case .newest, .before:
            guard self.request.edits == nil else { fallthrough }
            return (events.count - Self.count(events.reversed()))..<events.count
        case .from: return 0..<Self.count(events)
        case .around(let seq):
            let middle = events.firstIndex { $0.event.seq >= seq } ?? events.count
            let before = Self.count(events[..<middle].reversed(), AnswerSize.pageBytes / 2)
            let after = Self.count(events[middle...], AnswerSize.pageBytes / 2)
            return (middle - before)..<(middle + after)
        }
    }

    private static func count(_ events: some Collection<Entry>, _ bytes: Int = AnswerSize.pageBytes) -> Int {
        AnswerSize.fitting(events.lazy.map(\.bytes), bytes)
    }
}
