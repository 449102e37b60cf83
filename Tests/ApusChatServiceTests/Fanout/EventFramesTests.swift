import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatService

/// The events of a batch as pushes.
@Suite struct EventFramesTests {
    private static let key = ConversationKey(7)
    private static let names = [UserKey(1): UserName(prepared: "alice"), UserKey(2): UserName(prepared: "bob")]

    private func message(_ seq: Int64, _ body: String = #"{"text":"x"}"#, by sender: Int64 = 1) -> EventRow {
        ViewWorld.message(7, seq, by: sender, body)
    }

    private func change(_ seq: Int64, of ref: Int64, _ kind: EventKind) -> EventRow {
        EventRow(
            conversation: Self.key, seq: seq, n: 0, sender: UserKey(1), at: 10 + seq, kind: kind, ref: ref, body: #"{"text":"changed"}"#)
    }

    private func batch(
        _ events: [EventRow], blanks: [EventBlank] = [], hidden: [(Int64, Int64)] = [], silent: [Int64] = []
    ) -> DecidedBatch {
        var changes = Changes()
        changes.events = events
        changes.blanks = blanks
        return DecidedBatch(
            changes: changes, pushes: [], hidden: hidden.map { AnnotationAddress(EventAddress(Self.key, $0), UserKey($1)) },
            silent: Set(silent.map { EventAddress(Self.key, $0) }))
    }

    private func pushes(
        _ batch: DecidedBatch, _ range: ClosedRange<Int64> = 1...1_000, for user: Int64? = nil
    ) throws -> [EventPush] {
        let frames = EventFrames(batch).frames(of: Self.key, range, for: user.map { UserKey($0) }, names: Self.names)
        #expect(frames.allSatisfy { $0.event == "event" && $0.feature == nil })
        return try frames.map { try EventPush(json: $0.value) }
    }

    // MARK: The wire

    @Test func onePushOfOneMessage() throws {
        let frames = EventFrames(self.batch([self.message(3)])).frames(of: Self.key, 3...3, names: Self.names)
        #expect(
            frames.map(\.value) == [
                try wire(
                    #"{"events":[{"conv":"\#(conversationText(7))","seq":3,"n":3,"sender":"alice","at":13,"kind":"text","body":{"text":"x"}}]}"#
                )
            ])
    }

    /// Each case is the seqs of a batch, the range of a recipient, and the seqs and the `as_of` of
    /// the push.
    @Test(
        arguments: [
            ([1, 2, 3], 1...3, [1, 2, 3], nil), ([1, 2, 3], 2...3, [2, 3], nil), ([1, 2, 3], 1...2, [1, 2], 3), ([1, 2, 3], 2...2, [2], 3),
            ([5, 6], 1...5, [5], 6), ([5, 6], 7...9, [], nil), ([5, 6], 1...4, [], nil), ([], 1...9, [], nil),
        ] as [([Int64], ClosedRange<Int64>, [Int64], Int64?)])
    func aRecipientGetsItsRangeAndThePlaceOfTheBatch(
        seqs: [Int64], range: ClosedRange<Int64>, sent: [Int64], asOf: Int64?
    ) throws {
        let pushes = try self.pushes(self.batch(seqs.map { self.message($0) }), range)
        #expect(pushes.flatMap(\.events).map(\.seq) == sent)
        #expect(pushes.compactMap(\.asOf) == (asOf.map { [$0] } ?? []))
    }

    @Test func conversationsAreApart() throws {
        let other = EventRow(conversation: ConversationKey(8), seq: 9, n: 9, sender: UserKey(2), at: 1, kind: .text, body: "{}")
        let frames = EventFrames(self.batch([self.message(1), other, self.message(2)]))
        #expect(frames.senders(Self.key) == [UserKey(1)] && frames.senders(ConversationKey(8)) == [UserKey(2)])
        #expect(frames.senders(ConversationKey(9)).isEmpty)
        #expect(try self.pushes(self.batch([self.message(1), other, self.message(2)])).map { $0.events.map(\.seq) } == [[1, 2]])
        #expect(frames.frames(of: ConversationKey(9), 1...9, names: [:]).isEmpty)
    }

    @Test func eventsOfTheServerHaveNoSender() throws {
        let push = try #require(try self.pushes(self.batch([self.message(1, by: 0), self.message(2, by: 99)])).first)
        #expect(push.events.map(\.sender) == [nil, nil])
    }

    // MARK: Splits

