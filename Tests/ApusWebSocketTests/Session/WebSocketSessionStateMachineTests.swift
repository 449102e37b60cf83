import ApusConnectivity
@testable import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import Testing

@Suite struct WebSocketSessionStateMachineTests {
    private var dice = FixedDice()

    private struct FixedDice: RandomNumberGenerator {
        mutating func next() -> UInt64 { 0 }
    }

    private func machine(
        _ policy: ReconnectionPolicy = .fixed(.seconds(1)), queue: WebSocketSendQueue = .init(maximumMessages: 2)
    ) -> WebSocketSessionStateMachine {
        WebSocketSessionStateMachine(reconnection: policy, queue: queue)
    }

    private func open(_ policy: ReconnectionPolicy = .fixed(.seconds(1))) -> WebSocketSessionStateMachine {
        var session = self.machine(policy)
        #expect(session.connectRequested(again: false) == .connect)
        #expect(session.opened() == .runHook)
        #expect(session.hookFinished(at: .zero) == .flush([]))
        return session
    }

    @Test mutating func aLifeInOrder() {
        var session = self.machine()
        #expect(session.state == .idle)
        #expect(session.connectRequested(again: false) == .connect)
        #expect(session.state == .connecting)
        #expect(session.connectRequested(again: true) == .doNothing)
        #expect(session.opened() == .runHook)
        #expect(session.state == .connecting)
        #expect(session.hookFinished(at: .zero) == .flush([]))
        #expect(session.state == .open)
        #expect(
            session.lost(at: .seconds(1), byPeer: false, decision: .retry, using: &self.dice) == .retry(after: .seconds(1), attempt: 1))
        #expect(session.state == .waitingToReconnect)
        #expect(session.timerFired() == .connect)
        #expect(session.attempt == 1)
        #expect(session.timerFired() == .doNothing)
        #expect(session.opened() == .runHook)
        #expect(session.hookFinished(at: .seconds(3)) == .flush([]))
        #expect(session.closeRequested() == .closeConnection)
        #expect(session.state == .closing)
        #expect(session.closeRequested() == .doNothing)
        #expect(session.connectRequested(again: true) == .doNothing)
        #expect(session.lost(at: .seconds(4), byPeer: false, decision: .retry, using: &self.dice) == .finish)
        #expect(session.state == .closedByUser)
        #expect(session.lost(at: .seconds(4), byPeer: false, decision: .retry, using: &self.dice) == .doNothing)
    }

    @Test mutating func whatWaitsGoesOutAfterTheHook() {
        var session = self.machine()
        #expect(session.send("a") == .queuedAndConnect)
        #expect(session.opened() == .runHook)
        #expect(session.send("b") == .queued)
        #expect(session.hookFinished(at: .zero) == .flush(["a", "b"]))
        #expect(session.send("c") == .send)
        _ = session.lost(at: .zero, byPeer: false, decision: .retry, using: &self.dice)
        #expect(session.send("d") == .queued)
    }

    @Test func aFullQueueDoesWhatItsPolicySays() {
        func flushed(_ overflow: WebSocketSendQueue.Overflow) -> (refused: Bool, messages: [WebSocketMessage], dropped: Int) {
            var session = self.machine(queue: .init(maximumMessages: 2, maximumBytes: 10, overflow: overflow))
            #expect(session.send("a") == .queuedAndConnect)
            #expect(session.send("b") == .queued)
            var refused = false
            if case .refuse(let error) = session.send("c") {
                #expect(error.code == .queueFull)
                refused = true
            }
            let large = session.send("a message larger than the queue")
            #expect((large != .queued) == (overflow == .fail))
            _ = session.opened()
            guard case .flush(let messages) = session.hookFinished(at: .zero) else { return (refused, [], -1) }
            return (refused, messages, session.queue.dropped)
        }
        #expect(flushed(.fail) == (true, ["a", "b"], 0))
        #expect(flushed(.dropNewest) == (false, ["a", "b"], 2))
        #expect(flushed(.dropOldest) == (false, [], 4))  // the large message displaced all others and did not fit either
    }

    @Test func nothingWaitsInAQueueOfNone() {
        var session = self.machine(queue: .init(maximumMessages: 0))
        guard case .refuse(let error) = session.send("a") else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == .queueFull)
        #expect(session.state == .idle)
    }

    @Test mutating func aUsersCloseInEveryState() {
        var session = self.machine()
        #expect(session.closeRequested() == .cancel)
        #expect(session.state == .closedByUser)

        session = self.machine()
        _ = session.send("a")
        #expect(session.closeRequested() == .cancel)
        #expect(session.opened() == .abort)  // at the same time as the close
        #expect(session.lost(at: .zero, byPeer: false, decision: .retry, using: &self.dice) == .doNothing)
        #expect(session.connectRequested(again: true) == .connect)
        #expect(session.opened() == .runHook)
        #expect(session.hookFinished(at: .zero) == .flush([]))  // the close discarded the queue

        session = self.machine()
        _ = session.connectRequested(again: false)
        _ = session.opened()
        #expect(session.closeRequested() == .closeConnection)
        #expect(session.hookFinished(at: .zero) == .doNothing)
        #expect(session.lost(at: .zero, byPeer: true, decision: .retry, using: &self.dice) == .finish)
        #expect(session.state == .closedByUser)

        session = self.open()
        _ = session.lost(at: .zero, byPeer: false, decision: .retry, using: &self.dice)
        #expect(session.closeRequested() == .cancel)
        #expect(session.timerFired() == .doNothing)
        #expect(session.routeFound() == .doNothing)
        guard case .refuse(let error) = session.send("late") else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == .closed)
    }

    @Test mutating func endsThatAreNotTheUsers() {
        var session = self.open()
        #expect(session.lost(at: .zero, byPeer: true, decision: .giveUp, using: &self.dice) == .finish)
        #expect(session.state == .closedByPeer)

        session = self.open(.none)
        #expect(session.lost(at: .zero, byPeer: false, decision: .retry, using: &self.dice) == .finish)
        #expect(session.state == .failed)
        #expect(session.connectRequested(again: false) == .doNothing)
        #expect(session.connectRequested(again: true) == .connect)
    }

    @Test mutating func attemptsAreCounted() {
        var session = self.machine(.fixed(.seconds(1), maximumAttempts: 2))
        _ = session.connectRequested(again: false)
        for attempt in 1...2 {
            #expect(
                session.lost(at: .zero, byPeer: false, decision: .retry, using: &self.dice) == .retry(after: .seconds(1), attempt: attempt))
            #expect(session.timerFired() == .connect)
        }
        #expect(session.lost(at: .zero, byPeer: false, decision: .retry, using: &self.dice) == .finish)
        #expect(session.state == .failed)
    }

    @Test mutating func theNetworkGoesAndReturns() {
        var session = self.open()
        #expect(session.routeLost() == .doNothing)  // the heartbeat detects it
        #expect(session.lost(at: .zero, byPeer: false, decision: .retry, using: &self.dice) == .waitForRoute)
        #expect(session.state == .waitingToReconnect)
        #expect(session.routeFound() == .connect)
        #expect(session.state == .connecting)
        #expect(session.opened() == .runHook)
        #expect(session.hookFinished(at: .zero) == .flush([]))
        #expect(session.routeFound() == .probe)
        _ = session.lost(at: .zero, byPeer: false, decision: .retry, using: &self.dice)
        #expect(session.routeLost() == .cancelTimer)
        #expect(session.timerFired() == .doNothing)
        #expect(session.routeFound() == .connect)
    }

    @Test func withoutANetworkTheFirstAttemptWaits() {
        var session = self.machine()
        #expect(session.routeLost() == .doNothing)
        #expect(session.connectRequested(again: false) == .doNothing)
        #expect(session.state == .waitingToReconnect)
        #expect(session.routeFound() == .connect)
    }

    @Test(arguments: [
        (WebSocketError(.timeout, message: ""), RetryDecision.retry),
        (WebSocketError(.connectionLost, message: ""), .retry),
        (WebSocketError(.invalidURL, message: ""), .giveUp),
        (WebSocketError(.connectionRefused, message: "", refusal: .init(status: 503, body: [])), .retry),
        (WebSocketError(.connectionRefused, message: "", refusal: .init(status: 401, body: [])), .giveUp),
        (
            WebSocketError(.connectionRefused, message: "", refusal: .init(status: 429, headers: [.retryAfter: "7"], body: [])),
            .retryAfter(.seconds(7))
        ),
        (
            WebSocketError(.connectionRefused, message: "", refusal: .init(status: 503, headers: [.retryAfter: "999999999999"], body: [])),
            .retryAfter(RetryDecision.maximumDelay)
        ),
    ])
    func theCauseDecides(error: WebSocketError, decision: RetryDecision) {
        #expect(WebSocketSession.Loss.attempt(error).defaultDecision == decision)
    }

    @Test(
        arguments: [(1000, RetryDecision.giveUp), (1001, .retry), (1008, .giveUp), (1012, .retry), (3000, .giveUp), (4000, .retry)]
            as [(UInt16, RetryDecision)])
    func theCloseCodeDecides(code: UInt16, decision: RetryDecision) {
        let closure = WebSocketClosure(code: .init(rawValue: code), reason: "", wasClean: true, initiator: .peer, error: nil)
        #expect(WebSocketSession.Loss.connection(closure).defaultDecision == decision)
    }
}
