import Testing

@testable import ApusEventLoop

@Suite struct ReconnectionStateMachineTests {
    var generator = SystemRandomNumberGenerator()

    @Test mutating func countsTheAttemptsAndResetsTheCountWhenOpen() {
        var machine = ReconnectionStateMachine(policy: .exponential(from: .seconds(1), to: .seconds(5), jitter: 0, stableTime: .zero))
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

    @Test mutating func aConnectionMustBeStableToResetTheCount() {
        var machine = ReconnectionStateMachine(
            policy: .exponential(from: .seconds(1), to: .seconds(60), jitter: 0, stableTime: .seconds(5)))
        #expect(machine.start() == .connect)
        #expect(machine.opened(at: .seconds(100)) == .connected)
        #expect(machine.lost(at: .seconds(104), using: &self.generator) == .retry(after: .seconds(1), attempt: 1))
        #expect(machine.timerFired() == .connect(attempt: 1))
        #expect(machine.opened(at: .seconds(110)) == .reconnected(attempts: 1))
        #expect(machine.lost(at: .milliseconds(114_999), using: &self.generator) == .retry(after: .seconds(2), attempt: 2))
        #expect(machine.timerFired() == .connect(attempt: 2))
        #expect(machine.opened(at: .seconds(120)) == .reconnected(attempts: 2))
        #expect(machine.lost(at: .seconds(125), using: &self.generator) == .retry(after: .seconds(1), attempt: 1))
    }

    @Test mutating func aServerThatClosesImmediatelyDoesNotResetTheCount() {
        var machine = ReconnectionStateMachine(policy: .fiveTimes)
        #expect(machine.start() == .connect)
        for attempt in 1...5 {
            _ = machine.opened(at: .seconds(attempt))
            #expect(machine.lost(at: .seconds(attempt), using: &self.generator) == .retry(after: .seconds(1), attempt: attempt))
            #expect(machine.timerFired() == .connect(attempt: attempt))
        }
        _ = machine.opened(at: .seconds(6))
        #expect(machine.lost(at: .seconds(6), using: &self.generator) == .giveUp)
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

    @Test mutating func theCauseDecides() {
        var machine = ReconnectionStateMachine(policy: .fixed(.seconds(1)))
        _ = machine.start()
        #expect(machine.lost(decision: .retryAfter(.seconds(30)), using: &self.generator) == .retry(after: .seconds(30), attempt: 1))
        _ = machine.timerFired()
        #expect(machine.lost(decision: .retryAfter(.zero), using: &self.generator) == .retry(after: .seconds(1), attempt: 2))
        _ = machine.timerFired()
        #expect(machine.lost(decision: .retryAfter(.seconds(1 << 40)), using: &self.generator) == .retry(after: .seconds(600), attempt: 3))
        _ = machine.timerFired()
        #expect(machine.lost(decision: .giveUp, using: &self.generator) == .giveUp)
        #expect(machine.timerFired() == .doNothing)
    }

    @Test mutating func afterStopNothingHappens() {
        var machine = ReconnectionStateMachine(policy: .socketIO)
        _ = machine.start()
        _ = machine.lost(using: &self.generator)
        machine.stop()
        #expect(machine.timerFired() == .doNothing)
        #expect(machine.lost(using: &self.generator) == .doNothing)
        #expect(machine.opened() == .doNothing)
        #expect(machine.routeLost() == .doNothing)
        #expect(machine.routeFound() == .doNothing)
        #expect(!machine.isActive)
    }

    // MARK: The network

    @Test mutating func withoutARouteNothingIsTried() {
        var machine = ReconnectionStateMachine(policy: .exponential(from: .seconds(1), to: .seconds(60), jitter: 0))
        _ = machine.start()
        _ = machine.opened()
        #expect(machine.routeLost() == .doNothing)
        #expect(machine.lost(using: &self.generator) == .waitForRoute(attempt: 1))
        #expect(machine.isPaused && machine.isActive)
        #expect(machine.timerFired() == .doNothing)
        #expect(machine.lost(using: &self.generator) == .doNothing)
        #expect(machine.start() == .doNothing)
        #expect(machine.routeFound() == .connect(attempt: 1))
        #expect(machine.routeFound() == .doNothing)
        #expect(machine.opened() == .reconnected(attempts: 1))
    }

    @Test mutating func aWaitEndsWithAChangeOfTheRoute() {
        var machine = ReconnectionStateMachine(policy: .exponential(from: .seconds(1), to: .seconds(60), jitter: 0))
        _ = machine.start()
        for _ in 0..<5 {
            _ = machine.lost(using: &self.generator)
            _ = machine.timerFired()
        }
        #expect(machine.lost(using: &self.generator) == .retry(after: .seconds(32), attempt: 6))
        #expect(machine.routeLost() == .cancelTimer)
        #expect(machine.routeLost() == .doNothing)
        #expect(machine.routeFound() == .connect(attempt: 1))
        #expect(machine.lost(using: &self.generator) == .retry(after: .seconds(2), attempt: 2))
        #expect(machine.routeFound() == .connect(attempt: 1))  // another network: immediately
    }

    @Test mutating func aStartWithoutARouteWaitsForOne() {
        var machine = ReconnectionStateMachine(policy: .none)
        #expect(machine.routeLost() == .doNothing)
        #expect(machine.start() == .waitForRoute)
        #expect(machine.attempt == 0)
        #expect(machine.routeFound() == .connect(attempt: 0))
        #expect(machine.opened() == .connected)
        #expect(machine.lost(using: &self.generator) == .giveUp)
    }
}
