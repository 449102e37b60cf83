import ApusConnectivity
import ApusEventLoop
@testable import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import Testing

@Suite struct WebSocketSessionStateMachineTests {
    private func machine(queue: WebSocketSendQueue = .init(maximumMessages: 2)) -> WebSocketSessionStateMachine {
        WebSocketSessionStateMachine(queue: queue)
    }

    private func open() -> WebSocketSessionStateMachine {
        var session = self.machine()
        #expect(session.connectRequested(again: false) == .start)
        #expect(session.attemptStarted() == true)
        #expect(session.opened() == .runHook)
        #expect(session.hookFinished() == .flush([]))
        return session
    }

    @Test func theStatesOfASessionFollowEachOther() {
        var session = self.machine()
        #expect(session.state == .idle)
        #expect(session.attemptStarted() == false)
        #expect(session.connectRequested(again: false) == .start)
        #expect(session.state == .waitingToReconnect)
        #expect(session.attemptStarted() == true)
        #expect(session.attemptStarted() == false)
        #expect(session.state == .connecting)
        #expect(session.connectRequested(again: true) == .doNothing)
        #expect(session.opened() == .runHook)
        #expect(session.state == .connecting)
        #expect(session.hookFinished() == .flush([]))
        #expect(session.state == .open)
        #expect(session.lost(byPeer: false, willRetry: true) == .wait)
        #expect(session.state == .waitingToReconnect)
        #expect(session.attemptStarted() == true)
        #expect(session.lost(byPeer: false, willRetry: true) == .wait)
        #expect(session.attemptStarted() == true)
        #expect(session.opened() == .runHook)
        #expect(session.hookFinished() == .flush([]))
        #expect(session.closeRequested() == .closeConnection)
        #expect(session.state == .closing)
        #expect(session.closeRequested() == .doNothing)
        #expect(session.connectRequested(again: true) == .doNothing)
        #expect(session.lost(byPeer: false, willRetry: false) == .finish)
        #expect(session.state == .closedByUser)
        #expect(session.lost(byPeer: false, willRetry: false) == .doNothing)
    }

    @Test func waitingMessagesAreSentAfterTheHook() {
        var session = self.machine()
        #expect(session.send("a") == .queuedAndStart)
        #expect(session.attemptStarted() == true)
        #expect(session.opened() == .runHook)
        #expect(session.send("b") == .queued)
        #expect(session.hookFinished() == .flush(["a", "b"]))
        #expect(session.send("c") == .send)
        _ = session.lost(byPeer: false, willRetry: true)
        #expect(session.send("d") == .queued)
    }

    @Test func aFullQueueFollowsItsPolicy() {
        func flushed(_ overflow: WebSocketSendQueue.Overflow) -> (refused: Bool, messages: [WebSocketMessage], dropped: Int) {
            var session = self.machine(queue: .init(maximumMessages: 2, maximumBytes: 10, overflow: overflow))
            #expect(session.send("a") == .queuedAndStart)
            #expect(session.send("b") == .queued)
            var refused = false
            if case .refuse(let error) = session.send("c") {
                #expect(error.code == .queueFull)
                refused = true
            }
            let large = session.send("a message larger than the queue")
            #expect((large != .queued) == (overflow == .fail))
            _ = session.attemptStarted()
            _ = session.opened()
            guard case .flush(let messages) = session.hookFinished() else { return (refused, [], -1) }
            return (refused, messages, session.droppedMessages)
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

    @Test func aUsersCloseInEveryState() {
        var session = self.machine()
        #expect(session.closeRequested() == .cancel)
        #expect(session.state == .closedByUser)

        session = self.machine()
        _ = session.send("a")
        _ = session.attemptStarted()
        #expect(session.closeRequested() == .cancel)
        #expect(session.opened() == .abort)  // at the same time as the close
        #expect(session.lost(byPeer: false, willRetry: false) == .doNothing)
        #expect(session.connectRequested(again: true) == .start)
        #expect(session.attemptStarted() == true)
        #expect(session.opened() == .runHook)
        #expect(session.hookFinished() == .flush([]))  // the close discarded the queue

        session = self.machine()
        _ = session.connectRequested(again: false)
        _ = session.attemptStarted()
        _ = session.opened()
        #expect(session.closeRequested() == .closeConnection)
        #expect(session.hookFinished() == .doNothing)
        #expect(session.lost(byPeer: true, willRetry: false) == .finish)
        #expect(session.state == .closedByUser)

        session = self.open()
        _ = session.lost(byPeer: false, willRetry: true)
        #expect(session.closeRequested() == .cancel)
        #expect(session.attemptStarted() == false)
        guard case .refuse(let error) = session.send("late") else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == .closed)
    }

    @Test func endsThatAreNotTheUsers() {
        var session = self.open()
        #expect(session.lost(byPeer: true, willRetry: false) == .finish)
        #expect(session.state == .closedByPeer)

        session = self.open()
        #expect(session.lost(byPeer: false, willRetry: false) == .finish)
        #expect(session.state == .failed)
        #expect(session.connectRequested(again: false) == .doNothing)
        #expect(session.connectRequested(again: true) == .start)
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
        (WebSocketError(.connectionRefused, message: "", refusal: .init(status: 429, headers: [.retryAfter: "+7"], body: [])), .retry),
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
