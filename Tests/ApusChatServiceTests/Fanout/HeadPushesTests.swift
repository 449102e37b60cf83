import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatService

/// Changed heads and positions as pushes, and which heads a batch changes.
@Suite struct HeadPushesTests {
    // MARK: Heads

    @Test func headsAndEndsOfConversationsAreApart() throws {
        let world = try ViewWorld()
        try world.conversation(7, members: [1, 2])
        try world.conversation(8, members: [2, 3])
        try world.conversation(9, members: [1], member: { $0.isGone = true })
        try world.conversation(10, members: [1], row: { $0.counters.isDeleted = true })
        let keys = [9, 7, 8, 10, 11].map { ConversationKey($0) }
        let pushes = try world.context(of: 1).headPushes(keys)
        #expect(pushes.map { $0.gone.map(\.number) } == [[9, 8, 10, 11], []])
        #expect(pushes.map { $0.heads.map(\.conversation.number) } == [[], [7]])
    }

    @Test func missingKeysAreNotAPush() throws {
        #expect(try ViewWorld().context(of: 1).headPushes([]).isEmpty)
    }

    @Test func aPushHasAtMostAPageOfHeads() throws {
        let world = try ViewWorld()
        let count = ChatLimits.headsPage + 1
        for key in 1...count { try world.conversation(Int64(key), members: [1]) }
        let pushes = try world.context(of: 1).headPushes((1...count).map { ConversationKey(Int64($0)) })
        #expect(pushes.map(\.heads.count) == [ChatLimits.headsPage, 1])
        #expect(pushes.flatMap(\.heads).map(\.conversation.number) == (1...Int64(count)).map { $0 })
    }

    @Test func aPushFitsIntoAFrame() throws {
        let world = try ViewWorld()
        let draft = String(repeating: "d", count: ChatLimits.draftLength)
        // Each head has a draft of 8,000 bytes: 29 of them do not fit into 240 KiB.
        try world.change { changes in
            changes.events = [
                EventRow(
                    conversation: ConversationKey(1_000_001), seq: 1, n: 0, sender: UserKey(1), at: 5, kind: .text,
                    body: #"{"draft":{"text":"\#(draft)"}}"#)
            ]
        }
        for key in 1...62 as ClosedRange<Int64> { try world.conversation(key, members: [1], member: { $0.draftSeq = 1 }) }
        let pushes = try world.context(of: 1).headPushes((1...62).map { ConversationKey($0) })
        #expect(pushes.count > 2)
        #expect(pushes.flatMap(\.heads).map(\.conversation.number) == (1...62).map { $0 })
        for push in pushes { #expect(try JSONWriter.bytes(of: push.json).count <= ChatLimits.answerBytes) }
    }

    // MARK: Positions

    @Test func positionsHaveTheValuesThatMoved() throws {
        let world = try ViewWorld()
        let reads = [
            CoalescedHeads.Read(conversation: ConversationKey(7), user: UserKey(2), n: 4, received: 6),
            CoalescedHeads.Read(conversation: ConversationKey(7), user: UserKey(3), n: 4),
            CoalescedHeads.Read(conversation: ConversationKey(8), user: UserKey(2), received: 5),
            CoalescedHeads.Read(conversation: ConversationKey(8), user: UserKey(99), n: 5),
        ]
        let (seven, eight) = (conversationText(7), conversationText(8))
        #expect(
            try world.context(of: 1).marks(reads).map(\.json) == [
                wire(#"{"conv":"\#(seven)","user":"bob","read":4,"received":6}"#), wire(#"{"conv":"\#(seven)","user":"carol","read":4}"#),
                wire(#"{"conv":"\#(eight)","user":"bob","received":5}"#),
            ], "a user who does not exist is omitted")
        #expect(try world.context(of: 1).marks([]).isEmpty)
    }

    // MARK: The heads that a batch changes

    private func row(_ key: Int64, members: Int = 2, preview: Int64 = 0) -> ConversationRow {
        var row = ConversationRow(key: ConversationKey(key), kind: .group, createdAt: 0, settings: ConversationSettings())
        (row.counters.memberCount, row.counters.previewSeq) = (members, preview)
        return row
    }

    private func changed(upTo members: Int = 100, _ body: (inout Changes) -> Void) -> [Int64] {
        var changes = Changes()
        body(&changes)
        return DecidedBatch(changes: changes, pushes: [], hidden: []).changedHeads(upTo: members).map(\.rawValue)
    }

    private func change(_ row: ConversationRow, hasRow: Bool = true, isNew: Bool = false) -> ConversationChange {
        ConversationChange(key: row.key, counters: row.counters, row: hasRow ? row : nil, isNew: isNew)
    }

    @Test func changedRowsChangeHeads() {
        #expect(self.changed { $0.conversations = [self.change(self.row(7))] } == [7])
        #expect(self.changed { $0.conversations = [self.change(self.row(7), hasRow: false)] } == [], "messages only")
        #expect(self.changed { $0.conversations = [self.change(self.row(7), isNew: true)] } == [], "its members get its events")
        #expect(
            self.changed { $0.conversations = [9, 7, 8].map { self.change(self.row($0)) } } == [7, 8, 9], "in the order of their keys")
    }

    @Test func eventsOfMembersAndPinsChangeHeads() {
        let kinds: [(EventKind, Bool)] = [
            (.text, false), (.image, false), (.edit, false), (.recall, false), (.react, false), (.vote, false), (.pollClose, false),
            (.pin, true), (.conversationSet, true), (.memberJoin, true), (.memberLeave, true), (.memberRemove, true), (.memberBan, true),
            (.memberRole, true), (.memberUnban, false), (.memberInvite, false), (.memberMute, false), (.callUpdate, false), (.call, false),
            (EventKind(rawValue: "app.thing"), false),
        ]
        for (kind, changes) in kinds {
            let event = EventRow(conversation: ConversationKey(7), seq: 1, n: 0, sender: UserKey(1), at: 0, kind: kind)
            #expect(self.changed { $0.events = [event] } == (changes ? [7] : []), "\(kind)")
        }
    }

    @Test func lostContentChangesTheHeadThatPreviewsIt() {
        func changed(_ state: EventState, seq: Int64, preview: Int64) -> [Int64] {
            self.changed {
                $0.conversations = [self.change(self.row(7, preview: preview), hasRow: false)]
                $0.blanks = [EventBlank(address: EventAddress(ConversationKey(7), seq), state: state)]
            }
        }
        #expect(changed(.expired, seq: 5, preview: 5) == [7])
        #expect(changed(.erased, seq: 5, preview: 5) == [7])
        #expect(changed(.recalled, seq: 5, preview: 5) == [], "an event reports a recall")
        #expect(changed(.expired, seq: 4, preview: 5) == [])
        #expect(
            self.changed { $0.blanks = [EventBlank(address: EventAddress(ConversationKey(7), 5), state: .expired)] } == [],
            "the batch has no counters of the conversation")
    }

    @Test func largeConversationsAreLeftToTheNextSync() {
        for (members, keys) in [(99, [7]), (100, [7]), (101, [])] as [(Int, [Int64])] {
            #expect(self.changed(upTo: 100) { $0.conversations = [self.change(self.row(7, members: members))] } == keys)
        }
    }
}
