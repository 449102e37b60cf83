import ApusChatProtocol
import ApusChatStorage

/// An action of a user in a conversation.
enum Deed {
    case send, mentionAll, mark, editOwn, removePreview, recallOwn, call, joinCall, leaveCall, recallOthers, hide, react, vote, closePoll,
        pin, manage, setExpiry
    case invite, transfer, accept, leave, personalize
}

extension Oracle {
    /// Returns the conversation and the state of the user in it. Throws a refusal if the action is
    /// not permitted: `not_found` for a user to whom the conversation must not be revealed.
    func permit(_ deed: Deed, _ user: UserKey, _ key: ConversationKey, at time: Int64) throws(Refusal) -> (Book, Person) {
        guard let book = self.books[key], let person = book.people[user] else { throw Refusal(.notFound) }
        guard self.allows(deed, person, in: book, at: time) else {
            throw Refusal(person.state == .requested || person.isBanned(at: time) ? .notFound : .forbidden)
        }
        switch deed {
        case .send, .mentionAll, .editOwn, .react, .vote, .pin, .invite, .call, .joinCall:
            if person.silencedUntil > time { throw Refusal(.forbidden) }
        default: break
        }
        return (book, person)
    }

    /// Returns whether a user may perform an action. Does not consider silencing.
    ///
    /// - Parameter time: The time at which a ban is evaluated, in milliseconds since 1970.
    func allows(_ deed: Deed, _ person: Person, in book: Book, at time: Int64 = 0) -> Bool {
        switch person.state {
        case .joined: break
        case .invited: return deed == .accept || deed == .leave
        case .requested: return deed == .leave
        case .left, .removed: return deed == .personalize || deed == .leave
        case .banned: return !person.isBanned(at: time) && (deed == .personalize || deed == .leave)
        default: return false
        }
        if book.isPlain {
            switch deed {
            case .mentionAll, .recallOthers, .manage, .invite, .transfer, .accept: return false
            case .leave, .call, .joinCall, .leaveCall: return book.kind == .pair
            default: return true
            }
        }
        let isStaff = person.role == .owner || person.role == .admin
        let isMember = person.role == .member
        switch deed {
        case .mark, .hide, .react, .vote, .leaveCall, .personalize, .leave: return true
        case .editOwn, .removePreview, .recallOwn, .closePoll: return person.role != .reader
        case .call: return isStaff || isMember && book.settings.write == .members
        case .joinCall: return isStaff || isMember
        case .send: return isStaff || (isMember || person.role == .guest) && book.settings.write == .members
        case .mentionAll: return isStaff || isMember && book.settings.mentionAll == .members
        case .pin: return isStaff || isMember && book.settings.pin == .members
        case .invite: return isStaff || isMember && book.settings.invite == .members
        case .recallOthers, .manage, .setExpiry: return isStaff
        case .transfer: return person.role == .owner
        case .accept: return false
        }
    }

    static func rank(_ role: MemberRole) -> Int {
        switch role {
        case .owner: 4
        case .admin: 3
        case .member: 2
        case .reader: 1
        default: 0
        }
    }
}
