import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

/// An implementation of the rules of docs/chat-model.md that uses only simple collections and
/// scans. The oracle receives each committed command in the order of the log. It shares the command
/// types with the cores, but none of their decisions.
final class Oracle {
    var books: [ConversationKey: Book] = [:]
    var ties: [ContactAddress: Tie] = [:]
    /// The self conversation of each user.
    let own: [UserKey: ConversationKey]
    /// The names of the users, in the order of their keys. The keys begin with 1.
    private let names: [UserName]
    private var answers: [RequestAddress: (hash: RequestHash, verdict: Verdict, at: Int64)] = [:]
    let rules: ChatRules
    /// For each user, the last day on which the user sent an invitation or a contact request, and
    /// their number on that day.
    private var invitations: [UserKey: (day: Int64, count: Int)] = [:]
    var links: [String: Link] = [:]
    var plans: [ScheduledAddress: Plan] = [:]
    /// The users whose accounts were deleted.
    var deleted: Set<UserKey> = []
    /// For each call, the devices that have reported their participation since the start of the
    /// server, with their users.
    var callers: [EventAddress: [DeviceKey: UserKey]] = [:]
    /// The devices with a connection to the server.
    var connectedDevices: Set<DeviceKey> = []
    /// For each call, the devices that have disconnected since they reported their participation,
    /// or that were not connected when the report took effect.
    var absentCallers: [EventAddress: Set<DeviceKey>] = [:]
    /// All texts that were added to logs. The simulated users never send a text twice.
    private var texts: Set<String> = []
    /// The violations of invariants that are independent of the rules.
    var faults: [String] = []

    init(own: [UserKey: ConversationKey], names: [UserName], rules: ChatRules) {
        self.own = own
        self.names = names
        self.rules = rules
        for (user, key) in own {
            let book = Book(key: key, kind: .own, settings: ConversationSettings())
            book.people[user] = Person(state: .joined, role: .owner)
            self.books[key] = book
        }
    }

    func name(of user: UserKey) -> UserName? {
        let index = Int(user.rawValue) - 1
        return self.names.indices.contains(index) ? self.names[index] : nil
    }

    func user(named name: String) -> UserKey? {
        self.names.firstIndex { $0.rawValue == name }.map { UserKey(Int64($0) + 1) }
    }

    /// Applies a command. Returns the expected decision.
    func judge(_ command: Command, at time: Int64) -> Verdict {
        if command.request != nil, self.deleted.contains(command.actor) { return .refused(.unauthorized) }
        do throws(Refusal) {
            switch command.action {
            case .send(let send): return try self.send(send, command, at: time)
            case .mark(let mark): return try self.mark(mark, by: command.actor, at: time)
            case .sendScheduled(let address, _): return self.sendScheduled(address, command, at: time)
            default: break
            }
            guard let request = command.request else { return try self.perform(command, at: time) }
            let address = RequestAddress(command.actor, request.id)
            if let earlier = self.answers[address], time - earlier.at < self.rules.answerMilliseconds {
                return earlier.hash == request.hash ? earlier.verdict.again : .refused(.conflict)
            }
            let verdict = try self.perform(command, at: time)
            self.answers[address] = (request.hash, verdict, time)
            return verdict
        } catch {
            return .refused(error.code)
        }
    }

