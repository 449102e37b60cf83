import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// Each read returns data of one state, also if the writer commits a batch between its statements.
@Suite struct ConcurrentReadTests {
    /// The reads with more than one statement.
    enum Read: String, CaseIterable {
        case heads, changes, head, events, pinned, members, membersNamed, reactions, oldEvents, eventsOfSender, userKeys, accounts, link,
            search, snapshot
    }

    private static let keys = [ConversationKey(1), ConversationKey(2)]
    private static let code = "k7Qm2ZtX9bVw4NsA"

    private let world: StorageWorld
    private let storage: SQLiteStorage
    private let index: SearchIndex
    private let reads: SQLiteReads

    init() throws {
        self.world = try StorageWorld(.sqlite)
        self.storage = try #require(self.world.storage as? SQLiteStorage)
        let lock = try #require(self.world.lock)
        self.index = try SearchIndex(lock)
        self.reads = try SQLiteReads(lock)
        for key in Self.keys + [ConversationKey(3)] {
            try self.world.group(key.rawValue, self.world.ann, self.world.bob, self.world.eve)
        }
        try self.world.append(to: ConversationKey(3), by: self.world.ann)
        for round in 1...2 as ClosedRange<Int64> { try self.commit(round) }
    }

    /// Commits a batch that changes the result of each read in several rows: it replaces the only
    /// visible message of two conversations, exchanges the states, the reactions and the places of
    /// two users or conversations, and adds two accounts.
    private func commit(_ round: Int64) throws {
        let (ann, bob, eve) = (self.world.ann, self.world.bob, self.world.eve)
        let isEven = round % 2 == 0
        var changes = Changes()
        for key in Self.keys {
            var row = ConversationRow(key: key, kind: .group, createdAt: 1, settings: ConversationSettings())
            (row.counters.lastSeq, row.counters.lastN, row.counters.previewSeq) = (round, round, round)
            row.counters.lastAt = 10 * round + (isEven == (key == Self.keys[0]) ? 1 : 0)
            (row.counters.membersVersion, row.profile.title) = (round, "title \(round)")
            changes.conversations.append(ConversationChange(key: key, counters: row.counters, row: row))
            var event = EventRow(
                conversation: key, seq: round, n: round, sender: bob, at: round, kind: .text, body: #"{"text":"word \#(round)"}"#,
                mentions: [ann])
            event.isPinned = true
            changes.events.append(event)
            if round > 1 { changes.blanks.append(EventBlank(address: EventAddress(key, round - 1), state: .expired)) }
            var annotation = AnnotationRow(address: AnnotationAddress(event.address, ann), n: round)
            annotation.reactions = ["\(round)"]
            changes.annotations.append(annotation)
            var member = MemberRow(address: MemberAddress(key, ann), role: .owner, state: .joined)
            (member.minSeq, member.readN) = (round, round - 1)
            changes.members.append(member)
            for (user, isJoined) in [(bob, isEven), (eve, !isEven)] {
                changes.members.append(MemberRow(address: MemberAddress(key, user), role: .member, state: isJoined ? .joined : .invited))
            }
        }
        for (user, reaction) in [(bob, isEven ? "even" : "odd"), (eve, isEven ? "odd" : "even")] {
            var annotation = AnnotationRow(address: AnnotationAddress(EventAddress(ConversationKey(3), 1), user), n: 1)
            annotation.reactions = [reaction]
            changes.annotations.append(annotation)
        }
        changes.accounts = [(bob, "bob", "nick \(round)"), (eve, "eve", "nick \(round)")].map { key, name, nickname in
            AccountRow(key: key, name: UserName(prepared: name), nickname: nickname, selfConversation: ConversationKey(3))
        }
        for (number, name) in Self.newNames(round).enumerated() {
            let key = UserKey(1_000 + 2 * round + Int64(number))
            changes.accounts.append(AccountRow(key: key, name: name, nickname: "", selfConversation: ConversationKey(3)))
        }
        var link = LinkRow(code: Self.code, conversation: Self.keys[0], creator: ann, createdAt: 1, role: .member)
        link.used = round
        changes.links = [link]
        _ = try self.storage.begin(Needs())
        _ = try self.storage.commit(changes)
        if round % 3 == 0 { try self.storage.connection.checkpoint() }
    }

