import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Invite links, and requests to join.
extension Oracle {
    func createLink(_ terms: LinkTerms, _ key: ConversationKey, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, _) = try self.permit(.manage, actor, key, at: time)
        guard self.links.values.filter({ $0.book === book && !$0.isRevoked }).count < 20 else { throw Refusal(.limit) }
        self.links[terms.code] = Link(
            book: book, role: terms.role, expiresAt: terms.expiresAt, limit: terms.uses, needsApproval: terms.needsApproval)
        return .unchanged
    }

    func revokeLink(_ code: String, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        guard let link = self.links[code], let person = link.book.people[actor], self.allows(.manage, person, in: link.book) else {
            throw Refusal(.notFound)
        }
        self.links[code]?.isRevoked = true
        return .unchanged
    }

    func join(byLink code: String, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        guard let link = self.links[code] else { throw Refusal(.notFound) }
        let book = link.book
        if let person = book.people[actor] {
            if person.state == .joined || person.state == .requested { return .unchanged }
            if person.isBanned(at: time) { throw Refusal(.notFound) }
        }
        guard !link.isRevoked, link.limit.map({ link.uses < $0 }) ?? true, link.expiresAt == 0 || link.expiresAt > time else {
            throw Refusal(.notFound)
        }
        self.links[code]?.uses += 1
        guard !link.needsApproval else {
            let person = book.people[actor] ?? Person(state: .requested, role: link.role)
            person.state = .requested
            person.role = link.role
            person.isGone = false
            book.people[actor] = person
            return .unchanged
        }
        let verdict = self.append(.memberJoin, to: book, by: actor, at: time)
        self.enter(actor, book, as: link.role)
        return verdict
    }

    func answerRequest(_ user: UserKey?, _ approves: Bool, _ key: ConversationKey, by actor: UserKey, at time: Int64) throws(Refusal)
        -> Verdict
    {
        let (book, _) = try self.permit(.manage, actor, key, at: time)
        guard let user, let person = book.people[user], person.state == .requested else { throw Refusal(.notFound) }
        guard approves else {
            self.withdraw(user, book)
            return .unchanged
        }
        let verdict = self.append(.memberJoin, to: book, by: user, at: time)
        self.enter(user, book, as: person.role)
        return verdict
    }
}