    /// The sizes of bodies in KiB, and the numbers of events of the pushes.
    @Test(
        arguments: [
            ([1, 1, 1], [3]), ([64, 63], [2]), ([64, 64, 1], [1, 2]), ([100, 100, 100], [1, 1, 1]), ([1, 127, 1], [1, 1, 1]),
            ([120, 1, 1, 120, 1], [3, 2]),
        ] as [([Int], [Int])])
    func largeBodiesAreSplit(kibibytes: [Int], counts: [Int]) throws {
        let rows = kibibytes.enumerated().map { index, size in
            self.message(Int64(index) + 1, #"{"text":"\#(String(repeating: "a", count: size * 1_024))"}"#)
        }
        let pushes = try self.pushes(self.batch(rows))
        #expect(pushes.map(\.events.count) == counts)
        #expect(pushes.flatMap(\.events).map(\.seq) == rows.map(\.seq), "in order, and none is lost")
        // Each push except the last has the position up to which its events contain changes.
        #expect(pushes.map(\.asOf) == counts.indices.map { $0 == counts.count - 1 ? nil : Int64(rows.count) })
        for push in pushes { #expect(try JSONWriter.bytes(of: push.json).count <= ChatLimits.answerBytes) }
    }

    @Test func thePushOfManyEventsHasAtMostAPageOfThem() throws {
        let rows = (1...Int64(2 * ChatLimits.historyEvents + 1)).map { self.message($0) }
        let pushes = try self.pushes(self.batch(rows))
        #expect(pushes.map(\.events.count) == [ChatLimits.historyEvents, ChatLimits.historyEvents, 1])
    }

    /// Each case is the silent seqs of 1 to 5, and for each push its first seq and whether it is
    /// silent.
    @Test(
        arguments: [
            ([], [(1, false)]), ([1, 2, 3, 4, 5], [(1, true)]), ([3], [(1, false), (3, true), (4, false)]), ([1], [(1, true), (2, false)]),
            ([5], [(1, false), (5, true)]), ([2, 3], [(1, false), (2, true), (4, false)]),
        ] as [([Int64], [(Int64, Bool)])])
    func silentMessagesAreApart(silent: [Int64], expected: [(Int64, Bool)]) throws {
        let pushes = try self.pushes(self.batch((1...5).map { self.message($0) }, silent: silent))
        #expect(pushes.map { $0.events.first?.seq } == expected.map(\.0))
        #expect(pushes.map(\.isSilent) == expected.map(\.1))
        #expect(pushes.flatMap(\.events).map(\.seq) == [1, 2, 3, 4, 5])
    }

    // MARK: Content that is not sent

    @Test func eventsRemovedByTheBatchAreNotSent() throws {
        for state in [EventState.recalled, .expired, .erased] {
            let blank = EventBlank(address: EventAddress(Self.key, 1), state: state)
            let push = try #require(
                try self.pushes(self.batch([self.message(1), self.change(2, of: 1, .recall)], blanks: [blank])).first)
            #expect(push.events.map(\.state) == [state, .normal])
            #expect(push.events[0].body.isEmpty && push.events[0].sender?.rawValue == "alice")
        }
    }

    @Test func aHiddenMessageIsHiddenFromOneUserWithItsChanges() throws {
        let batch = self.batch(
            [
                self.message(1), self.message(2), self.change(3, of: 1, .edit), self.change(4, of: 2, .edit),
                // A reply to a hidden message is not hidden.
                {
                    var reply = self.message(5)
                    reply.ref = 1
                    return reply
                }(),
                self.change(6, of: 0, .conversationSet),
            ], hidden: [(1, 2)])
        func kinds(for user: Int64?) throws -> [String] { try self.pushes(batch, for: user).flatMap(\.events).map(\.kind.rawValue) }
        #expect(try kinds(for: 2) == ["hidden", "text", "hidden", "edit", "text", "conversation.set"])
        #expect(try kinds(for: 3) == ["text", "text", "edit", "edit", "text", "conversation.set"])
        #expect(try kinds(for: nil) == ["text", "text", "edit", "edit", "text", "conversation.set"])
        let hidden = try #require(try self.pushes(batch, for: 2).first?.events)
        #expect(hidden[0].json == (try wire(#"{"conv":"\#(conversationText(7))","seq":1,"n":1,"kind":"hidden"}"#)))
        #expect(hidden[2].json == (try wire(#"{"conv":"\#(conversationText(7))","seq":3,"kind":"hidden"}"#)))
    }

    // MARK: Nudges

    private func nudge(_ preview: Int64, _ batch: DecidedBatch) throws -> JSONValue {
        var counters = ConversationCounters()
        (counters.lastSeq, counters.lastN, counters.lastAt, counters.previewSeq) = (9, 8, 70, preview)
        return EventFrames(batch).nudge(ConversationChange(key: Self.key, counters: counters), names: Self.names).json
    }

    @Test func aNudgeHasThePreviewOfTheBatchOnly() throws {
        let start = #"{"conv":"\#(conversationText(7))","seq":9,"n":8,"at":70"#
        let batch = self.batch([self.message(8), self.message(9, #"{"text":"newest"}"#)])
        #expect(
            try self.nudge(9, batch)
                == wire(start + #","last":{"seq":9,"n":9,"sender":"alice","at":19,"kind":"text","text":"newest"}}"#))
        #expect(try self.nudge(5, batch) == wire(start + "}"), "the preview is of an earlier batch")
        #expect(try self.nudge(0, self.batch([])) == wire(start + "}"))
        let blank = EventBlank(address: EventAddress(Self.key, 9), state: .recalled)
        #expect(
            try self.nudge(9, self.batch([self.message(9)], blanks: [blank]))
                == wire(start + #","last":{"seq":9,"n":9,"sender":"alice","at":19,"kind":"text","state":"recalled"}}"#))
    }
}
