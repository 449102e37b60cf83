import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON

@testable import ApusChatSimulator

/// An oracle with four users, a group of ann (owner), bob and cid, and a pair of ann and bob. The
/// user dan is not in any of them.
final class OracleWorld {
    let ann = UserKey(1)
    let bob = UserKey(2)
    let cid = UserKey(3)
    let dan = UserKey(4)
    let group = ConversationKey(10)
    let pair = ConversationKey(11)
    let oracle: Oracle
    /// The time of the next command.
    var time: Int64 = 1_000_000_000
    private var requests = 0

    init(_ settings: ConversationSettings = ConversationSettings(), kind: ConversationKind = .group) {
        let users = [self.ann, self.bob, self.cid, self.dan]
        self.oracle = Oracle(
            own: Dictionary(uniqueKeysWithValues: users.map { ($0, ConversationKey($0.rawValue)) }),
            names: ["ann", "bob", "cid", "dan"].map { UserName(prepared: $0) }, rules: ChatRules())
        let group = Book(key: self.group, kind: kind, settings: settings)
        group.people = [
            self.ann: Person(state: .joined, role: .owner), self.bob: Person(state: .joined, role: .member),
            self.cid: Person(state: .joined, role: .member),
        ]
        let pair = Book(key: self.pair, kind: .pair, settings: ConversationSettings())
        pair.people = [self.ann: Person(state: .joined, role: .member), self.bob: Person(state: .joined, role: .member)]
        self.oracle.books[self.group] = group
        self.oracle.books[self.pair] = pair
    }

    func book(_ key: ConversationKey? = nil) -> Book {
        guard let book = self.oracle.books[key ?? self.group] else { fatalError("no such conversation") }
        return book
    }

    func person(_ user: UserKey, _ key: ConversationKey? = nil) -> Person {
        guard let person = self.book(key).people[user] else { fatalError("the user is not in the conversation") }
        return person
    }

    /// Judges a command of a user.
    ///
    /// - Parameter id: The id of the request; a new one by default.
    @discardableResult
    func judge(_ action: Command.Action, by user: UserKey, id: String? = nil, hash: UInt64 = 1) -> Verdict {
        self.requests += 1
        let id = id ?? "r\(self.requests)"
        let request = ClientID(id).map { RequestIdentity(id: $0, hash: RequestHash(hash, 0, 0, 0)) }
        return self.oracle.judge(Command(actor: user, device: DeviceKey(user.rawValue), request: request, action: action), at: self.time)
    }

    @discardableResult
    func send(
        _ text: String, by user: UserKey, in key: ConversationKey? = nil, ref: Int64 = 0, thread: Int64 = 0, mentions: [UserKey] = [],
        mentionsAll: Bool = false, id: String? = nil, hash: UInt64 = 1
    ) -> Verdict {
        let content = MessageContent(kind: .text, body: Body.json(text), mentions: mentions, mentionsAll: mentionsAll)
        let send = SendCommand(conversation: key ?? self.group, content: .success(content), ref: ref, thread: thread)
        return self.judge(.send(send), by: user, id: id, hash: hash)
    }

    @discardableResult
    func poll(_ question: String, options: Int, many: Bool = false, closesAt: Int64 = 0, by user: UserKey) -> Verdict {
        var content = MessageContent(
            kind: .poll, body: Body.poll(question, options: options), options: options, allowsManyVotes: many)
        content.closesAt = closesAt
        return self.judge(.send(SendCommand(conversation: self.group, content: .success(content))), by: user)
    }

    func at(_ seq: Int64, _ key: ConversationKey? = nil) -> EventAddress { EventAddress(key ?? self.group, seq) }

    func text(_ text: String) -> Result<MessageContent, ChatError> { .success(MessageContent(kind: .text, body: Body.json(text))) }

    /// Returns an event of the group, as a correct server sends it.
    func event(
        _ seq: Int64, _ kind: EventKind, by sender: String, n: Int64? = nil, id: String? = nil, ref: Int64? = nil,
        state: EventState = .normal, _ body: JSONObject = [:], in key: ConversationKey? = nil
    ) -> ChatEvent {
        ChatEvent(
            conversation: ConversationID(number: (key ?? self.group).rawValue), seq: seq, n: n, sender: UserName(prepared: sender),
            id: id.flatMap { ClientID($0) }, at: 1, kind: kind, ref: ref, state: state, body: body)
    }

    /// Returns the fault that the oracle finds in an event for a user.
    func fault(_ event: ChatEvent, to user: UserKey, in key: ConversationKey? = nil) -> String? {
        self.oracle.fault(of: event, in: self.book(key), to: self.person(user, key), user)
    }
}
