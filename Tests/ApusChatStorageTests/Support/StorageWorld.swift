import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// The implementations of `ChatStorage`. The tests in `Suite` run with each of them.
enum StorageKind: String, CaseIterable, CustomTestStringConvertible {
    case memory, sqlite

    var testDescription: String { self.rawValue }
}

/// A storage with a few users, and helpers to write to it.
final class StorageWorld {
    let storage: any ChatStorage
    let folder: TemporaryFolder?
    let lock: ChatFolder?
    private var index: SearchIndex?
    let (ann, bob, eve) = (UserKey(11), UserKey(12), UserKey(13))
    /// The time of all rows.
    let now: Int64 = 1_700_000_000_000

    init(_ kind: StorageKind) throws {
        switch kind {
        case .memory:
            self.folder = nil
            self.lock = nil
            self.storage = MemoryStorage()
        case .sqlite:
            let folder = try TemporaryFolder()
            self.folder = folder
            var environment = SQLiteEnvironment()
            environment.syncsCommits = false
            // The logs of most tests span both tables of the index of ids.
            environment.recentPlaces = 6
            let lock = try ChatFolder(folder.path)
            self.lock = lock
            self.storage = try SQLiteStorage(lock, environment: environment)
        }
        for (key, name) in [(self.ann, "ann"), (self.bob, "bob"), (self.eve, "eve")] { try self.addAccount(key, name) }
    }

    @discardableResult
    func write(_ configure: (inout Changes) -> Void) throws -> Int64 {
        var changes = Changes()
        configure(&changes)
        _ = try self.storage.begin(Needs())
        return try self.storage.commit(changes).commit
    }

    func facts(_ configure: (inout Needs) -> Void) throws -> Facts {
        var needs = Needs()
        configure(&needs)
        defer { self.storage.abandon() }
        return try self.storage.begin(needs)
    }

    /// Adds an account with its self conversation, whose key is that of the user plus 1,000.
    func addAccount(_ key: UserKey, _ name: String, nickname: String = "", configure: (inout AccountRow) -> Void = { _ in }) throws {
        let own = ConversationKey(key.rawValue + 1_000)
        var account = AccountRow(key: key, name: UserName(prepared: name), nickname: nickname, selfConversation: own)
        configure(&account)
        try self.write { changes in
            changes.accounts = [account]
            changes.conversations = [self.new(own, .own)]
            changes.members = [MemberRow(address: MemberAddress(own, key), role: .owner, state: .joined)]
        }
    }

    func new(_ key: ConversationKey, _ kind: ConversationKind, configure: (inout ConversationRow) -> Void = { _ in }) -> ConversationChange
    {
        var row = ConversationRow(key: key, kind: kind, createdAt: self.now, settings: ConversationSettings())
        configure(&row)
        return ConversationChange(key: key, counters: row.counters, row: row, isNew: true)
    }

    /// Adds a group of which the first user is the owner.
    @discardableResult
    func group(_ key: Int64, _ users: UserKey..., configure: (inout ConversationRow) -> Void = { _ in }) throws -> ConversationKey {
        let group = ConversationKey(key)
        try self.write { changes in
            changes.conversations = [
                self.new(group, .group) { row in
                    row.counters.memberCount = users.count
                    configure(&row)
                }
            ]
            changes.members = users.enumerated().map { index, user in
                MemberRow(address: MemberAddress(group, user), role: index == 0 ? .owner : .member, state: .joined)
            }
        }
        return group
    }

    /// Returns the current counters of a conversation; zeros if it does not exist.
    func counters(_ key: ConversationKey) throws -> ConversationCounters {
        try self.facts { $0.conversations = [key] }.conversations[key]?.counters ?? ConversationCounters()
    }

    /// Appends events: messages, or changes if they have a `ref`.
    @discardableResult
    func append(
        _ count: Int = 1, to key: ConversationKey, by sender: UserKey, kind: EventKind = .text, ref: Int64 = 0,
        configure: (inout EventRow, inout Changes) -> Void = { _, _ in }
    ) throws -> Int64 {
        var counters = try self.counters(key)
        try self.write { changes in
            for _ in 0..<count {
                counters.lastSeq += 1
                if kind.isMessage { counters.lastN += 1 }
                counters.lastAt = self.now + counters.lastSeq
                if kind.isMessage { counters.previewSeq = counters.lastSeq }
                var event = EventRow(
                    conversation: key, seq: counters.lastSeq, n: kind.isMessage ? counters.lastN : 0, sender: sender,
                    at: self.now + counters.lastSeq, kind: kind, ref: ref, body: #"{"text":"\#(counters.lastSeq)"}"#)
                configure(&event, &changes)
                changes.events.append(event)
            }
            changes.conversations = [ConversationChange(key: key, counters: counters)]
        }
        return counters.lastSeq
    }

    func member(_ user: UserKey, _ key: ConversationKey) throws -> MemberRow {
        try self.facts { $0.members = [MemberAddress(key, user)] }.members[MemberAddress(key, user)]
            ?? MemberRow(address: MemberAddress(key, user), role: .member, state: .joined)
    }

    @discardableResult
    func modify(_ user: UserKey, _ key: ConversationKey, _ body: (inout MemberRow) -> Void) throws -> Int64 {
        var row = try self.member(user, key)
        body(&row)
        return try self.write { $0.members = [row] }
    }

    /// Changes the annotations of a user on an event.
    func annotate(_ user: UserKey, _ address: EventAddress, _ body: (inout AnnotationRow) -> Void) throws {
        let key = AnnotationAddress(address, user)
        let facts = try self.facts {
            $0.annotations = [key]
            $0.events = [address]
        }
        var row = facts.annotations[key] ?? AnnotationRow(address: key, n: facts.events[address]?.n ?? 0)
        body(&row)
        try self.write { $0.annotations = [row] }
    }

    func change(_ address: EventAddress, _ body: (inout EventRow) -> Void) throws {
        guard var event = try self.event(address) else { return }
        body(&event)
        try self.write { $0.targets = [event] }
    }

    func event(_ address: EventAddress) throws -> EventRow? { try self.facts { $0.events = [address] }.events[address] }

    /// Returns the seqs of the selected events, negated for hidden ones.
    func seqs(_ key: ConversationKey, _ selection: EventSelection, as user: UserKey, limit: Int = 100) throws -> [Int64] {
        try self.storage.events(in: key, selection, as: user, limit: limit).map { $0.row == nil ? -$0.seq : $0.seq }
    }

    /// Updates the search index, if the storage has one, and searches.
    func search(_ words: String, as user: UserKey, limit: Int = 100, configure: (inout SearchNeed) -> Void = { _ in }) throws -> SearchPage
    {
        var need = SearchNeed(words: SearchWords(words))
        configure(&need)
        guard let lock else { return try self.storage.search(need, as: user, limit: limit) }
        let index = try self.index ?? SearchIndex(lock)
        self.index = index
        while try index.update(at: 0) {}
        return try SQLiteReads(lock).search(need, as: user, limit: limit)
    }

    /// Closes the search index.
    func forgetIndex() { self.index = nil }

    /// Returns the seqs of the messages that a search finds.
    func found(_ words: String, as user: UserKey, configure: (inout SearchNeed) -> Void = { _ in }) throws -> [Int64] {
        try self.search(words, as: user, configure: configure).hits.map(\.view.seq)
    }

    func head(_ user: UserKey, _ key: ConversationKey) throws -> HeadRow? { try self.storage.head(of: user, in: key) }
}
