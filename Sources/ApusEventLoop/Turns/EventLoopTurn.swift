import DequeModule
package import NIOCore

/// Work that can be suspended between two of its steps.
package protocol EventLoopWorker: AnyObject {
    /// Resumes the work. The worker defers itself again if the turn is full before the work is
    /// done.
    func resumeWork()
}

/// Limits the deliveries of an event loop between two polls of its sockets, so that the burst of
/// one connection does not delay the others.
///
/// Deferred work resumes after the loop has polled its sockets (``EventLoopWakeup``). Connections
/// that send little are resumed first.
///
/// Confined to its event loop.
@usableFromInline
package final class EventLoopTurn {
    /// The maximum number of deliveries in one turn, each to one connection. They take about 5 ms.
    package static let maximumDeliveries = 4096
    /// The number of deliveries below which a worker is light. Light workers resume before the
    /// others and make no more than this number of deliveries in a turn.
    package static let lightDeliveries = 256

    /// The variables that each delivery uses.
    @usableFromInline
    struct Hot {
        /// The number of deliveries in this turn.
        @usableFromInline var deliveries = 0
        /// The number of deliveries at which the turn, or the share of the resumed worker, is full.
        @usableFromInline var limit = EventLoopTurn.maximumDeliveries
    }

    /// Exclusivity is unchecked: each access is one statement that calls nothing.
    @exclusivity(unchecked) @usableFromInline var hot = Hot()
    private var lightWorkers: Deque<any EventLoopWorker> = []
    private var heavyWorkers: Deque<any EventLoopWorker> = []
    private let backlog: DeliveryBacklog?
    /// The number of deliveries received from other loops and made since the last poll of the
    /// sockets.
    private var settled = 0
    private var wakeup: EventLoopWakeup?
    private var isRung = false
    /// Flushes the collected writes. Called after the light workers, and again after the other
    /// workers.
    package var flush: () -> Void = {}

    /// - Parameter backlog: The deliveries in transit between the loops of a server; `nil` without
    ///   a server.
    package init(backlog: DeliveryBacklog? = nil) {
        self.backlog = backlog
    }

    /// The number of deliveries in this turn.
    @inlinable package var deliveries: Int { self.hot.deliveries }

    /// Whether further work must be deferred to a later turn.
    @inlinable
    package var isFull: Bool { self.hot.deliveries >= self.hot.limit }

    /// Counts a message sent to one connection.
    @inlinable
    package func delivered() { self.hot.deliveries &+= 1 }

    /// Ends the turn, unless work was deferred or ``settle(_:on:)`` was called: then it ends after
    /// the next poll.
    package func ended() {
        if !self.isRung { self.hot.deliveries = 0 }
    }

    /// Defers a worker to a later turn.
    ///
    /// - Parameter isLight: Whether the worker recently made fewer than ``lightDeliveries``
    ///   deliveries.
    package func deferWork(_ worker: any EventLoopWorker, isLight: Bool, on eventLoop: any EventLoop) {
        if isLight { self.lightWorkers.append(worker) } else { self.heavyWorkers.append(worker) }
        self.schedule(on: eventLoop)
    }

    // MARK: Deliveries between event loops

    /// Marks the turn as full, because the other loops have not made the deliveries that were
    /// passed to them.
    package func fill() { self.hot.deliveries = max(self.hot.deliveries, Self.maximumDeliveries) }

    /// Records deliveries that were received from another loop and made.
    package func settle(_ count: Int, on eventLoop: any EventLoop) {
        self.settled += count
        self.schedule(on: eventLoop)
    }

    // MARK: Resuming

    private func schedule(on eventLoop: any EventLoop) {
        guard !self.isRung else { return }
        self.isRung = true
        let wakeup = self.wakeup ?? EventLoopWakeup(on: eventLoop) { [weak self] in self?.resume(on: eventLoop) }
        self.wakeup = wakeup
        wakeup.ring()
    }

    private func resume(on eventLoop: any EventLoop) {
        guard self.isRung else { return }
        self.isRung = false
        self.backlog?.delivered(self.settled)
        self.settled = 0
        self.hot.deliveries = 0
        // Resumes only the workers that wait now: a worker that defers itself again waits for the
        // next turn.
        self.run(\.lightWorkers, share: Self.lightDeliveries)
        self.flush()
        if self.backlog?.hasRoom ?? true { self.run(\.heavyWorkers, share: Self.maximumDeliveries / 4) }
        self.hot.limit = Self.maximumDeliveries
        self.flush()
        if !self.lightWorkers.isEmpty || !self.heavyWorkers.isEmpty { self.schedule(on: eventLoop) }
    }

    private func run(_ workers: ReferenceWritableKeyPath<EventLoopTurn, Deque<any EventLoopWorker>>, share: Int) {
        var rest = self[keyPath: workers].count
        while rest > 0, self.hot.deliveries < Self.maximumDeliveries, let worker = self[keyPath: workers].popFirst() {
            rest -= 1
            self.hot.limit = min(Self.maximumDeliveries, self.hot.deliveries + share)
            worker.resumeWork()
        }
    }
}

@available(*, unavailable)
extension EventLoopTurn: Sendable {}
