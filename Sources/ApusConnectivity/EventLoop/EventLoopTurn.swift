import DequeModule
package import NIOCore

/// Work that can be put off between two of its steps.
package protocol EventLoopWorker: AnyObject {
    /// Resumes the work. It asks again to be resumed when the turn is full before it is done.
    func resumeWork()
}

/// Bounds what an event loop sends between two looks at its sockets, so that the burst of one connection does not make the others wait.
///
/// Work that is put off is resumed when the loop has looked at its sockets (``EventLoopDoorbell``). Connections that send little go first.
///
/// Confined to its event loop.
@usableFromInline
package final class EventLoopTurn {
    /// The most deliveries of one turn, each to one connection. They take about 5 ms.
    package static let maximumDeliveries = 4096
    /// A worker that sent less before it had to wait goes before the others, and has no more than that in a turn.
    package static let lightDeliveries = 256

    /// The deliveries made in this turn.
    @exclusivity(unchecked) @usableFromInline package internal(set) var deliveries = 0
    /// The deliveries at which the turn, or the share of the worker that is resumed, is full.
    @exclusivity(unchecked) @usableFromInline var limit = EventLoopTurn.maximumDeliveries
    private var lightWorkers: Deque<any EventLoopWorker> = []
    private var heavyWorkers: Deque<any EventLoopWorker> = []
    private let backlog: DeliveryBacklog?
    /// Deliveries that other loops handed over, done since the last look at the sockets.
    private var settled = 0
    private var doorbell: EventLoopDoorbell?
    private var isRung = false
    /// Writes out what is gathered; called between the light workers and the others.
    package var flush: () -> Void = {}

    /// - Parameter backlog: What the loops of a server have under way to each other; `nil` for a connection that stands alone.
    package init(backlog: DeliveryBacklog? = nil) {
        self.backlog = backlog
    }

    /// Whether work that can be put off waits for the next turn.
    @inlinable
    package var isFull: Bool { self.deliveries >= self.limit }

    /// A message was sent to one connection.
    @inlinable
    package func delivered() { self.deliveries &+= 1 }

    /// The tasks of the turn run. What comes next is another turn, unless something was put off.
    package func ended() {
        if !self.isRung { self.deliveries = 0 }
    }

    /// Resumes a worker in a later turn.
    ///
    /// - Parameter isLight: Whether it sent less than ``lightDeliveries`` lately.
    package func putOff(_ worker: any EventLoopWorker, isLight: Bool, on eventLoop: any EventLoop) {
        if isLight { self.lightWorkers.append(worker) } else { self.heavyWorkers.append(worker) }
        self.schedule(on: eventLoop)
    }

    // MARK: Deliveries between event loops

    /// More was handed over to other loops than they have delivered: what can be put off waits.
    package func fill() { self.deliveries = max(self.deliveries, Self.maximumDeliveries) }

    /// Deliveries that another loop handed over are done.
    package func settle(_ count: Int, on eventLoop: any EventLoop) {
        self.settled += count
        self.schedule(on: eventLoop)
    }

    // MARK: Resuming

    private func schedule(on eventLoop: any EventLoop) {
        guard !self.isRung else { return }
        self.isRung = true
        let doorbell = self.doorbell ?? EventLoopDoorbell(on: eventLoop) { [weak self] in self?.resume(on: eventLoop) }
        self.doorbell = doorbell
        doorbell.ring()
    }

    private func resume(on eventLoop: any EventLoop) {
        guard self.isRung else { return }
        self.isRung = false
        self.backlog?.delivered(self.settled)
        self.settled = 0
        self.deliveries = 0
        // Those only that wait now: who is not done in this turn is resumed in the next.
        self.run(\.lightWorkers, share: Self.lightDeliveries)
        self.flush()
        if self.backlog?.hasRoom ?? true { self.run(\.heavyWorkers, share: Self.maximumDeliveries / 4) }
        self.limit = Self.maximumDeliveries
        self.flush()
        if !self.lightWorkers.isEmpty || !self.heavyWorkers.isEmpty { self.schedule(on: eventLoop) }
    }

    private func run(_ workers: ReferenceWritableKeyPath<EventLoopTurn, Deque<any EventLoopWorker>>, share: Int) {
        var rest = self[keyPath: workers].count
        while rest > 0, self.deliveries < Self.maximumDeliveries, let worker = self[keyPath: workers].popFirst() {
            rest -= 1
            self.limit = min(Self.maximumDeliveries, self.deliveries + share)
            worker.resumeWork()
        }
    }
}

@available(*, unavailable)
extension EventLoopTurn: Sendable {}