    private func perform(_ command: Command, at time: Int64) throws(Refusal) -> Verdict {
        let actor = command.actor
        switch command.action {
        case .edit(let target, let content): return try self.edit(target, content, by: actor, at: time)
        case .recall(let target): return try self.recall(target, by: actor, at: time)
        case .react(let target, let key, let isOn): return try self.react(target, key, isOn, by: actor, at: time)
        case .pin(let target, let isOn): return try self.pin(target, isOn, by: actor, at: time)
        case .vote(let target, let options): return try self.vote(target, options, by: actor, at: time)
        case .closePoll(let target): return try self.closePoll(target, by: actor, at: time)
        case .setPreview(let preview): return self.setPreview(preview, at: time)
        case .removePreview(let target): return try self.removePreview(target, by: actor, at: time)
        case .forward(let key, let contents, _): return try self.forward(contents, to: key, by: actor, at: time)
        case .startCall(let key, _, _): return try self.startCall(in: key, command, at: time)
        case .updateCall(let call, let state): return try self.updateCall(call, state, command, at: time)
        case .finishErasure(let user): return self.finishErasure(of: user)
        case .schedule(let schedule): return try self.schedule(schedule, command, at: time)
        case .unschedule(let id):
            guard self.plans.removeValue(forKey: ScheduledAddress(actor, id)) != nil else { throw Refusal(.notFound) }
            return .unchanged
        case .hide(let key, let seqs): return try self.hide(seqs, key, by: actor, at: time)
        case .openPair(let peer, let new): return try self.openPair(peer, new, by: actor, at: time)
        case .create(let create): return try self.create(create, by: actor, at: time)
        case .set(let key, let update): return try self.set(key, update, by: actor, at: time)
        case .invite(let key, let users): return try self.invite(users, key, by: actor, at: time)
        case .answerInvitation(let key, let accepts): return try self.answerInvitation(key, accepts, by: actor, at: time)
        case .leave(let key, let forgets): return try self.leave(key, forgets, by: actor, at: time)
        case .remove(let key, let users): return try self.remove(users, key, by: actor, at: time)
        case .ban(let key, let users, let isOn, let until): return try self.ban(users, isOn, until, key, by: actor, at: time)
        case .silence(let key, let users, let until): return try self.silence(users, until, key, by: actor, at: time)
        case .setRole(let key, let users, let role): return try self.setRole(users, role, key, by: actor, at: time)
        case .transfer(let key, let user): return try self.transfer(key, to: user, by: actor, at: time)
        case .createLink(let key, let terms): return try self.createLink(terms, key, by: actor, at: time)
        case .revokeLink(let code): return try self.revokeLink(code, by: actor, at: time)
        case .joinByLink(let code): return try self.join(byLink: code, by: actor, at: time)
        case .answerRequest(let key, let user, let approves): return try self.answerRequest(user, approves, key, by: actor, at: time)
        case .personalize(let key, let change): return try self.personalize(key, change, by: actor, at: time)
        case .contact(let peer, let change): return try self.contact(peer, change, by: actor, at: time)
        case .blank(let targets, let state):
            for target in targets { self.blank(target, state) }
            return .unchanged
        default: throw Refusal(.unsupported)
        }
    }

    /// Throws a refusal if a user exceeds 50 invitations a day.
    func checkInvitations(of user: UserKey, _ count: Int, at time: Int64) throws(Refusal) {
        let today = self.invitations[user].map { $0.day == time / 86_400_000 ? $0.count : 0 } ?? 0
        if count > 0, today + count > 50 { throw Refusal(.tooMany) }
    }

    func countInvitations(of user: UserKey, _ count: Int, at time: Int64) {
        let day = time / 86_400_000
        let today = self.invitations[user].map { $0.day == day ? $0.count : 0 } ?? 0
        self.invitations[user] = (day, today + count)
    }

    /// Adds an entry. In a pair, entries of a blocked user are hidden from the other user, and a
    /// message restores the conversation to the list of the other user.
    @discardableResult
    func append(
        _ kind: EventKind.Code, to book: Book, by sender: UserKey, at time: Int64, isMessage: Bool = false, ref: Int64 = 0,
        text: String = "", isCopy: Bool = false
    ) -> Verdict {
        let seq = book.lastSeq + 1
        let entry = Entry(
            seq: seq, n: isMessage ? book.lastN + 1 : 0, sender: sender, kind: EventKind(kind), ref: ref, text: text, at: time)
        if isMessage, kind != .call, !isCopy, !self.texts.insert(text).inserted {
            self.faults.append("\(text) of user \(sender.rawValue) is in the log twice")
        }
        if isMessage, book.settings.expire > 0 { entry.expiresAt = time + book.settings.expire * 1_000 }
        if book.kind == .pair {
            if isMessage { book.people[sender]?.isGone = false }
            for (user, person) in book.people where user != sender {
                if person.blockSeq > 0 {
                    guard kind != .recall else { continue }
                    entry.blockedFrom.append(user)
                    if !isMessage, let target = book.index(of: ref) { book.entries[target].changedUnseenBy.append(user) }
                } else if isMessage {
                    book.people[user]?.isGone = false
                }
            }
        }
        book.entries.append(entry)
        return .accepted(seq: seq, n: entry.n)
    }

    @discardableResult
    func appendToOwn(_ kind: EventKind.Code, of user: UserKey, at time: Int64, text: String = "") -> Verdict {
        guard let key = self.own[user], let book = self.books[key] else { return .unchanged }
        return self.append(kind, to: book, by: user, at: time, text: text)
    }
}
