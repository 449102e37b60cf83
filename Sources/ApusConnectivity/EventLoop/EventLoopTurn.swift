import DequeModule
package import NIOCore

/// Work that can be put off between two of its steps.
package protocol EventLoopWorker: AnyObject {
    /// Resumes the work. It asks again to be resumed when the turn is full before it is done.
    func resumeWork()
}

/// Bounds what an event loop sends between two looks at its sockets, so that the burst of one connection does not make the others wait.
///
/// SwiftNIO runs tasks until there are none, and only then looks at its sockets: work that is put off by `execute` still keeps the others waiting. Here it
/// is put off by a timer. Connections that send little go first.
///
/// Confined to its event loop.
package final class EventLoopTurn {
    /// What may be sent in one turn, counted in messages to single connections. Some 5 ms.
    package static let maximumDeliveries = 4096
    /// A worker that sent less since it was last resumed goes before the others.
    package static let lightDeliveries = 256
    private static let pause = TimeAmount.microseconds(50)
    /// A timer that is later than this may have fired without a look at the sockets: the tasks before it took that long.
    private static let lateness = TimeAmount.milliseconds(1)

    @exclusivity(unchecked) package private(set) var deliveries = 0
    private var lightWorkers: Deque<any EventLoopWorker> = []
    private var heavyWorkers: Deque<any EventLoopWorker> = []
    private let backlog: DeliveryBacklog?
    /// Deliveries that other loops handed over, done since the last look at the sockets.
    private var settled = 0
    private var resumption: NIODeadline?
    private var wasLate = false
    /// Writes out what is gathered; called between the light workers and the others.
    package var flush: () -> Void = {}

    /// - Parameter backlog: What the loops of a server have under way to each other; `nil` for a connection that stands alone.
    package init(backlog: DeliveryBacklog? = nil) {
        self.backlog = backlog
    }

    /// Whether work that can be put off waits for the next turn.
    package var isFull: Bool { self.deliveries >= Self.maximumDeliveries }

    /// A message was sent to one connection.
    package func delivered() { self.deliveries &+= 1 }

    /// The tasks of the turn run. What comes next is another turn, unless something was put off.
    package func ended() {
        if self.resumption == nil { self.deliveries = 0 }
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
        guard self.resumption == nil else { return }
        self.resumption = eventLoop.now + Self.pause
        eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.resume(on: eventLoop) }
    }

    private func resume(on eventLoop: any EventLoop) {
        guard let planned = self.resumption.take() else { return }
        // Once only: a loop that is always late has no time for its sockets in any case.
        let isLate = eventLoop.now - planned > Self.lateness
        if isLate, !self.wasLate {
            self.wasLate = true
            return self.schedule(on: eventLoop)
        }
        self.wasLate = false
        self.backlog?.delivered(self.settled)
        self.settled = 0
        self.deliveries = 0
        // Those only that wait now: who is not done in this turn is resumed in the next.
        self.run(\.lightWorkers)
        self.flush()
        if self.backlog?.hasRoom ?? true { self.run(\.heavyWorkers) }
        self.flush()
        if !self.lightWorkers.isEmpty || !self.heavyWorkers.isEmpty { self.schedule(on: eventLoop) }
    }

    private func run(_ workers: ReferenceWritableKeyPath<EventLoopTurn, Deque<any EventLoopWorker>>) {
        var rest = self[keyPath: workers].count
        while rest > 0, !self.isFull, let worker = self[keyPath: workers].popFirst() {
            rest -= 1
            worker.resumeWork()
        }
    }
}

@available(*, unavailable)
extension EventLoopTurn: Sendable {}
