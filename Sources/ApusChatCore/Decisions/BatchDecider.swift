package import ApusChatStorage
import ApusChatWire

/// Decides the commands of one batch, one after the other, on the facts that the storage returned
/// for them.
///
/// A decision first checks everything and then changes the facts in place, so that a refused
/// command leaves no trace and the next one sees the effects of those before it.
package struct BatchDecider: Sendable {
    package internal(set) var facts: Facts
    /// Milliseconds since 1970: the stamp of the events of this batch.
    let time: Int64
    let rules: ChatRules

    var events: [EventRow] = []
    var blanks: [EventBlank] = []
    var reports: [ReportRow] = []
    var blobReferences: [BlobReference] = []
    var pushes: [Push] = []
    /// The conversations of which more than the counters changed.
    var wholeRows: Set<ConversationKey> = []
    var newRows: Set<ConversationKey> = []
    /// The conversations that got events, and the first seq of each.
    var touched: [(conversation: ConversationKey, first: Int64)] = []
    /// The messages of others that were hidden from single members by this batch.
    var hidden: [HiddenMessage] = []

    struct HiddenMessage {
        let address: AnnotationAddress
        let n: Int64
    }

    package init(facts: consuming Facts, at time: Int64, rules: ChatRules = ChatRules()) {
        self.facts = facts
        self.time = time
        self.rules = rules
    }

    /// Decides one command.
    package mutating func decide(_ command: Command) -> Decision {
        do throws(ChatError) {
            switch command.action {
            case .send(let send): return try self.send(send, by: command)
            case .mark(let mark): return .accepted(try self.mark(mark, by: command.actor))
            }
        } catch {
            return .refused(error)
        }
    }

    /// Ends the batch.
    package consuming func finish() -> DecidedBatch {
        var changes = Changes()
        changes.targets = self.facts.events.changed
        changes.members = self.facts.members.changed
        changes.annotations = self.facts.annotations.changed
        changes.requests = self.facts.requests.changed
        changes.accounts = self.facts.accounts.changed
        changes.contacts = self.facts.contacts.changed
        changes.links = self.facts.links.changed
        let wholeRows = self.wholeRows
        let newRows = self.newRows
        changes.conversations = self.facts.conversations.changed.map { row in
            let isNew = newRows.contains(row.key)
            return ConversationChange(
                key: row.key, counters: row.counters, row: isNew || wholeRows.contains(row.key) ? row : nil, isNew: isNew)
        }
        var pushes: [Push] = []
        pushes.reserveCapacity(self.touched.count + self.pushes.count)
        for (conversation, first) in self.touched {
            let last = self.facts.conversations[conversation]?.counters.lastSeq ?? first
            pushes.append(.events(conversation, first: first, last: last))
        }
        pushes += self.pushes
        changes.events = self.events
        changes.blanks = self.blanks
        changes.reports = self.reports
        changes.blobReferences = self.blobReferences
        return DecidedBatch(changes: changes, pushes: pushes, hidden: self.hidden.map(\.address))
    }
}

extension BatchDecider {
    /// Appends an event to the log of a conversation that exists, and returns its ack.
    ///
    /// - Parameter isMessage: Whether the event takes an ordinal.
    mutating func append(
        _ kind: EventKind, to conversation: ConversationKey, by sender: UserKey, request: RequestIdentity?, isMessage: Bool = false,
        movesUp: Bool = false, ref: Int64 = 0, body: String = "", configure: (inout EventRow) -> Void = { _ in }
    ) -> StoredAnswer {
        let time = self.time
        var counters = ConversationCounters()
        self.facts.conversations.modify(conversation) { row in
            row.counters.lastSeq += 1
            if isMessage { row.counters.lastN += 1 }
            if isMessage || movesUp {
                row.counters.lastAt = time
                row.counters.previewSeq = row.counters.lastSeq
            }
            counters = row.counters
        }
        let n = isMessage ? counters.lastN : 0
        var event = EventRow(
            conversation: conversation, seq: counters.lastSeq, n: n, sender: sender, clientID: isMessage ? request?.id : nil,
            hash: isMessage ? request?.hash : nil, at: time, kind: kind, ref: ref, body: body)
        configure(&event)
        self.events.append(event)
        self.noteTouch(conversation, seq: counters.lastSeq)
        return StoredAnswer(conversation: conversation, seq: counters.lastSeq, n: n, at: time)
    }

    /// Returns a member that is joined, with the conversation known to exist.
    ///
    /// - Throws: `not_found` for all other users, so that an outsider does not learn whether the
    ///   conversation exists.
    func joined(_ user: UserKey, in conversation: ConversationKey) throws(ChatError) -> MemberRow {
        guard let member = self.facts.members[MemberAddress(conversation, user)], member.state == .joined,
            self.facts.conversations[conversation] != nil
        else { throw .noConversation }
        return member
    }

    private mutating func noteTouch(_ conversation: ConversationKey, seq: Int64) {
        // The events of one conversation are mostly together: the sequencer groups them.
        if let last = self.touched.last, last.conversation == conversation { return }
        if self.events.count > 1, self.touched.contains(where: { $0.conversation == conversation }) { return }
        self.touched.append((conversation, seq))
    }
}

extension ChatError {
    static let noConversation = ChatError(.notFound, message: "There is no such conversation.")
    static let noMessage = ChatError(.notFound, message: "There is no such message.")
    static let reusedID = ChatError(.conflict, message: "Another request has this id. Use a new id for a new request.", field: "id")
}
