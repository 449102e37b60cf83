import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix

/// Counts the deliveries in transit between the event loops of a server. A loop that sends faster
/// than another loop delivers must wait.
package final class DeliveryBacklog: Sendable {
    /// The number of deliveries in transit above which a loop defers its work.
    package static let maximumDeliveries = 2 * EventLoopTurn.maximumDeliveries

    private let inTransit = NIOLockedValueBox(0)

    package init() {}

    /// Whether the number of deliveries in transit is within the maximum.
    package var hasRoom: Bool { self.inTransit.withLockedValue { $0 <= Self.maximumDeliveries } }

    /// Counts deliveries passed to another loop. Returns whether too many are in transit.
    package func handOver(_ count: Int) -> Bool {
        self.inTransit.withLockedValue { inTransit in
            inTransit += count
            return inTransit > Self.maximumDeliveries
        }
    }

    /// Records that `count` deliveries were made and that their loop has polled its sockets since.
    package func delivered(_ count: Int) { self.inTransit.withLockedValue { $0 -= count } }

    /// Sends to connections of an event loop: immediately if called on that loop, else in its next
    /// turn, in the order of the calls.
    ///
    /// - Parameters:
    ///   - count: The number of connections.
    ///   - eventLoop: The event loop of the connections.
    ///   - turn: Returns the turn of an event loop. Called on that loop.
    ///   - body: Sends to the connections.
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
        // Only event loops can wait here; other threads cannot.
        if isTooMuch, let own = MultiThreadedEventLoopGroup.currentEventLoop { turn(own).fill() }
    }
}
