import ApusConnectivity
import ApusEventLoop
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@Suite struct ReconnectorTests {
    private final class Source: NetworkPathMonitor.Source {
        let isStopped = NIOLockedValueBox(false)
        func stop() { self.isStopped.withLockedValue { $0 = true } }
    }

    private let loop = EmbeddedEventLoop()

    /// Returns a reconnector with a constant delay of one second, and its calls of the callbacks.
    private func make(network: Reconnector.Network? = nil) -> (Reconnector, attempts: () -> [Int], probes: () -> Int) {
        var attempts: [Int] = []
        var probes = 0
        let reconnector = Reconnector(policy: .fixed(.seconds(1), maximumAttempts: 3), network: network, on: self.loop)
        reconnector.onAttempt = { attempts.append($0) }
        reconnector.onRouteChange = { probes += 1 }
        return (reconnector, { attempts }, { probes })
    }

    @Test func theTimerMakesTheAttempts() {
        let (reconnector, attempts, _) = self.make()
        #expect(reconnector.start() == .connect)
        #expect(reconnector.lost() == .retry(after: .seconds(1), attempt: 1))
        self.loop.advanceTime(by: .milliseconds(999))
        #expect(attempts() == [])
        self.loop.advanceTime(by: .milliseconds(1))
        #expect(attempts() == [1])
        #expect(reconnector.opened() == .reconnected(attempts: 1))
        self.loop.advanceTime(by: .seconds(10))  // stable
        #expect(reconnector.lost() == .retry(after: .seconds(1), attempt: 1))
        reconnector.stop()
        self.loop.advanceTime(by: .seconds(10))
        #expect(attempts() == [1])
        #expect(!reconnector.isActive)
    }

    @Test func aWaitEndsOnRequest() {
        let (reconnector, attempts, _) = self.make()
        #expect(reconnector.start() == .connect)
        reconnector.retryNow()
        #expect(attempts() == [])  // an attempt is in progress
        _ = reconnector.lost()
        reconnector.retryNow()
        self.loop.advanceTime(by: .seconds(10))
        #expect(attempts() == [1])
    }

    @Test func itGivesUp() {
        let source = Source()
        let monitor = NetworkPathMonitor { _ in source }
        let (reconnector, attempts, _) = self.make(network: .init(monitor, host: "example.com"))
        #expect(reconnector.start() == .connect)
        for _ in 1...3 {
            _ = reconnector.lost()
            self.loop.advanceTime(by: .seconds(1))
        }
        #expect(!source.isStopped.withLockedValue { $0 })
        #expect(reconnector.lost() == .giveUp)
        #expect(attempts() == [1, 2, 3])
        #expect(source.isStopped.withLockedValue { $0 })
    }

    @Test func theNetworkPausesAndResumesTheAttempts() throws {
        let reports = NIOLockedValueBox<(@Sendable (NetworkPath) -> Void)?>(nil)
        let monitor = NetworkPathMonitor { report in
            reports.withLockedValue { $0 = report }
            return Source()
        }
        let (reconnector, attempts, probes) = self.make(network: .init(monitor, host: "example.com"))
        func report(_ isSatisfied: Bool, _ fingerprint: String) throws {
            let report = try #require(reports.withLockedValue { $0 })
            report(NetworkPath(isSatisfied: isSatisfied, hasDefaultRoute: isSatisfied, fingerprint: fingerprint))
            self.loop.run()
        }
        #expect(reconnector.start() == .connect)
        try report(true, "a")
        #expect(reconnector.opened() == .connected)
        try report(true, "b")
        #expect(probes() == 1)
        // The route is lost during a wait, which then has no timer.
        _ = reconnector.lost()
        try report(false, "")
        self.loop.advanceTime(by: .seconds(10))
        #expect(attempts() == [])
        try report(true, "a")
        #expect(attempts() == [1])
        // The connection is lost while there is no route.
        try report(false, "")
        #expect(reconnector.lost() == .waitForRoute(attempt: 2))
        try report(true, "c")
        #expect(attempts() == [1, 1])
        // A stop forgets the network.
        try report(false, "")
        reconnector.stop()
        #expect(reconnector.start() == .connect)
    }
}
