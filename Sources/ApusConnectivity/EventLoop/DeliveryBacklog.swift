import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix

/// Counts the deliveries on their way from the event loops of a server to others, so that a loop that sends faster than another delivers waits.
package final class DeliveryBacklog: Sendable {
    /// Above this nothing more is handed over by a loop that can wait.
    package static let maximumDeliveries = 2 * EventLoopTurn.maximumDeliveries

    private let underWay = NIOLockedValueBox(0)

    package init() {}

    package var hasRoom: Bool { self.underWay.withLockedValue { $0 <= Self.maximumDeliveries } }

    /// Deliveries leave for another loop. Returns whether there are too many under way.
    package func handOver(_ count: Int) -> Bool {
        self.underWay.withLockedValue { underWay in
            underWay += count
            return underWay > Self.maximumDeliveries
        }
    }

    /// So many are done, and their loop has looked at its sockets since.
    package func delivered(_ count: Int) { self.underWay.withLockedValue { $0 -= count } }

    /// Sends to connections of an event loop: now when on it, else at its next turn, in the order of the calls.
    ///
    /// - Parameters:
    ///   - count: The number of connections.
    ///   - eventLoop: Their event loop.
    ///   - turn: The turn of an event loop, asked for on that loop.
    ///   - body: Sends.
    package func deliver(
        _ count: Int, on eventLoop: any EventLoop, turn: @escaping @Sendable (any EventLoop) -> EventLoopTurn,
        _ body: @escaping @Sendable () -> Void
    ) {
        guard !eventLoop.inEventLoop else { return body() }
        let isTooMuch = self.handOver(count)
        eventLoop.execute {
            body()
            turn(eventLoop).settle(count, on: eventLoop)
        }
        // A thread that is no event loop's cannot be slowed down here.
        if isTooMuch, let own = MultiThreadedEventLoopGroup.currentEventLoop { turn(own).fill() }
    }
}
