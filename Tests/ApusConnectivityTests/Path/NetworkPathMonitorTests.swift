import NIOConcurrencyHelpers
import Testing

@testable import ApusConnectivity

@Suite(.timeLimit(.minutes(5))) struct NetworkPathMonitorTests {
    /// A source controlled by a test.
    private final class World: Sendable {
        struct Source: NetworkPathMonitor.Source {
            let world: World
            func stop() { self.world.stops.withLockedValue { $0 += 1 } }
        }

        let reports = NIOLockedValueBox<[@Sendable (NetworkPath) -> Void]>([])
        let stops = NIOLockedValueBox(0)

        func monitor() -> NetworkPathMonitor {
            NetworkPathMonitor { report in
                self.reports.withLockedValue { $0.append(report) }
                return Source(world: self)
            }
        }

        func report(_ path: NetworkPath, source: Int = 0) { self.reports.withLockedValue { $0 }[source](path) }
    }

    private let up = NetworkPath(isSatisfied: true, hasDefaultRoute: true, fingerprint: "up")
    private let down = NetworkPath(isSatisfied: false, hasDefaultRoute: false, fingerprint: "")

    @Test func oneSourceRunsOnlyWhileThereAreListeners() {
        let world = World()
        let monitor = world.monitor()
        #expect(monitor.current == nil)
        let (one, two) = (NIOLockedValueBox<[NetworkPath]>([]), NIOLockedValueBox<[NetworkPath]>([]))
        let first = monitor.listen { path in one.withLockedValue { $0.append(path) } }
        world.report(self.up)
        let second = monitor.listen { path in two.withLockedValue { $0.append(path) } }
        world.report(self.up)  // unchanged
        world.report(self.down)
        #expect(one.withLockedValue { $0 } == [self.up, self.down])
        #expect(two.withLockedValue { $0 } == [self.up, self.down])
        #expect(monitor.current == self.down)
        #expect(world.reports.withLockedValue { $0.count } == 1)
        first.cancel()
        first.cancel()
        #expect(world.stops.withLockedValue { $0 } == 0)
        second.cancel()
        #expect(world.stops.withLockedValue { $0 } == 1)
        #expect(monitor.current == nil)
        world.report(self.up)  // from the stopped source
        #expect(monitor.current == nil)
        let third = monitor.listen { _ in }
        world.report(self.up, source: 1)
        #expect(monitor.current == self.up)
        third.cancel()
    }

    @Test func theSequenceReturnsTheNewest() async {
        let world = World()
        let monitor = world.monitor()
        do {
            var paths = monitor.paths.makeAsyncIterator()
            world.report(self.down)
            world.report(self.up)
            #expect(await paths.next() == self.up)
            world.report(self.down)
            #expect(await paths.next() == self.down)
        }
        #expect(world.stops.withLockedValue { $0 } == 1)
    }

    #if os(Linux)
        @Test func thisMachineHasAPath() async {
            var paths = NetworkPathMonitor().paths.makeAsyncIterator()
            #expect(await paths.next() != nil)
        }

        /// Takes an interface down and up in a separate network namespace.
        @Test(.enabled(if: NetworkNamespace.isAvailable, "needs root, iproute2 and the right to make a network namespace"))
        func anInterfaceGoesAndComes() async throws {
            let namespace = NetworkNamespace()
            defer { namespace.end() }
            let monitor = NetworkPathMonitor { report in
                NetlinkPathSource(openSocket: { try namespace.run { try NetlinkSocket.open() } }, report: report)
            }
            var paths = monitor.paths.makeAsyncIterator()
            func next(_ isWanted: (NetworkPath) -> Bool) async -> NetworkPath? {
                while let path = await paths.next() {
                    if isWanted(path) { return path }
                }
                return nil
            }
            #expect(await paths.next()?.isSatisfied == false)
            try namespace.ip(
                "link set lo up", "link add a0 type veth peer name b0", "link set b0 up", "addr add 10.9.8.7/24 dev a0", "link set a0 up")
            #expect(await next { $0.isSatisfied }?.hasDefaultRoute == false)
            try namespace.ip("route add default via 10.9.8.1")
            let first = await next { $0.hasDefaultRoute }
            #expect(first?.fingerprint.contains("10.9.8.1") == true)
            try namespace.ip("link set b0 down")  // as if the cable were unplugged
            #expect(await next { !$0.isSatisfied } != nil)
            try namespace.ip("link set b0 up")
            #expect(await next { $0.isSatisfied } != nil)
            try namespace.ip("link set a0 down")  // the kernel removes the route without a notification
            #expect(await next { !$0.isSatisfied } != nil)
            try namespace.ip("link set a0 up")
            #expect(await next { $0.isSatisfied }?.hasDefaultRoute == false)
            try namespace.ip("route add default via 10.9.8.2")  // another network
            let second = await next { $0.hasDefaultRoute }
            #expect(second != nil && second != first)
        }
    #endif
}
