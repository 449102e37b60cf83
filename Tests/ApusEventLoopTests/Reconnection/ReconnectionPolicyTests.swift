import ApusEventLoop
import Testing

/// A generator that always returns the same number: 0 is the minimum, `.max` the maximum.
struct ConstantGenerator: RandomNumberGenerator {
    var value: UInt64
    mutating func next() -> UInt64 { self.value }
}

@Suite struct ReconnectionPolicyTests {
    private func delays(_ policy: ReconnectionPolicy, roll: UInt64 = 0, attempts: ClosedRange<Int> = 1...5) -> [Duration?] {
        var generator = ConstantGenerator(value: roll)
        return attempts.map { policy.delay(forAttempt: $0, using: &generator) }
    }

    @Test func noneGivesUpImmediately() {
        #expect(self.delays(.none, attempts: 1...2) == [nil, nil])
    }

    @Test func fixedStaysAndEnds() {
        #expect(self.delays(.fixed(.seconds(3), maximumAttempts: 2), attempts: 1...3) == [.seconds(3), .seconds(3), nil])
    }

    @Test func exponentialDoublesToTheBound() {
        let policy = ReconnectionPolicy.exponential(from: .seconds(1), to: .seconds(5), jitter: 0)
        #expect(self.delays(policy) == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5)])
    }

    @Test func socketIOVariesByHalfEitherWay() {
        #expect(self.delays(.socketIO, roll: 0) == [.seconds(0.5), .seconds(1), .seconds(2), .seconds(2.5), .seconds(2.5)])
        #expect(self.delays(.socketIO, roll: .max) == [.seconds(1.5), .seconds(3), .seconds(6), .seconds(7.5), .seconds(7.5)])
        var generator = SystemRandomNumberGenerator()
        for attempt in 1...1000 {
            let delay = ReconnectionPolicy.socketIO.delay(forAttempt: attempt, using: &generator) ?? .zero
            #expect(delay >= .seconds(0.5) && delay <= .seconds(7.5))
        }
    }

    @Test func aMillionthAttemptDoesNotOverflow() {
        let policy = ReconnectionPolicy.exponential(from: .milliseconds(1), to: .seconds(60), factor: 1e300, jitter: 0)
        #expect(self.delays(policy, attempts: 1_000_000...1_000_000) == [.seconds(60)])
        #expect(self.delays(policy, attempts: Int.max...Int.max) == [.seconds(60)])
        let slow = ReconnectionPolicy.exponential(from: .zero, to: .seconds(60), jitter: 0)
        #expect(self.delays(slow, attempts: Int.max...Int.max) == [.zero])
    }

    @Test func valuesOutOfRangeAreClamped() {
        #expect(self.delays(.fixed(.seconds(-1)), attempts: 1...1) == [.zero])
        let policy = ReconnectionPolicy.exponential(from: .seconds(4), to: .seconds(1), factor: .nan, jitter: -3)
        #expect(self.delays(policy, attempts: 1...2) == [.seconds(4), .seconds(4)])
        #expect(self.delays(policy, attempts: -3...0).allSatisfy { $0 == .seconds(4) })
    }

    @Test func thePresets() {
        #expect(self.delays(.doubling, attempts: 1...9) == [0, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
        #expect(self.delays(.fiveTimes, attempts: 1...6) == Array(repeating: .seconds(1), count: 5) + [nil])
    }

    @Test func listedDelaysRepeatTheLast() {
        #expect(self.delays(.delays([.seconds(3), .seconds(-1)], jitter: 0)) == [.seconds(3), .zero, .zero, .zero, .zero])
        #expect(self.delays(.delays([.seconds(4)], jitter: 0.5), roll: .max, attempts: Int.max...Int.max) == [.seconds(6)])
        #expect(ReconnectionPolicy.delays([]) == .none)
        #expect(ReconnectionPolicy.fixed(.zero, stableTime: .seconds(-1)).stableTime == .zero)
    }

    @Test func theErrorDecides() {
        #expect(RetryDecision(classifying: nil) == .retry)
        #expect(RetryDecision(classifying: CancellationError()) == .retry)
        struct Useless: RetryClassifiable { var retryDecision: RetryDecision { .giveUp } }
        #expect(RetryDecision(classifying: Useless()) == .giveUp)
    }

    @Test func aFactorJustAboveOneEnds() {
        // The maximum delay ends the loop, regardless of the number of the attempt.
        let policy = ReconnectionPolicy.exponential(from: .seconds(1), to: .seconds(2), factor: 1.01, jitter: 0)
        #expect(self.delays(policy, attempts: 10_000...10_000) == [.seconds(2)])
    }
}
