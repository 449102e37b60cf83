import ApusEngineIOProtocol
import Testing

@Suite struct EngineIOHeartbeatStateMachineTests {
    private func makeHeartbeat() -> EngineIOHeartbeatStateMachine {
        EngineIOHeartbeatStateMachine(sendsPings: true, pingInterval: .seconds(25), pingTimeout: .seconds(20))
    }

    @Test func answeredPingsContinueForever() {
        var heartbeat = self.makeHeartbeat()
        #expect(heartbeat.firstTimer == .seconds(25))
        for _ in 0..<3 {
            #expect(heartbeat.timerFired() == .sendPing(thenTimerAfter: .seconds(20)))
            #expect(heartbeat.receivedPong() == .restartTimer(after: .seconds(25)))
        }
    }

    @Test func silentClientIsClosedAfterOnePingTimeout() {
        var heartbeat = self.makeHeartbeat()
        #expect(heartbeat.timerFired() == .sendPing(thenTimerAfter: .seconds(20)))
        #expect(heartbeat.timerFired() == .closeSession(.pingTimeout))
        #expect(heartbeat.timerFired() == .doNothing)
        #expect(heartbeat.receivedPong() == .doNothing)
    }

    /// The pong is behind messages that wait until the peer has drained its queue.
    @Test(arguments: [true, false]) func aDrainingPeerHasMoreTime(sendsPings: Bool) {
        var heartbeat = EngineIOHeartbeatStateMachine(sendsPings: sendsPings, pingInterval: .seconds(25), pingTimeout: .seconds(20))
        if sendsPings { #expect(heartbeat.timerFired() == .sendPing(thenTimerAfter: .seconds(20))) }
        for _ in 0..<3 {
            #expect(heartbeat.timerFired() == .closeSession(.pingTimeout))
            #expect(heartbeat.extendDeadline() == .seconds(sendsPings ? 20 : 45))
        }
        if sendsPings { #expect(heartbeat.receivedPong() == .restartTimer(after: .seconds(25))) }
        if !sendsPings { #expect(heartbeat.receivedPing() == .restartTimer(after: .seconds(45))) }
    }

    @Test func unsolicitedPongIsIgnored() {
        var heartbeat = self.makeHeartbeat()
        #expect(heartbeat.receivedPong() == .doNothing)
        #expect(heartbeat.timerFired() == .sendPing(thenTimerAfter: .seconds(20)))
    }

    @Test func stoppedIsFinal() {
        var heartbeat = self.makeHeartbeat()
        heartbeat.stop()
        #expect(heartbeat.timerFired() == .doNothing)
        #expect(heartbeat.receivedPong() == .doNothing)
    }

    @Test func theReceivingSideWaitsForPings() {
        var heartbeat = EngineIOHeartbeatStateMachine(sendsPings: false, pingInterval: .seconds(25), pingTimeout: .seconds(20))
        #expect(heartbeat.firstTimer == .seconds(45))
        for _ in 0..<3 { #expect(heartbeat.receivedPing() == .restartTimer(after: .seconds(45))) }
        #expect(heartbeat.receivedPong() == .doNothing)
        #expect(heartbeat.timerFired() == .closeSession(.pingTimeout))
        #expect(heartbeat.receivedPing() == .doNothing)
    }
}
