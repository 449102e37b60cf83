import NIOConcurrencyHelpers
import Testing

@testable import ApusConnectivity

@Suite(.timeLimit(.minutes(1))) struct NetworkPathMonitorTests {
    /// A source that a test speaks for.
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

    @Test func itWatchesOnceForAllAndOnlyWhileSomebodyListens() {
        let world = World()
        let monitor = world.monitor()
        #expect(monitor.current == nil)
        let (one, two) = (NIOLockedValueBox<[NetworkPath]>([]), NIOLockedValueBox<[NetworkPath]>([]))
        let first = monitor.listen { path in one.withLockedValue { $0.append(path) } }
        world.report(self.up)
        let second = monitor.listen { path in two.withLockedValue { $0.append(path) } }
        world.report(self.up)  // nothing new
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

    @Test func theSequenceGivesTheNewest() async {
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
    #endif
}
