import Testing

@testable import ApusConnectivity

@Suite struct ReconnectionStateMachineTests {
    var generator = SystemRandomNumberGenerator()

    @Test mutating func countsTheAttemptsAndForgetsThemWhenOpen() {
        var machine = ReconnectionStateMachine(policy: .exponential(from: .seconds(1), to: .seconds(5), jitter: 0))
        #expect(machine.start() == .connect)
        #expect(machine.start() == .doNothing)
        #expect(machine.lost(using: &self.generator) == .retry(after: .seconds(1), attempt: 1))
        #expect(machine.lost(using: &self.generator) == .doNothing)
        #expect(machine.timerFired() == .connect(attempt: 1))
        #expect(machine.lost(using: &self.generator) == .retry(after: .seconds(2), attempt: 2))
        #expect(machine.timerFired() == .connect(attempt: 2))
        #expect(machine.opened() == .reconnected(attempts: 2))
        #expect(machine.opened() == .doNothing)
        #expect(machine.lost(using: &self.generator) == .retry(after: .seconds(1), attempt: 1))
    }

    @Test mutating func givesUpAndCanStartAgain() {
        var machine = ReconnectionStateMachine(policy: .fixed(.seconds(1), maximumAttempts: 1))
        #expect(machine.start() == .connect)
        #expect(machine.lost(using: &self.generator) == .retry(after: .seconds(1), attempt: 1))
        #expect(machine.timerFired() == .connect(attempt: 1))
        #expect(machine.lost(using: &self.generator) == .giveUp)
        #expect(!machine.isActive)
        #expect(machine.start() == .connect)
        #expect(machine.opened() == .connected)
    }

    @Test mutating func afterStopNothingHappens() {
        var machine = ReconnectionStateMachine(policy: .socketIO)
        _ = machine.start()
        _ = machine.lost(using: &self.generator)
        machine.stop()
        #expect(machine.timerFired() == .doNothing)
        #expect(machine.lost(using: &self.generator) == .doNothing)
        #expect(machine.opened() == .doNothing)
    }
}