    private static func newNames(_ round: Int64) -> [UserName] { ["a", "b"].map { UserName(prepared: "\($0)\(round)") } }

    /// Returns the result of a read as text.
    ///
    /// - Parameters:
    ///   - round: The batch that is committed during the read.
    ///   - position: A position before the last two batches.
    private func result(_ read: Read, _ round: Int64, since position: SyncPosition) throws -> String {
        let (reads, ann, key) = (self.reads, self.world.ann, Self.keys[0])
        switch read {
        case .heads: return "\(try reads.heads(of: ann, after: nil, limit: 9))"
        case .changes: return "\(try reads.changes(of: ann, after: position, cursor: nil, limit: 9))"
        case .head: return "\(String(describing: try reads.head(of: ann, in: key)))"
        case .events: return "\(try reads.events(in: key, .from(1), as: ann, limit: 9))"
        case .pinned: return "\(try reads.events(in: key, .pinned, as: ann, limit: 9))"
        case .members: return "\(try reads.members(of: key, in: [.joined, .invited], after: nil, limit: 9))"
        case .membersNamed: return "\(try reads.members(of: key, in: [.joined, .invited], containing: "nick", after: nil, limit: 9))"
        case .reactions:
            return "\(try reads.reactions(to: EventAddress(ConversationKey(3), 1), of: "even", after: nil, limit: 1).map(\.address.user))"
        case .oldEvents: return "\(try reads.events(of: key, before: .max, limit: 9))"
        case .eventsOfSender: return "\(try reads.events(of: key, by: self.world.bob, after: 0, changes: false, limit: 9))"
        case .userKeys: return "\(try reads.userKeys(named: Self.newNames(round)))"
        case .accounts: return "\(try reads.accounts([self.world.bob, self.world.eve]))"
        case .link: return "\(String(describing: try reads.link(Self.code)))"
        case .search: return "\(try reads.search(SearchNeed(words: SearchWords("word")), as: ann, limit: 9))"
        case .snapshot:
            return try reads.inSnapshot { "\(try reads.position()) \(try reads.accounts(after: UserKey(1_000), limit: 1_000).count)" }
        }
    }

    /// A batch is committed before the first statement of a read, then before the second one, and
    /// so on. Each third batch is followed by a checkpoint.
    @Test(arguments: Read.allCases) func aReadReturnsOneState(_ read: Read) throws {
        var round: Int64 = 2
        var statement = 0
        var isInterrupted = true
        while isInterrupted {
            statement += 1
            isInterrupted = false
            // The states of two batches alternate.
            for _ in 0..<2 {
                while try self.index.update(at: 0) {}
                let position = try self.reads.position()
                let since = SyncPosition(epoch: position.epoch, position: "\((Int64(position.position) ?? 0) - 2)")
                round += 1
                let before = try self.result(read, round, since: since)
                var count = 0
                var outcome: Result<Void, any Error>?
                let batch = round
                let hook = StatementHook(self.reads.connection) {
                    count += 1
                    if count == statement { outcome = Result { try self.commit(batch) } }
                }
                let found = try withExtendedLifetime(hook) { try self.result(read, round, since: since) }
                if let outcome { try outcome.get() } else { try self.commit(round) }
                isInterrupted = isInterrupted || outcome != nil
                let after = try self.result(read, round, since: since)
                #expect(before != after)
                #expect(found == before || found == after, "a batch before statement \(statement)")
            }
        }
        #expect(statement > 4, "BEGIN, two reads, and COMMIT")
    }
}
