import ApusWebSocketProtocol
import NIOCore
import Testing

@Suite struct WebSocketHeartbeatStateMachineTests {
    private func payload(_ id: UInt64) -> ByteBuffer { ByteBuffer(integer: id) }

    @Test func pingsAndTheirAnswers() {
        var heartbeat = WebSocketHeartbeatStateMachine(.ping(every: .seconds(30), answerWithin: .seconds(20)), openedAt: .seconds(100))
        #expect(heartbeat.firstTimer(at: .seconds(100)) == .seconds(30))
        #expect(heartbeat.timerFired(at: .seconds(129)) == .wait(.seconds(1)))
        #expect(heartbeat.timerFired(at: .seconds(130)) == .sendPing(payload(1), thenTimerAfter: .seconds(20)))
        #expect(heartbeat.receivedPong(payload(1), at: .seconds(131)) == .seconds(1))
        #expect(heartbeat.timerFired(at: .seconds(150)) == .wait(.seconds(10)))
        #expect(heartbeat.timerFired(at: .seconds(160)) == .sendPing(payload(2), thenTimerAfter: .seconds(20)))
    }

    @Test func aSilentPeerIsAbandoned() {
        var heartbeat = WebSocketHeartbeatStateMachine(.ping(every: .seconds(30), answerWithin: .seconds(20)), openedAt: .zero)
        #expect(heartbeat.timerFired(at: .seconds(30)) == .sendPing(payload(1), thenTimerAfter: .seconds(20)))
        #expect(heartbeat.timerFired(at: .seconds(50)) == .giveUp(.unanswered))
        #expect(heartbeat.timerFired(at: .seconds(51)) == .doNothing)
        #expect(heartbeat.receivedPong(payload(1), at: .seconds(52)) == .seconds(22))
        #expect(heartbeat.timerFired(at: .seconds(90)) == .doNothing)
    }

    @Test func withoutATimeoutAnyNumberOfPingsMayBeUnanswered() {
        var heartbeat = WebSocketHeartbeatStateMachine(.ping(every: .seconds(30), answerWithin: nil), openedAt: .zero)
        for id in 1...200 {
            let now = Duration.seconds(30 * id)
            #expect(heartbeat.timerFired(at: now) == .sendPing(payload(UInt64(id)), thenTimerAfter: .seconds(30)))
        }
        // The first Pings were dropped; the latest ones still measure the round trip.
        #expect(heartbeat.receivedPong(payload(1), at: .seconds(6001)) == nil)
        #expect(heartbeat.receivedPong(payload(200), at: .seconds(6001)) == .seconds(1))
    }

    @Test func receivedBytesPostponeTheDeadline() {
        var heartbeat = WebSocketHeartbeatStateMachine(.ping(every: .seconds(30), answerWithin: .seconds(20)), openedAt: .zero)
        #expect(heartbeat.timerFired(at: .seconds(30)) == .sendPing(payload(1), thenTimerAfter: .seconds(20)))
        heartbeat.received(at: .seconds(45))
        #expect(heartbeat.timerFired(at: .seconds(50)) == .wait(.seconds(15)))
        #expect(heartbeat.timerFired(at: .seconds(65)) == .giveUp(.unanswered))
    }

    @Test func aStrangePongAnswersNothing() {
        var heartbeat = WebSocketHeartbeatStateMachine(.ping(every: .seconds(30), answerWithin: .seconds(20)), openedAt: .zero)
        #expect(heartbeat.timerFired(at: .seconds(30)) == .sendPing(payload(1), thenTimerAfter: .seconds(20)))
        #expect(heartbeat.receivedPong(payload(2), at: .seconds(30)) == nil)
        #expect(heartbeat.receivedPong(ByteBuffer(), at: .seconds(30)) == nil)
        #expect(heartbeat.timerFired(at: .seconds(50)) == .giveUp(.unanswered))
    }

    @Test func aShortIntervalDoesNotWaitForTheDeadline() {
        var heartbeat = WebSocketHeartbeatStateMachine(.ping(every: .seconds(5), answerWithin: .seconds(20)), openedAt: .zero)
        #expect(heartbeat.timerFired(at: .seconds(5)) == .sendPing(payload(1), thenTimerAfter: .seconds(5)))
        #expect(heartbeat.timerFired(at: .seconds(10)) == .wait(.seconds(5)))
        #expect(heartbeat.receivedPong(payload(1), at: .seconds(11)) != nil)
        #expect(heartbeat.timerFired(at: .seconds(15)) == .sendPing(payload(2), thenTimerAfter: .seconds(5)))
    }

    @Test func aTextIsAnsweredByAMessage() {
        var heartbeat = WebSocketHeartbeatStateMachine(.text("heart", every: .seconds(180), answerWithin: .seconds(10)), openedAt: .zero)
        #expect(heartbeat.timerFired(at: .seconds(180)) == .sendText("heart", thenTimerAfter: .seconds(10)))
        heartbeat.receivedMessage(at: .seconds(181))
        #expect(heartbeat.timerFired(at: .seconds(190)) == .wait(.seconds(170)))
        #expect(heartbeat.timerFired(at: .seconds(360)) == .sendText("heart", thenTimerAfter: .seconds(10)))
        #expect(heartbeat.timerFired(at: .seconds(370)) == .giveUp(.unanswered))
        var deaf = WebSocketHeartbeatStateMachine(.text("heart", every: .seconds(180)), openedAt: .zero)
        #expect(deaf.timerFired(at: .seconds(180)) == .sendText("heart", thenTimerAfter: .seconds(180)))
        #expect(deaf.timerFired(at: .seconds(360)) == .sendText("heart", thenTimerAfter: .seconds(180)))
    }

    @Test func idlePeersAndNone() {
        var idle = WebSocketHeartbeatStateMachine(.idle(after: .seconds(60)), openedAt: .zero)
        #expect(idle.firstTimer(at: .zero) == .seconds(60))
        idle.received(at: .seconds(50))
        #expect(idle.timerFired(at: .seconds(60)) == .wait(.seconds(50)))
        #expect(idle.timerFired(at: .seconds(110)) == .giveUp(.idle))
        var none = WebSocketHeartbeatStateMachine(.none, openedAt: .zero)
        #expect(none.firstTimer(at: .zero) == nil)
        none.stop()
        #expect(none.timerFired(at: .seconds(5)) == .doNothing)
    }

    @Test func aPongSettlesEarlierPings() {
        var pings = PendingPings<String>()
        for (second, waiter) in ["a", "b", "c", "d"].enumerated() { _ = pings.begin(waiter, at: .seconds(second)) }
        let settled = pings.receivedPong(payload(2))
        #expect(settled.map(\.waiter) == ["a", "b"])
        #expect(settled.map(\.sentAt) == [.seconds(0), .seconds(1)])
        #expect(pings.receivedPong(payload(1)).isEmpty)
        #expect(pings.abandon(3) == "c")
        #expect(pings.abandon(3) == nil)
        #expect(pings.takeAll() == ["d"])
        #expect(pings.count == 0)
    }

    @Test func pingsWithoutAnAnswerAreBounded() {
        var pings = PendingPings<Void>(maximumOutstanding: 3)
        while pings.begin((), at: .zero) != nil {}
        #expect(pings.count == 3)
        #expect(pings.beginDroppingOldest((), at: .zero).id == 4)
        #expect(pings.count == 3)
        #expect(pings.receivedPong(payload(1)).isEmpty)
        #expect(pings.receivedPong(payload(4)).map(\.id) == [2, 3, 4])
    }
}
