@testable import ApusWebSocket
import HTTPTypes
import Testing

@Suite struct WebSocketHTTPStateMachineTests {
    private let ours = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/ws")
    private let foreign = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/page")

    @Test func theHandshakeIsDecidedAtItsEnd() {
        var machine = WebSocketHTTPStateMachine()
        #expect(machine.receivedHead(self.ours) == .startTimer)
        #expect(!machine.pausesReading)
        #expect(machine.receivedEnd() == .decide(self.ours, hasBody: false))
        #expect(machine.pausesReading)
        let decidedOnce = machine.decided()
        let decidedTwice = machine.decided()
        #expect(decidedOnce && !decidedTwice)
        #expect(!machine.pausesReading)
    }

    @Test func aForeignRequestIsPassedOnWhole() {
        var machine = WebSocketHTTPStateMachine()
        #expect(machine.receivedHead(nil) == .forward)
        #expect(machine.receivedBody() == .forward)
        #expect(machine.receivedEnd() == .forward)
        #expect(machine.answered() == .doNothing)
        #expect(machine.receivedHead(self.ours) == .startTimer)
        #expect(machine.receivedEnd() == .decide(self.ours, hasBody: false))
    }

    @Test func theHandshakeWaitsForEarlierResponses() {
        var machine = WebSocketHTTPStateMachine()
        for _ in 0..<2 {
            #expect(machine.receivedHead(nil) == .forward)
            #expect(machine.receivedEnd() == .forward)
        }
        #expect(machine.receivedHead(self.ours) == .startTimer)
        #expect(machine.receivedBody() == .doNothing)
        #expect(machine.receivedEnd() == .doNothing)
        #expect(machine.pausesReading)
        #expect(machine.answered() == .doNothing)
        #expect(machine.answered() == .decide(self.ours, hasBody: true))
    }

    @Test func requestsAfterTheUpgradeAreDropped() {
        var machine = WebSocketHTTPStateMachine()
        _ = machine.receivedHead(self.ours)
        _ = machine.receivedEnd()
        #expect(machine.receivedHead(nil) == .doNothing)
        #expect(machine.receivedEnd() == .doNothing)
    }

    @Test func theTimerRefusesAPendingRequestAndClosesAnIdleConnection() {
        var machine = WebSocketHTTPStateMachine()
        #expect(machine.timerFired() == .close)
        #expect(machine.timerFired() == .doNothing)
        machine = WebSocketHTTPStateMachine()
        _ = machine.receivedHead(self.ours)
        _ = machine.receivedEnd()
        #expect(machine.timerFired() == .refuse)
        let isInTime = machine.decided()
        #expect(!isInTime)  // the check finished too late
    }
}
