import ApusChatProtocol
import ApusChatStorage
import ApusJSON

/// Converts rows to the events that are sent. Caches each event until its row changes.
final class EventEncoder {
    private final class Encoded {
        let row: EventRow
        let event: ChatEvent

        init(_ row: EventRow, _ event: ChatEvent) {
            self.row = row
            self.event = event
        }
    }

    private let oracle: Oracle
    /// The planted bug. Some bugs prevent the update of the cache after the content of a message
    /// was removed.
    private let bug: PlantedBug?
    /// The events of each conversation, by `seq`.
    private var cache: [ConversationKey: [Encoded?]] = [:]

    /// - Parameter oracle: Provides the names of users.
    init(_ oracle: Oracle, bug: PlantedBug?) {
        self.oracle = oracle
        self.bug = bug
    }

    func event(_ view: EventView, in key: ConversationKey) -> ChatEvent {
        guard let row = view.row else {
            return .hidden(conversation: ConversationID(number: key.rawValue), seq: view.seq, n: view.n > 0 ? view.n : nil)
        }
        return self.event(row)
    }

    func event(_ row: EventRow) -> ChatEvent {
        let index = Int(row.seq) - 1
        if let events = self.cache[row.conversation], events.indices.contains(index), let known = events[index] {
            if known.row == row { return known.event }
            if self.bug == .recalledServed, row.state == .recalled { return known.event }
            if self.bug == .expiredServed, row.state == .expired { return known.event }
        }
        let encoded = Encoded(row, self.encoded(row))
        self.keep(encoded, at: index, in: &self.cache[row.conversation, default: []])
        return encoded.event
    }

    private func keep(_ encoded: Encoded, at index: Int, in events: inout [Encoded?]) {
        while events.count <= index { events.append(nil) }
        events[index] = encoded
    }

    private func encoded(_ row: EventRow) -> ChatEvent {
        var body = row.body.isEmpty ? [:] : (try? JSONReader.read(Array(row.body.utf8)))?.objectValue ?? [:]
        if row.isClosed, !row.state.isBlank { body["closed"] = .bool(true) }
        return ChatEvent(
            conversation: ConversationID(number: row.conversation.rawValue), seq: row.seq, n: row.n > 0 ? row.n : nil,
            sender: self.oracle.name(of: row.sender), id: row.clientID, at: row.at, kind: row.kind, ref: row.ref > 0 ? row.ref : nil,
            thread: row.thread > 0 ? row.thread : nil, state: row.state, body: body, editedAt: row.editedAt > 0 ? row.editedAt : nil,
            expiresAt: row.expiresAt > 0 ? row.expiresAt : nil, reactions: row.reactions, votes: row.votes,
            replies: row.replyCount > 0 ? ThreadSummary(count: row.replyCount, seq: row.lastReply) : nil)
    }
}
