import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

/// A storage in memory with users and conversations. Each call of `run` decides and commits one
/// batch.
final class World {
    let storage = MemoryStorage()
    var rules = ChatRules()
    /// The time in milliseconds since 1970, which only the tests advance.
    var now: Int64 = 1_700_000_000_000
    private(set) var pushes: [Push] = []
    /// The events that the pushes of the last batch hide from single members.
    private(set) var hidden: [AnnotationAddress] = []
    private(set) var nudged: Set<ConversationKey> = []
    private(set) var deleted: [ConversationKey] = []
    private(set) var calls: [CallChange] = []
    private(set) var mentioned: [ConversationKey: Set<UserKey>] = [:]
    private var lastKey: Int64 = 1_000
    private var lastID = 0

    /// Adds an account.
    func user(_ name: String) -> UserKey {
        let key = UserKey(self.nextKey())
        let row = AccountRow(key: key, name: UserName(prepared: name), nickname: name, selfConversation: ConversationKey(self.nextKey()))
        self.storage.addAccount(row, at: self.now)
        return key
    }

    /// Writes a conversation as an earlier version of the server may have left it.
    func conversation(
        _ kind: ConversationKind = .group, owner: UserKey, members: [UserKey] = [], configure: (inout ConversationRow) -> Void = { _ in }
    ) -> ConversationKey {
        let key = ConversationKey(self.nextKey())
        var row = ConversationRow(
            key: key, kind: kind, pair: kind == .pair ? members.first.map { PairAddress(owner, $0) } : nil, createdAt: self.now,
            settings: kind == .channel ? .channel : ConversationSettings())
        row.counters.memberCount = 1 + members.count
        configure(&row)
        var changes = Changes()
        changes.conversations = [ConversationChange(key: key, counters: row.counters, row: row, isNew: true)]
        changes.members = [MemberRow(address: MemberAddress(key, owner), role: kind == .pair ? .member : .owner, state: .joined)]
        changes.members += members.map { MemberRow(address: MemberAddress(key, $0), role: .member, state: .joined) }
        self.write(changes)
        return key
    }

    func pair(_ one: UserKey, _ other: UserKey) -> ConversationKey { self.conversation(.pair, owner: one, members: [other]) }

    /// Changes the row of a member. Does nothing if there is no such row.
    func modify(_ user: UserKey, in conversation: ConversationKey, _ body: (inout MemberRow) -> Void) {
        guard var member = self.member(user, in: conversation) else { return }
        body(&member)
        var changes = Changes()
        changes.members = [member]
        self.write(changes)
    }

    func write(_ changes: Changes) {
        _ = try? self.storage.begin(Needs())
        _ = try? self.storage.commit(changes)
    }

    /// Decides and commits commands as one batch.
    @discardableResult
    func run(_ commands: [Command]) throws -> [Decision] {
        var needs = Needs()
        for command in commands { command.addNeeds(to: &needs) }
        var decider = BatchDecider(facts: try self.storage.begin(needs), at: self.now, rules: self.rules)
        let decisions = commands.map { decider.decide($0) }
        let batch = decider.finish()
        WireCheck.check(batch.changes.events)
        _ = try self.storage.commit(batch.changes)
        self.pushes = batch.pushes
        self.hidden = batch.hidden
        self.nudged = batch.nudged
        self.deleted = batch.deleted
        self.calls = batch.calls
        self.mentioned = batch.mentioned
        return decisions
    }

    @discardableResult
    func run(_ command: Command) throws -> Decision { try self.run([command])[0] }

    /// Returns a command of a user, with a new id if none is given. Commands with equal `id` and
    /// `hash` are retries.
    func command(_ actor: UserKey, _ action: Command.Action, id: String? = nil, hash: UInt64 = 1) -> Command {
        self.lastID += 1
        let text = id ?? "id-\(self.lastID)"
        let identity = ClientID(text).map { RequestIdentity(id: $0, hash: RequestHash(hash, 0, 0, 0)) }
        return Command(actor: actor, device: DeviceKey(actor.rawValue), request: identity, action: action)
    }

    func text(
        _ actor: UserKey, _ conversation: ConversationKey, _ text: String = "hello", id: String? = nil, hash: UInt64 = 1, ref: Int64 = 0,
        mentions: [UserKey] = [], all: Bool = false
    ) -> Command {
        let content = MessageContent(kind: .text, body: "{\"text\":\"\(text)\"}", mentions: mentions, mentionsAll: all)
        return self.command(actor, .send(SendCommand(conversation: conversation, content: .success(content), ref: ref)), id: id, hash: hash)
    }

    func read(_ actor: UserKey, _ conversation: ConversationKey, _ n: Int64) -> Command {
        Command(
            actor: actor, device: DeviceKey(actor.rawValue), request: nil, action: .mark(MarkCommand(conversation: conversation, read: n)))
    }

    /// Runs the maintenance of the server until nothing is due. Throws after 1,000 rounds.
    func maintain(pageLimit: Int = 2) throws {
        var maintenance = Maintenance(pageLimit: pageLimit)
        for _ in 0..<1_000 {
            let commands = try maintenance.next(self.storage, at: self.now) { row in
                SendCommand(
                    conversation: row.conversation, content: .success(MessageContent(kind: row.kind, body: row.body)), ref: row.ref,
                    thread: row.thread)
            }
            guard !commands.isEmpty else { return }
            try self.run(commands)
        }
        throw ChatError(.internal, message: "The maintenance does not end.")
    }

    func member(_ user: UserKey, in conversation: ConversationKey) -> MemberRow? {
        self.storage.head(of: user, in: conversation)?.member
    }

    func unread(_ user: UserKey, in conversation: ConversationKey) -> Int64? {
        self.storage.head(of: user, in: conversation)?.unread
    }

    func mentions(_ user: UserKey, in conversation: ConversationKey) -> Int64? {
        self.storage.head(of: user, in: conversation)?.mentions
    }

    /// The bodies of the messages that a user sees; `hidden` and blank ones by a word.
    func bodies(_ user: UserKey, in conversation: ConversationKey) -> [String] {
        self.storage.events(in: conversation, .from(1), as: user, limit: 1_000).filter { $0.n > 0 }.map { view in
            guard let row = view.row else { return "hidden" }
            return row.state.isBlank ? row.state.rawValue : row.body
        }
    }

    private func nextKey() -> Int64 {
        self.lastKey += 1
        return self.lastKey
    }
}

extension Decision {
    var answer: StoredAnswer? {
        switch self {
        case .accepted(let answer), .repeated(let answer): answer
        case .refused: nil
        }
    }

    var code: ChatError.Code? {
        if case .refused(let error) = self { error.code } else { nil }
    }
}
