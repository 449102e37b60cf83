import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// A random script of batches leaves SQLite and memory in the same state. The test compares all
/// reads.
@Suite struct RandomScriptTests {
    @Test(arguments: 1...6 as ClosedRange<UInt64>) func allStoragesAgree(_ seed: UInt64) throws {
        let folder = try TemporaryFolder()
        var environment = SQLiteEnvironment()
        environment.hotRows = seed % 2 == 0 ? 3 : 100_000  // with and without rows that were dropped
        environment.syncsCommits = false
        environment.recentPlaces = [1, 2, 7, 20, 50, 600][Int(seed - 1)]
        let memory = MemoryStorage()
        let disk = try folder.open(environment)
        var script = RandomScript(seed: seed)
        var positions: [(SyncPosition, SyncPosition)] = []
        for step in 0..<150 {
            if step % 20 == 0 { positions.append((memory.position(), try disk.position())) }
            let facts = try memory.begin(script.needs)
            _ = try disk.begin(script.needs)
            let changes = script.next(facts)
            _ = try memory.commit(changes)
            _ = try disk.commit(changes)
        }
        try self.compare(memory, disk, script, positions)
    }

    private func compare(
        _ memory: MemoryStorage, _ disk: SQLiteStorage, _ script: RandomScript, _ positions: [(SyncPosition, SyncPosition)]
    ) throws {
        for user in script.users {
            #expect(try disk.heads(of: user, after: nil, limit: 100) == memory.heads(of: user, after: nil, limit: 100))
            #expect(try disk.conversations(of: user) == memory.conversations(of: user))
            #expect(try disk.badge(of: user, at: 5) == memory.badge(of: user, at: 5))
            #expect(try disk.memberships(of: user, after: nil, limit: 99) == memory.memberships(of: user, after: nil, limit: 99))
            for (ours, theirs) in positions {
                let expected = memory.changes(of: user, after: ours, cursor: nil, limit: 100)
                #expect(try disk.changes(of: user, after: theirs, cursor: nil, limit: 100) == expected)
            }
            for key in script.conversations {
                for selection in [
                    EventSelection.from(1), .through(.max), .pinned, .thread(1, from: 0), .threadEnd(1, through: .max), .edits(of: 2),
                ] {
                    let expected = memory.events(in: key, selection, as: user, limit: 500)
                    #expect(try disk.events(in: key, selection, as: user, limit: 500) == expected, "\(key) \(selection) of \(user)")
                }
            }
        }
        for key in script.conversations {
            for user in script.users {
                for changes in [false, true] {
                    let expected = memory.events(of: key, by: user, after: 3, changes: changes, limit: 20)
                    #expect(try disk.events(of: key, by: user, after: 3, changes: changes, limit: 20) == expected)
                }
            }
            let all: MemberStates = [.joined, .invited, .requested, .banned]
            #expect(try disk.members(of: key, in: all, after: nil, limit: 99) == memory.members(of: key, in: all, after: nil, limit: 99))
            #expect(try disk.events(of: key, before: .max, limit: 999) == memory.events(of: key, before: .max, limit: 999))
        }
        #expect(try Set(disk.expired(at: .max, limit: 9_999)) == Set(memory.expired(at: .max, limit: 9_999)))
        let needs = script.allNeeds
        let (ours, theirs) = (try memory.begin(needs), try disk.begin(needs))
        for address in needs.members { #expect(ours.members[address] == theirs.members[address]) }
        for address in needs.events { #expect(ours.events[address] == theirs.events[address]) }
        for address in needs.annotations { #expect(ours.annotations[address] == theirs.annotations[address]) }
        for need in needs.skips { #expect(ours.skips[need] == theirs.skips[need], "\(need)") }
        for address in needs.unseen { #expect(ours.unseen[address] == theirs.unseen[address], "\(address)") }
        for key in needs.successors { #expect(ours.successors[key] == theirs.successors[key]) }
        for key in needs.conversations { #expect(ours.conversations[key] == theirs.conversations[key]) }
    }
}

/// Generates random batches from a seed.
struct RandomScript {
    let users = (1...5).map { UserKey(Int64($0)) }
    let conversations = [8, 3, 5].map { ConversationKey(Int64($0)) }
    private var state: UInt64
    private var time: Int64 = 1_000
    private var counters: [ConversationKey: ConversationCounters] = [:]

    init(seed: UInt64) { self.state = seed &* 0x9E37_79B9_7F4A_7C15 }

    /// A xorshift generator: the same numbers on every platform.
    private mutating func random(_ bound: Int) -> Int {
        self.state ^= self.state << 13
        self.state ^= self.state >> 7
        self.state ^= self.state << 17
        return Int(self.state % UInt64(bound))
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value { values[self.random(values.count)] }

    /// The reads of each batch.
    var needs: Needs {
        var needs = Needs()
        needs.conversations = self.conversations
        needs.members = self.conversations.flatMap { key in self.users.map { MemberAddress(key, $0) } }
        needs.events = self.conversations.flatMap { key in
            let last = self.counters[key]?.lastSeq ?? 0
            return (max(1, last - 12)...max(1, last)).map { EventAddress(key, $0) }
        }
        needs.annotations = needs.events.flatMap { event in self.users.map { AnnotationAddress(event, $0) } }
        return needs
    }

    /// The reads of all rows.
    var allNeeds: Needs {
        var needs = self.needs
        needs.events = self.conversations.flatMap { key in
            (1...max(1, self.counters[key]?.lastSeq ?? 0)).map { EventAddress(key, $0) }
        }
        needs.annotations = needs.events.flatMap { event in self.users.map { AnnotationAddress(event, $0) } }
        needs.skips = needs.members.flatMap { member in
            [0, 5, 50].map { SkipNeed(member: member, above: max(0, (self.counters[member.conversation]?.lastN ?? 0) - $0)) }
        }
        needs.successors = self.conversations
        needs.unseen = needs.events
        return needs
    }

    mutating func next(_ facts: Facts) -> Changes {
        var changes = Changes()
        self.time += 1
        let key = self.pick(self.conversations)
        guard facts.conversations[key] != nil else {
            self.create(key, &changes)
            return changes
        }
        for _ in 0...self.random(3) { self.change(key, facts, &changes) }
        if self.random(40) == 0 { self.counters[key]?.isDeleted.toggle() }
        if let counters = self.counters[key] { changes.conversations = [ConversationChange(key: key, counters: counters)] }
        return changes
    }

    private mutating func create(_ key: ConversationKey, _ changes: inout Changes) {
        let row = ConversationRow(key: key, kind: .group, createdAt: self.time, settings: ConversationSettings())
        self.counters[key] = row.counters
        changes.conversations = [ConversationChange(key: key, counters: row.counters, row: row, isNew: true)]
        changes.members = self.users.prefix(4).map { MemberRow(address: MemberAddress(key, $0), role: .member, state: .joined) }
    }

    private mutating func change(_ key: ConversationKey, _ facts: Facts, _ changes: inout Changes) {
        let user = self.pick(self.users)
        let last = self.counters[key]?.lastSeq ?? 0
        let target = facts.events[EventAddress(key, max(1, last - Int64(self.random(12))))]
        switch self.random(10) {
        case 0...3: self.send(key, by: user, &changes)
        case 4: self.append(key, by: user, .edit, ref: target?.seq ?? 0, &changes)
        case 5:
            guard var event = target, !changes.targets.contains(where: { $0.seq == event.seq }) else { return }
            if event.isMessage, !event.state.isBlank {
                event.isPinned = self.random(2) == 0
                event.reactions = [ReactionCount(key: "+", count: Int64(self.random(9)) + 1)]
                (event.state, event.editedAt) = (.edited, self.time)
                changes.targets.append(event)
            }
        case 6:
            guard let event = target, event.isMessage, !changes.targets.contains(where: { $0.seq == event.seq }) else { return }
            changes.blanks.append(EventBlank(address: event.address, state: self.pick([.recalled, .expired, .erased])))
        case 7:
            guard let event = target, !changes.annotations.contains(where: { $0.address.event == event.address }) else { return }
            var row = AnnotationRow(address: AnnotationAddress(event.address, user), n: event.n)
            row.isHidden = self.random(2) == 0
            if self.random(2) == 0 { row.reactions = ["+"] }
            changes.annotations.append(row)
        default:
            guard !changes.members.contains(where: { $0.address.user == user }) else { return }
            self.changeMember(user, of: key, facts, &changes)
        }
    }

    private mutating func changeMember(_ user: UserKey, of key: ConversationKey, _ facts: Facts, _ changes: inout Changes) {
        let address = MemberAddress(key, user)
        var row = facts.members[address] ?? MemberRow(address: address, role: .member, state: .joined)
        switch self.random(5) {
        case 0: row.readN = Int64(self.random(Int(self.counters[key]?.lastN ?? 0) + 1))
        case 1: row.pinnedAt = Int64(self.random(3))
        case 2: row.isGone.toggle()
        case 3:
            row.state = self.pick([.joined, .joined, .left, .removed, .invited, .requested, .banned])
            row.leftSeq = row.state == .joined ? 0 : (self.counters[key]?.lastSeq ?? 0)
            row.minSeq = 1 + Int64(self.random(3))
        default:
            row.role = self.pick([.admin, .member, .reader, .guest])
            row.bannedUntil = Int64(self.random(3))
        }
        changes.members.append(row)
    }

    private mutating func send(_ key: ConversationKey, by user: UserKey, _ changes: inout Changes) {
        self.append(key, by: user, .text, ref: 0, &changes)
        let index = changes.events.count - 1
        changes.events[index].clientID = ClientID("id-\(self.time)-\(index)")
        changes.events[index].hash = RequestHash(self.state, 1, 2, 3)
        changes.events[index].mentionsAll = self.random(8) == 0
        if self.random(4) == 0 { changes.events[index].mentions = [self.pick(self.users)] }
        if self.random(4) == 0 { changes.events[index].thread = 1 }
        if self.random(4) == 0 { changes.events[index].expiresAt = self.time + Int64(self.random(50)) }
    }

    private mutating func append(_ key: ConversationKey, by user: UserKey, _ kind: EventKind, ref: Int64, _ changes: inout Changes) {
        var counters = self.counters[key] ?? ConversationCounters()
        counters.lastSeq += 1
        if kind.isMessage {
            counters.lastN += 1
            counters.lastAt = self.time
            counters.previewSeq = counters.lastSeq
        }
        self.counters[key] = counters
        changes.events.append(
            EventRow(
                conversation: key, seq: counters.lastSeq, n: kind.isMessage ? counters.lastN : 0, sender: user, at: self.time, kind: kind,
                ref: ref, body: "{\"at\":\(self.time)}"))
    }
}
