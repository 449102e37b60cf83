import ApusChatProtocol
import ApusChatStorage
import Testing

/// The reads of the maintenance: due scheduled messages, and the remains of deletions.
@Suite struct MaintenanceTests {
    @Test(arguments: StorageKind.allCases) func scheduledMessagesAreFoundWhenTheirTimeHasCome(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let rows = try [("b", 20), ("a", 30), ("c", 10)].map { id, time in
            var row = ScheduledRow(
                address: ScheduledAddress(world.ann, try #require(ClientID(id))), conversation: ConversationKey(1), kind: .text,
                body: #"{"text":"later 日本"}"#, sendAt: Int64(time), hash: RequestHash(1, 2, 3, .max))
            (row.ref, row.thread, row.isSilent) = (4, 5, true)
            return row
        }
        try world.write { $0.scheduled = rows }
        #expect(try world.storage.scheduled(of: world.ann, limit: 9) == [rows[2], rows[0], rows[1]])
        #expect(try world.storage.scheduled(of: world.ann, limit: 1) == [rows[2]])
        #expect(try world.storage.scheduled(of: world.bob, limit: 9) == [])
        #expect(try world.storage.dueScheduled(at: 20, limit: 9) == [rows[2], rows[0]])
        #expect(try world.storage.dueScheduled(at: 20, limit: 1) == [rows[2]])
        let other = ScheduledAddress(world.bob, rows[0].address.id)
        let facts = try world.facts {
            $0.scheduled = [rows[0].address, other]
            $0.scheduledCounts = [world.ann, world.bob]
        }
        #expect(facts.scheduled[rows[0].address] == rows[0] && facts.scheduled.isLoaded(other) && facts.scheduled[other] == nil)
        #expect(facts.scheduledCounts == [world.ann: 3, world.bob: 0])
        var refused = rows[2]
        refused.failure = "forbidden"
        try world.write {
            $0.scheduled = [refused]
            $0.unscheduled = [rows[0].address]
        }
        #expect(try world.storage.dueScheduled(at: 20, limit: 9) == [])
        #expect(try world.storage.scheduled(of: world.ann, limit: 9) == [refused, rows[1]])
    }

    /// Messages of one time are sent in the order of their users and ids, with each storage.
    @Test(arguments: StorageKind.allCases) func scheduledMessagesOfOneTimeHaveAnOrder(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let rows = try [(world.ann, "d"), (world.eve, "a"), (world.bob, "c"), (world.ann, "b"), (world.eve, "c")].map { user, id in
            ScheduledRow(
                address: ScheduledAddress(user, try #require(ClientID(id))), conversation: ConversationKey(1), kind: .text, body: "{}",
                sendAt: 10, hash: RequestHash(1, 0, 0, 0))
        }
        try world.write { $0.scheduled = rows }
        let expected = [3, 0, 2, 1, 4].map { rows[$0] }
        for limit in 1...6 { #expect(try world.storage.dueScheduled(at: 10, limit: limit) == Array(expected.prefix(limit)), "\(limit)") }
        #expect(try world.storage.scheduled(of: world.ann, limit: 9) == [rows[3], rows[0]])
    }

    /// An id belongs to its user. The removal of another user's id, or of a missing one, has no
    /// effect.
    @Test(arguments: StorageKind.allCases) func aScheduledMessageIsRemovedByItsUserOnly(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let id = try #require(ClientID("a"))
        let rows = [world.ann, world.bob].map { user in
            ScheduledRow(
                address: ScheduledAddress(user, id), conversation: ConversationKey(1), kind: .text, body: "{}", sendAt: 10,
                hash: RequestHash(1, 0, 0, 0))
        }
        try world.write { $0.scheduled = rows }
        let other = try #require(ClientID("b"))
        try world.write { $0.unscheduled = [ScheduledAddress(world.eve, id), ScheduledAddress(world.ann, other)] }
        #expect(try world.storage.dueScheduled(at: 10, limit: 9).count == 2)
        for _ in 0..<2 {
            try world.write { $0.unscheduled = [rows[0].address] }
            #expect(try world.storage.scheduled(of: world.ann, limit: 9) == [])
            #expect(try world.storage.scheduled(of: world.bob, limit: 9) == [rows[1]])
        }
        let facts = try world.facts { $0.scheduledCounts = [world.ann, world.bob] }
        #expect(facts.scheduledCounts == [world.ann: 0, world.bob: 1])
        // The id can be used again.
        try world.write { $0.scheduled = [rows[0]] }
        #expect(try world.storage.scheduled(of: world.ann, limit: 9) == [rows[0]])
    }

    @Test(arguments: StorageKind.allCases) func conversationsWithACallAreFound(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let groups = try (1...3 as ClosedRange<Int64>).map { try world.group($0, world.ann, world.bob) }
        for group in groups { try world.append(2, to: group, by: world.ann) }
        #expect(try world.storage.calls(limit: 9) == [])
        for group in groups.dropFirst() {
            var counters = try world.counters(group)
            counters.callSeq = 2
            try world.write { $0.conversations = [ConversationChange(key: group, counters: counters)] }
        }
        let calls = groups.dropFirst().map { EventAddress($0, 2) }
        #expect(Set(try world.storage.calls(limit: 9)) == Set(calls))
        #expect(try world.storage.calls(limit: 1).count == 1)
        for group in groups {
            var counters = try world.counters(group)
            counters.callSeq = 0
            try world.write { $0.conversations = [ConversationChange(key: group, counters: counters)] }
        }
        #expect(try world.storage.calls(limit: 9) == [])
    }

    @Test(arguments: StorageKind.allCases) func aDeletedConversationIsRemovedForItsMembers(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(2, to: group, by: world.ann)
        let position = try world.storage.position()
        #expect(try world.storage.deletedConversations(limit: 9) == [])
        var counters = try world.counters(group)
        counters.isDeleted = true
        try world.write { $0.conversations = [ConversationChange(key: group, counters: counters)] }
        #expect(try world.counters(group).isDeleted)
        #expect(try world.storage.heads(of: world.bob, after: nil, limit: 9).heads.map(\.conversation.kind) == [.own])
        guard case .page(let changed, nil) = try world.storage.changes(of: world.bob, after: position, cursor: nil, limit: 9) else {
            Issue.record("one page expected")
            return
        }
        #expect(changed.map(\.conversation.key) == [group] && changed.first?.member.isGone == true)
        let head = try #require(try world.head(world.bob, group))
        #expect(head.member.isGone && head.unread == 0 && head.last == nil)
        #expect(try world.seqs(group, .from(1), as: world.bob) == [])
        #expect(try world.storage.conversations(of: world.bob) == [ConversationKey(1_012)])
        #expect(try world.storage.deletedConversations(limit: 9) == [group])
        #expect(try world.storage.events(of: group, before: .max, limit: 9).map(\.seq) == [1, 2], "its messages are found to be erased")
        counters.memberCount = 0
        try world.write { $0.conversations = [ConversationChange(key: group, counters: counters)] }
        #expect(try world.storage.deletedConversations(limit: 9) == [])
    }

    @Test(arguments: StorageKind.allCases) func aDeletedAccountIsListedUntilItIsErased(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        var rows = try world.storage.accounts([world.ann, world.bob])
        #expect(try world.storage.deletedAccounts(limit: 9) == [])
        for index in rows.indices { rows[index].state = .deleted }
        try world.write { $0.accounts = rows }
        #expect(try world.storage.deletedAccounts(limit: 9) == [world.ann, world.bob])
        #expect(try world.storage.begin(Needs()).deletedAccounts == [world.ann, world.bob], "each batch knows them")
        world.storage.abandon()
        #expect(try world.storage.deletedAccounts(limit: 1) == [world.ann])
        rows[0].isErased = true
        try world.write { $0.accounts = rows }
        #expect(try world.storage.deletedAccounts(limit: 9) == [world.bob])
        #expect(try world.storage.accounts([world.ann]).first?.isErased == true)
    }

    @Test(arguments: StorageKind.allCases) func everyConversationOfAUserIsListed(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        for key: Int64 in [3, 1, 2] { try world.group(key, world.ann) }
        try world.modify(world.ann, ConversationKey(2)) { ($0.state, $0.isGone) = (.left, true) }
        let all = [1, 2, 3, 1_011].map { ConversationKey($0) }
        #expect(try world.storage.memberships(of: world.ann, after: nil, limit: 9) == all)
        #expect(try world.storage.memberships(of: world.ann, after: all[0], limit: 2) == [all[1], all[2]])
        #expect(try world.storage.memberships(of: UserKey(99), after: nil, limit: 9) == [])
    }

    @Test(arguments: StorageKind.allCases) func theEventsOfASenderAreFoundInPages(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(3, to: group, by: world.ann)
        try world.append(to: group, by: world.bob)
        try world.append(to: group, by: world.ann, kind: .edit, ref: 1)
        try world.append(to: group, by: world.ann)
        func page(_ after: Int64, changes: Bool = false, limit: Int = 9) throws -> SenderPage {
            try world.storage.events(of: group, by: world.ann, after: after, changes: changes, limit: limit)
        }
        #expect(try page(0) == SenderPage(events: [1, 2, 3, 6].map { EventAddress(group, $0) }, next: nil))
        #expect(try page(0, limit: 2) == SenderPage(events: [1, 2].map { EventAddress(group, $0) }, next: 2))
        #expect(try page(2, limit: 9).events.map(\.seq) == [3, 6])
        #expect(try page(3, changes: true).events.map(\.seq) == [5, 6])
        try world.write { $0.blanks = [EventBlank(address: EventAddress(group, 2), state: .erased)] }
        #expect(try page(0).events.map(\.seq) == [1, 3, 6])
        #expect(try page(6) == SenderPage(events: [], next: nil))
        #expect(try world.storage.events(of: ConversationKey(9), by: world.ann, after: 0, changes: true, limit: 9).events == [])
        // One read examines one window of a long log.
        try world.append(Int(SenderPage.window), to: group, by: world.bob)
        try world.append(to: group, by: world.ann)
        #expect(try page(6) == SenderPage(events: [], next: 6 + SenderPage.window))
        #expect(try page(6 + SenderPage.window).events.map(\.seq) == [7 + SenderPage.window])
    }
}
