import ApusChatProtocol
import ApusChatStorage
import ApusJSON

/// Makes events of the wire from rows, each once for as long as its row does not change.
final class EventEncoder {
    private let names: [UserKey: UserName]
    /// A planted bug: the cache does not notice a recall.
    private let servesRecalled: Bool
    private var cache: [ConversationKey: [Int64: (row: EventRow, event: ChatEvent)]] = [:]

    init(names: [UserKey: UserName], servesRecalled: Bool) {
        self.names = names
        self.servesRecalled = servesRecalled
    }

    func event(_ view: EventView, in key: ConversationKey) -> ChatEvent {
        guard let row = view.row else {
            return .hidden(conversation: ConversationID(number: key.rawValue), seq: view.seq, n: view.n > 0 ? view.n : nil)
        }
        return self.event(row)
    }

    func event(_ row: EventRow) -> ChatEvent {
        if let known = self.cache[row.conversation]?[row.seq] {
            if known.row == row { return known.event }
            if self.servesRecalled, row.state == .recalled { return known.event }
        }
        let body = (try? JSONReader.read(Array(row.body.utf8)))?.objectValue ?? [:]
        let event = ChatEvent(
            conversation: ConversationID(number: row.conversation.rawValue), seq: row.seq, n: row.n > 0 ? row.n : nil,
            sender: self.names[row.sender], id: row.clientID, at: row.at, kind: row.kind, ref: row.ref > 0 ? row.ref : nil,
            thread: row.thread > 0 ? row.thread : nil, state: row.state, body: body, editedAt: row.editedAt > 0 ? row.editedAt : nil,
            expiresAt: row.expiresAt > 0 ? row.expiresAt : nil, reactions: row.reactions, votes: row.votes)
        self.cache[row.conversation, default: [:]][row.seq] = (row, event)
        return event
    }
}
