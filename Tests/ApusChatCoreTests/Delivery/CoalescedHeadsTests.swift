import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@Suite struct CoalescedHeadsTests {
    private let key = ConversationKey(1)
    private func read(_ user: Int64, _ n: Int64) -> CoalescedHeads.Read { .init(conversation: self.key, user: UserKey(user), n: n) }

    @Test func theFirstChangeIsSentAtOnceAndLaterOnesWait() {
        var heads = CoalescedHeads()
        #expect(heads.headChanged(self.key, at: 0) == .send(.init(heads: [self.key])))
        #expect(heads.headChanged(self.key, at: 300) == .schedule(after: .milliseconds(700)))
        #expect(heads.headChanged(ConversationKey(2), at: 400) == .doNothing)
        #expect(heads.timerFired(at: 1_000) == .send(.init(heads: [self.key, ConversationKey(2)])))
        #expect(heads.isEmpty)
        #expect(heads.timerFired(at: 2_000) == .doNothing)
        #expect(heads.headChanged(self.key, at: 2_000) == .send(.init(heads: [self.key])))
    }

    @Test func aGroupOf500ThatReadsAtOnceIsThreeFrames() {
        var heads = CoalescedHeads()
        var frames = 0
        func count(_ action: CoalescedHeads.Action) {
            if case .send = action { frames += 1 }
        }
        // 500 members read one message within two seconds.
        for user in 1...500 as ClosedRange<Int64> {
            count(heads.readMoved(self.read(user, 1), at: user * 4))
            if user == 250 { count(heads.timerFired(at: 1_004)) }
        }
        count(heads.timerFired(at: 2_004))
        #expect(frames <= 3)
        #expect(heads.isEmpty)
    }

    @Test func heldPushesAreSentOnRelease() {
        var heads = CoalescedHeads()
        heads.hold()
        #expect(heads.headChanged(self.key, at: 0) == .doNothing)
        #expect(heads.readMoved(self.read(1, 5), at: 10) == .doNothing)
        #expect(heads.timerFired(at: 1_000) == .doNothing)
        #expect(heads.release(at: 5_000) == .send(.init(heads: [self.key], reads: [self.read(1, 5)])))
        #expect(heads.release(at: 5_100) == .doNothing)
    }

    @Test func readAndReceivedPositionsAreMerged() {
        var heads = CoalescedHeads()
        _ = heads.readMoved(self.read(9, 1), at: 0)
        _ = heads.readMoved(.init(conversation: self.key, user: UserKey(1), received: 7), at: 1)
        _ = heads.readMoved(.init(conversation: self.key, user: UserKey(1), n: 3, received: 5), at: 2)
        _ = heads.readMoved(.init(conversation: self.key, user: UserKey(2), received: 4), at: 3)
        #expect(
            heads.timerFired(at: 1_000)
                == .send(
                    .init(reads: [
                        .init(conversation: self.key, user: UserKey(1), n: 3, received: 7),
                        .init(conversation: self.key, user: UserKey(2), received: 4),
                    ])))
    }

    @Test func theNewestEndOfALogIsSentUnlessTheHeadIs() {
        func nudge(_ key: Int64, _ seq: Int64) -> HeadNudge {
            HeadNudge(conversation: ConversationID(number: key), seq: seq, n: seq, at: 0)
        }
        var heads = CoalescedHeads()
        #expect(heads.advanced(nudge(1, 1), in: self.key, at: 0) == .send(.init(nudges: [nudge(1, 1)])))
        #expect(heads.advanced(nudge(1, 3), in: self.key, at: 1) == .schedule(after: .milliseconds(999)))
        #expect(heads.advanced(nudge(1, 2), in: self.key, at: 2) == .doNothing)
        #expect(heads.advanced(nudge(2, 9), in: ConversationKey(2), at: 3) == .doNothing)
        #expect(heads.headChanged(ConversationKey(2), at: 4) == .doNothing)
        #expect(!heads.isEmpty)
        #expect(heads.timerFired(at: 1_000) == .send(.init(heads: [ConversationKey(2)], nudges: [nudge(1, 3)])))
        #expect(heads.isEmpty)
    }

    @Test func theNewestReadPositionIsSent() {
        var heads = CoalescedHeads()
        _ = heads.readMoved(self.read(1, 1), at: 0)
        _ = heads.readMoved(self.read(1, 5), at: 1)
        _ = heads.readMoved(self.read(1, 3), at: 2)
        _ = heads.readMoved(self.read(2, 2), at: 3)
        #expect(heads.timerFired(at: 1_000) == .send(.init(reads: [self.read(1, 5), self.read(2, 2)])))
    }

    @Test func anEarlyTimerWaitsAgain() {
        var heads = CoalescedHeads()
        _ = heads.headChanged(self.key, at: 0)
        _ = heads.headChanged(self.key, at: 10)
        #expect(heads.timerFired(at: 900) == .schedule(after: .milliseconds(100)))
    }
}
