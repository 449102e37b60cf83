import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatService

/// Whether read positions and typing are shown, and how long this is cached.
@Suite struct ShownSettingsTests {
    private let key = ConversationKey(7)

    private func world(
        _ kind: ConversationKind = .group, members: [Int64] = [1, 2], row: (inout ConversationRow) -> Void = { _ in }
    ) throws -> ViewWorld {
        let world = try ViewWorld()
        try world.conversation(7, kind, members: members, row: row)
        return world
    }

    private func showsReceipts(_ world: ViewWorld, of user: Int64 = 1) throws -> Bool {
        var shown = ShownSettings()
        return try shown.showsReceipts(UserKey(user), in: self.key, world.storage)
    }

    private func typist(_ world: ViewWorld, of user: Int64 = 1) throws -> String? {
        var shown = ShownSettings()
        return try shown.typist(UserKey(user), in: self.key, world.storage)?.rawValue
    }

    // MARK: Receipts

    @Test(
        arguments: [
            (.group, true, 2, true), (.group, false, 2, false), (.group, true, ChatLimits.receiptMembers, true),
            (.group, true, ChatLimits.receiptMembers + 1, false), (.channel, true, 2, false), (.channel, false, 2, false),
            (.pair, true, 2, true), (.pair, false, 2, false), (.own, true, 1, true),
        ] as [(ConversationKind, Bool, Int, Bool)])
    func theConversationDecidesWhetherPositionsAreShown(
        kind: ConversationKind, receipts: Bool, members: Int, shown: Bool
    ) throws {
        let world = try self.world(
            kind,
            row: {
                $0.settings.receipts = receipts
                $0.counters.memberCount = members
            })
        #expect(try self.showsReceipts(world) == shown)
    }

    @Test func aUserWhoHidesItsPositionsShowsNone() throws {
        let world = try self.world()
        try world.account(1) { $0.privacy.receipts = false }
        #expect(try !self.showsReceipts(world))
        #expect(try self.showsReceipts(world, of: 2))
    }

    @Test func aStrangerOfTheConversationShowsNothing() throws {
        let world = try self.world()
        #expect(try !self.showsReceipts(world, of: 3))
        #expect(try self.typist(world, of: 3) == nil)
        #expect(try !self.showsReceipts(world, of: 99))
        #expect(try self.typist(world, of: 99) == nil)
    }

    // MARK: Typing

    @Test func typingIsShownForUsersWhoPermitIt() throws {
        let world = try self.world()
        #expect(try self.typist(world) == "alice")
        try world.account(1) { $0.privacy.typing = false }
        #expect(try self.typist(world) == nil)
        #expect(try self.typist(world, of: 2) == "bob")
    }

    @Test func theOtherUserOfAPairDoesNotSeeATypistThatItBlocks() throws {
        for blocker in [1, 2] as [Int64] {
            let world = try ViewWorld()
            try world.conversation(
                7, .pair, members: [1, 2], member: { if $0.address.user == UserKey(blocker) { $0.blockSeq = 5 } })
            #expect(try self.typist(world, of: 3 - blocker) == nil, "the blocked one")
            #expect(try self.typist(world, of: blocker) != nil, "the blocker itself")
        }
        // A block has no effect on typing in a group.
        let world = try ViewWorld()
        try world.conversation(7, .group, members: [1, 2], member: { $0.blockSeq = 5 })
        #expect(try self.typist(world) == "alice")
    }

    // MARK: The cache

    /// `committed` removes the cached values that the batch changes, and no others.
    @Test func aBatchReplacesTheChangedRows() throws {
        let world = try self.world(.pair)
        var shown = ShownSettings()
        func receipts() throws -> Bool { try shown.showsReceipts(UserKey(1), in: self.key, world.storage) }
        func types() throws -> Bool { try shown.typist(UserKey(1), in: self.key, world.storage) != nil }
        #expect(try receipts() && types())

        var changes = Changes()
        try world.account(1) {
            ($0.privacy.receipts, $0.privacy.typing) = (false, false)
            changes.accounts = [$0]
        }
        #expect(try receipts() && types(), "the storage is not read again before the batch is told")
        shown.committed(changes)
        #expect(try !receipts() && !types())

        changes = Changes()
        try world.account(1) {
            ($0.privacy.receipts, $0.privacy.typing) = (true, true)
            changes.accounts = [$0]
        }
        shown.committed(changes)
        #expect(try receipts() && types())

        changes = Changes()
        var member = try #require(world.storage.head(of: UserKey(2), in: self.key)?.member)
        member.blockSeq = 5
        changes.members = [member]
        try world.change { $0.members = [member] }
        shown.committed(changes)
        #expect(try receipts() && !types())

        changes = Changes()
        var row = try #require(world.storage.head(of: UserKey(2), in: self.key)?.conversation)
        row.settings.receipts = false
        changes.conversations = [ConversationChange(key: self.key, counters: row.counters, row: row)]
        try world.change { $0.conversations = changes.conversations }
        shown.committed(changes)
        #expect(try !receipts())
    }

    /// A batch of messages contains only the counters of a conversation, with its member count.
    @Test func theNumberOfMembersFollowsTheCounters() throws {
        let world = try self.world()
        var shown = ShownSettings()
        func receipts() throws -> Bool { try shown.showsReceipts(UserKey(1), in: self.key, world.storage) }
        #expect(try receipts())
        for (count, isShown) in [(ChatLimits.receiptMembers, true), (ChatLimits.receiptMembers + 1, false), (2, true)] {
            var changes = Changes()
            var counters = ConversationCounters()
            counters.memberCount = count
            changes.conversations = [ConversationChange(key: self.key, counters: counters)]
            shown.committed(changes)
            #expect(try receipts() == isShown)
        }
    }

    @Test func aBatchDoesNotAddUncachedConversations() throws {
        let world = try self.world()
        var shown = ShownSettings()
        var changes = Changes()
        var counters = ConversationCounters()
        counters.memberCount = 1_000
        changes.conversations = [ConversationChange(key: self.key, counters: counters)]
        shown.committed(changes)
        #expect(try shown.showsReceipts(UserKey(1), in: self.key, world.storage), "of the storage")
    }
}
