import ApusChatProtocol
import ApusChatStorage
import Testing

/// Lists of conversations.
@Suite struct HeadTests {
    @Test(arguments: StorageKind.allCases) func pinnedConversationsComeFirstThenTheNewest(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let groups = try (1...6).map { key in try world.group(Int64(key), world.bob) { $0.counters.lastAt = 100 + Int64(key) } }
        try world.modify(world.bob, groups[0]) { $0.pinnedAt = 1 }
        try world.modify(world.bob, groups[1]) { $0.pinnedAt = 2 }
        try world.modify(world.bob, groups[2]) { $0.isGone = true }
        let own = ConversationKey(1_012)
        let expected = [groups[1], groups[0], own, groups[5], groups[4], groups[3]]
        let all = try world.storage.heads(of: world.bob, after: nil, limit: 100)
        #expect(all.heads.map(\.conversation.key) == expected)
        #expect(all.next == nil)
        for size in 1...6 {
            var keys: [ConversationKey] = []
            var cursor: HeadsCursor?
            repeat {
                let page = try world.storage.heads(of: world.bob, after: cursor, limit: size)
                #expect(page.heads.count <= size)
                keys += page.heads.map(\.conversation.key)
                cursor = page.next
            } while cursor != nil
            #expect(keys == expected)
        }
    }

    @Test(arguments: StorageKind.allCases) func conversationsOfTheSameTimeAreOrderedByKey(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        for key in [5, 3, 4] { try world.group(Int64(key), world.eve) { $0.counters.lastAt = 7 } }
        let first = try world.storage.heads(of: world.eve, after: nil, limit: 3)
        #expect(first.heads.map(\.conversation.key.rawValue) == [1_013, 3, 4])
        #expect(try world.storage.heads(of: world.eve, after: first.next, limit: 3).heads.map(\.conversation.key.rawValue) == [5])
    }

    @Test(arguments: StorageKind.allCases) func aHeadHasTheFieldsOfTheList(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(3, to: group, by: world.ann)
        try world.append(to: group, by: world.ann) { event, _ in event.mentions = [world.bob, world.eve] }
        try world.append(to: group, by: world.ann) { event, _ in
            event.mentionsAll = true
            event.mentions = [world.bob]
        }
        try world.append(to: group, by: world.bob) { event, _ in event.mentionsAll = true }
        try world.append(to: group, by: world.ann, kind: .react, ref: 2)
        try world.modify(world.bob, group) { ($0.readN, $0.skipped) = (2, 1) }
        let head = try #require(try world.head(world.bob, group))
        #expect(head.unread == 3)
        #expect(head.mentions == 2)
        #expect(head.last?.seq == 6)
        #expect(head.pins == [])
        try world.modify(world.bob, group) { ($0.readN, $0.skipped) = (4, 1) }
        #expect(try world.head(world.bob, group)?.mentions == 1)
        #expect(try world.head(world.ann, group)?.mentions == 1)
        #expect(try world.head(world.eve, group) == nil)
        #expect(try world.head(world.eve, ConversationKey(9)) == nil)
    }

    @Test(arguments: StorageKind.allCases) func aBlankOrHiddenMentionIsNotCounted(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(2, to: group, by: world.ann) { event, _ in event.mentions = [world.bob] }
        try world.append(2, to: group, by: world.ann) { event, _ in event.mentionsAll = true }
        #expect(try world.head(world.bob, group)?.mentions == 4)
        try world.annotate(world.bob, EventAddress(group, 1)) { $0.isHidden = true }
        #expect(try world.head(world.bob, group)?.mentions == 3)
        try world.write {
            $0.blanks = [
                EventBlank(address: EventAddress(group, 2), state: .recalled), EventBlank(address: EventAddress(group, 3), state: .erased),
            ]
        }
        #expect(try world.head(world.bob, group)?.mentions == 1)
        // A recall also writes the message as a target, without its content.
        try world.append(to: group, by: world.ann) { event, _ in event.mentions = [world.bob] }
        try world.append(to: group, by: world.ann) { event, _ in event.mentionsAll = true }
        #expect(try world.head(world.bob, group)?.mentions == 3)
        for seq in [5, 6] as [Int64] {
            var event = try #require(try world.event(EventAddress(group, seq)))
            event.blank(.recalled)
            try world.write {
                $0.targets = [event]
                $0.blanks = [EventBlank(address: EventAddress(group, seq), state: .recalled)]
            }
        }
        #expect(try world.head(world.bob, group)?.mentions == 1)
        try world.modify(world.bob, group) { $0.minSeq = 5 }
        #expect(try world.head(world.bob, group)?.mentions == 0)
    }

    @Test(arguments: StorageKind.allCases) func aHeadShowsOnlyVisibleContent(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(5, to: group, by: world.ann)
        for seq: Int64 in [2, 4, 5] { try world.change(EventAddress(group, seq)) { $0.isPinned = true } }
        #expect(try world.head(world.bob, group)?.pins == [5, 4, 2])
        try world.annotate(world.bob, EventAddress(group, 4)) { $0.isHidden = true }
        try world.modify(world.bob, group) { ($0.state, $0.leftSeq) = (.left, 4) }
        let head = try #require(try world.head(world.bob, group))
        #expect(head.pins == [2])
        #expect(head.last == EventView(seq: 4, n: 4, row: nil))
        #expect(head.unread == 0)
        try world.modify(world.bob, group) { $0.state = .invited }
        #expect(try world.head(world.bob, group)?.last == nil)
        try world.change(EventAddress(group, 5)) { $0.isPinned = false }
        #expect(try world.head(world.ann, group)?.pins == [4, 2])
        try world.write { $0.blanks = [EventBlank(address: EventAddress(group, 4), state: .recalled)] }
        #expect(try world.head(world.ann, group)?.pins == [2])
    }

    @Test(arguments: StorageKind.allCases) func aHeadHasTheDraft(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        let seq = try world.append(to: ConversationKey(1_011), by: world.ann, kind: EventKind(.selfDraft)) { event, _ in
            event.body = #"{"text":"draft"}"#
        }
        try world.modify(world.ann, group) { $0.draftSeq = seq }
        #expect(try world.head(world.ann, group)?.draft == #"{"text":"draft"}"#)
        #expect(try world.head(world.ann, group)?.draftAt == world.now + seq)
    }

    /// A deleted conversation shows nothing of its members.
    @Test(arguments: StorageKind.allCases) func aDeletedConversationHasNoDraft(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        let seq = try world.append(to: ConversationKey(1_011), by: world.ann, kind: EventKind(.selfDraft))
        try world.modify(world.ann, group) { $0.draftSeq = seq }
        var counters = try world.counters(group)
        counters.isDeleted = true
        let deleted = counters
        try world.write { $0.conversations = [ConversationChange(key: group, counters: deleted)] }
        let head = try #require(try world.head(world.ann, group))
        #expect(head.draft.isEmpty && head.draftAt == 0 && head.last == nil && head.pins.isEmpty && head.mentions == 0)
    }
}
