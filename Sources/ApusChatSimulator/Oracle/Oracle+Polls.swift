import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Polls and their votes.
extension Oracle {
    func vote(_ address: EventAddress, _ options: [Int], by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, _) = try self.permit(.vote, actor, address.conversation, at: time)
        let entry = book.entries[try self.target(address.seq, of: actor, in: book)]
        guard let poll = entry.poll else { throw Refusal(.badRequest) }
        guard !poll.isClosed, poll.closesAt == 0 || poll.closesAt > time else { throw Refusal(.tooLate) }
        guard options.allSatisfy({ $0 >= 0 && $0 < poll.options }), poll.allowsMany || options.count <= 1 else {
            throw Refusal(.badRequest)
        }
        guard Set(options) != Set(poll.votes[actor] ?? []) else { return .unchanged }
        entry.poll?.votes[actor] = options.isEmpty ? nil : options
        entry.changedBy = book.lastSeq + 1
        let verdict = self.append(.vote, to: book, by: actor, at: time, ref: address.seq)
        book.entries.last?.totals = entry.poll?.totals ?? []
        return verdict
    }

    /// Ends a poll. The actor `UserKey(0)` is the server, which ends a poll at its end time.
    func closePoll(_ address: EventAddress, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        if actor == UserKey(0) {
            guard let book = self.books[address.conversation], let index = book.index(of: address.seq),
                let poll = book.entries[index].poll, !poll.isClosed, poll.closesAt > 0
            else { return .unchanged }
            return self.end(book.entries[index], in: book, by: book.entries[index].sender, at: time)
        }
        let (book, _) = try self.permit(.closePoll, actor, address.conversation, at: time)
        let entry = book.entries[try self.target(address.seq, of: actor, in: book)]
        guard let poll = entry.poll else { throw Refusal(.badRequest) }
        guard entry.sender == actor else { throw Refusal(.forbidden) }
        return poll.isClosed ? .unchanged : self.end(entry, in: book, by: actor, at: time)
    }

    private func end(_ entry: Entry, in book: Book, by sender: UserKey, at time: Int64) -> Verdict {
        entry.poll?.isClosed = true
        entry.changedBy = book.lastSeq + 1
        return self.append(.pollClose, to: book, by: sender, at: time, ref: entry.seq)
    }
}
