import ApusEngineIOServer
import ApusEventLoop
import ApusJSON
import ApusSocketIOProtocol
import DequeModule
import NIOConcurrencyHelpers
import NIOCore

/// The recovery of one namespace. It numbers the events, stores them, and delivers them on each
/// event loop in the order of their numbers.
///
/// Offsets depend on that order: a client that received event 7 must have received all earlier
/// events sent to it. Events are emitted on any thread, so one lock covers numbering, storing and
/// enqueueing. Do not call a method while holding the namespace's lock.
final class SocketIORecoveryLog: Sendable {
    typealias Store = SocketIORecoveryStore<SocketIOOutbound, SocketIOServerSocket.Stored>

    /// A claimed session that a socket resumes.
    final class Resumption: Sendable {
        let pid: String
        let session: Store.Session
        let from: SocketIOOffset

        init(pid: String, session: Store.Session, from: SocketIOOffset) {
            self.pid = pid
            self.session = session
            self.from = from
        }
    }

    /// An event for some sockets of one event loop.
    fileprivate struct Delivery {
        var number: UInt64
        var outbound: SocketIOOutbound
        /// The event without an offset, for sockets without recovery.
        var plain: SocketIOOutbound?
        var sockets: [SocketIOServerSocket]
    }

    fileprivate struct Queue {
        var deliveries: Deque<Delivery> = []
        var isDraining = false
    }

    fileprivate struct State {
        var store: Store
        /// The sockets that have joined the namespace or are resuming, by private id.
        var holders: [String: SocketIOServerSocket] = [:]
        /// The ids of sockets that are leaving or resuming. They may be neither in the namespace
        /// nor among the stored sessions.
        var inTransition: Set<String> = []
        /// The queues by event loop. A queue without pending deliveries is removed.
        var queues: [ObjectIdentifier: Queue] = [:]
        var sweepIsPlanned = false
    }

    let configuration: SocketIOConnectionStateRecovery
    /// The common prefix of the namespace's offsets.
    private let mark: String
    private let clock: @Sendable () -> NIODeadline
    private let state: NIOLockedValueBox<State>

    init(_ configuration: SocketIOConnectionStateRecovery, clock: @escaping @Sendable () -> NIODeadline) {
        self.configuration = configuration
        self.clock = clock
        let epoch = String(RandomID.random().description.prefix(6))
        self.mark = SocketIOOffset.mark(of: epoch)
        self.state = NIOLockedValueBox(
            State(
                store: Store(
                    epoch: epoch, lifetime: configuration.maximumDisconnection,
                    maximumPackets: configuration.maximumEvents, maximumBytes: configuration.maximumBytes,
                    maximumSessions: configuration.maximumSessions)))
    }

    private var now: Duration { .nanoseconds(Int64(clamping: self.clock().uptimeNanoseconds)) }

    /// The number of lost sockets that may resume. A namespace with lost sockets is in use.
    var sessionCount: Int { self.state.withLockedValue { $0.store.sessionCount } }

    // MARK: Events

    /// Returns whether a client would treat the last argument as an offset. Relayed arguments may
    /// end with an offset.
    func endsLikeOffset(_ arguments: SocketIOPayload) -> Bool { arguments.lastText?.hasPrefix(self.mark) ?? false }

    /// Numbers, stores and sends an event to `only` or, if that is `nil`, to the delivery's
    /// targets.
    func deliver(
        _ delivery: SocketIODelivery, in namespace: SocketIONamespace, to only: SocketIOServerSocket? = nil
    ) throws(SocketIOError) {
        let now = self.now
        let result = self.state.withLockedValue { state -> Result<[SocketIOServerSocket], SocketIOError> in
            do throws(SocketIOError) {
                // Storing an event that no client can receive would only evict others.
                if let only, !state.isReachable(only, in: namespace, at: now) { return .success([]) }
                // A resumed socket is another object with the same id. An event for the old object
                // is delivered to the new one.
                let sockets = only.map { [namespace.member($0.id) ?? $0] } ?? namespace.sockets(in: delivery.targets)
                let next = state.store.history.next
                let plainContent = SocketIOPacket.Content.event(name: delivery.event, arguments: delivery.arguments, ackID: nil)
                let isShared = only == nil
                let kept = try namespace.encode(
                    .event(name: delivery.event, arguments: .init(delivery.arguments.arguments + [.string(next.description)]), ackID: nil),
                    shared: isShared, isCompressed: delivery.flags.isCompressed)
                var outbound = kept
                outbound.content = plainContent  // listeners to outgoing events receive the arguments without the offset
                var plain: SocketIOOutbound?
                if sockets.contains(where: { $0.recoveryState == nil }) {
                    plain = try namespace.encode(plainContent, shared: isShared, isCompressed: delivery.flags.isCompressed)
                }
                state.store.append(kept.withoutContent, for: delivery.targets, bytes: kept.bytes, at: now)
                for group in Dictionary(grouping: sockets, by: { ObjectIdentifier($0.eventLoop) }) {
                    state.queues[group.key, default: Queue()].deliveries.append(
                        Delivery(number: next.number, outbound: outbound, plain: plain, sockets: group.value))
                }
                return .success(sockets)
            } catch {
                return .failure(error)
            }
        }
        for group in Recipients(try result.get()).groups {
            let loop = ObjectIdentifier(group.eventLoop)
            group.sockets.first?.session.runOnLoop(delivering: group.sockets.count) { self.drain(loop) }
        }
    }

    /// Delivers the queue of an event loop, on that loop. Also delivers events that a listener
    /// emits during the delivery.
    private func drain(_ loop: ObjectIdentifier) {
        let mayDrain = self.state.withLockedValue { state in
            guard let queue = state.queues[loop], !queue.isDraining else { return false }
            state.queues[loop]?.isDraining = true
            return true
        }
        guard mayDrain else { return }
        while let delivery = self.nextDelivery(loop) {
            for socket in delivery.sockets {
                guard let recoveryState = socket.recoveryState else {
                    socket.deliver(delivery.plain ?? delivery.outbound, isVolatile: false)
                    continue
                }
                if delivery.number > recoveryState.caughtUpTo { socket.deliver(delivery.outbound, isVolatile: false) }
            }
        }
    }

    private func nextDelivery(_ loop: ObjectIdentifier) -> Delivery? {
        self.state.withLockedValue { state in
            if let delivery = state.queues[loop]?.deliveries.popFirst() { return delivery }
            state.queues[loop] = nil
            return nil
        }
    }

    // MARK: Sockets

    /// Returns the socket whose private id is in the auth of a CONNECT, if its connection is still
    /// open. A broken connection can look open until a ping times out.
    func holder(of auth: SocketIOValue) -> SocketIOServerSocket? {
        guard let pid = auth["pid"]?.stringValue else { return nil }
        return self.state.withLockedValue { $0.holders[pid] }
    }

    /// Returns the outcome of the recovery that the auth of a CONNECT requests. A session is
    /// claimed by one caller only.
    func claim(_ auth: SocketIOValue) -> (recovery: SocketIORecovery, resumption: Resumption?) {
        guard let pid = auth["pid"]?.stringValue else { return (.none, nil) }
        let now = self.now
        return self.state.withLockedValue { state in
            switch state.store.claimed(pid: pid, offset: auth["offset"]?.stringValue, at: now) {
            case .resume(let session, let from):
                state.inTransition.insert(session.socketID)
                return (.complete, Resumption(pid: pid, session: session, from: from))
            case .startAnew: return (.incomplete, nil)
            }
        }
    }

    /// Records the socket that resumes a claimed session.
    func resuming(_ socket: SocketIOServerSocket, _ recoveryState: RecoveryState) {
        self.state.withLockedValue { $0.holders[recoveryState.pid] = socket }
    }

    /// Stores a claimed session again: its client disconnected before admission.
    func giveBack(_ resumption: Resumption) {
        let now = self.now
        self.state.withLockedValue { state in
            state.inTransition.remove(resumption.session.socketID)
            state.holders[resumption.pid] = nil
            state.store.lost(resumption.session, pid: resumption.pid, at: now)
        }
    }

    /// Handles the end of a socket that has not joined the namespace.
    func abandoned(_ socket: SocketIOServerSocket) {
        if socket.isRecovered { self.left(socket) }  // no effect if the session was stored again
    }

    /// Records a new socket before it joins its namespace. Returns the end of the history.
    func joining(_ socket: SocketIOServerSocket, _ recoveryState: RecoveryState) -> SocketIOOffset {
        self.planSweep(of: socket.namespace, on: socket.eventLoop)
        return self.state.withLockedValue { state in
            state.holders[recoveryState.pid] = socket
            return state.store.history.end
        }
    }

    /// Returns the packets that a socket missed and the end of the history; `nil` if some packets
    /// are no longer stored. The socket must have joined the namespace before, so that no event is
    /// lost in between.
    func missed(_ resumption: Resumption, by socket: SocketIOServerSocket) -> (packets: [SocketIOOutbound], end: SocketIOOffset)? {
        self.planSweep(of: socket.namespace, on: socket.eventLoop)
        return self.state.withLockedValue { state in
            state.inTransition.remove(socket.id)
            return state.store.missed(after: resumption.from, memberOf: resumption.session.rooms).map { ($0, state.store.history.end) }
        }
    }

    /// Records that a lost socket is about to leave its namespace.
    func disconnecting(_ socket: SocketIOServerSocket) { self.state.withLockedValue { _ = $0.inTransition.insert(socket.id) } }

    /// Stores the session of a lost socket after it has left its namespace.
    func lost(_ session: Store.Session, pid: String, by socket: SocketIOServerSocket) {
        let now = self.now
        self.state.withLockedValue { state in
            state.inTransition.remove(socket.id)
            state.holders[pid] = nil
            state.store.lost(session, pid: pid, at: now)
        }
        self.planSweep(of: socket.namespace, on: socket.eventLoop)
    }

    /// Records that a socket that cannot resume has left its namespace.
    func left(_ socket: SocketIOServerSocket) { self.state.withLockedValue { $0.left(socket) } }

    // MARK: Time

    /// Schedules the timer that removes expired data, if it is not scheduled already.
    private func planSweep(of namespace: SocketIONamespace, on eventLoop: any EventLoop) {
        let isWanted = self.state.withLockedValue { state in
            defer { state.sweepIsPlanned = true }
            return !state.sweepIsPlanned
        }
        guard isWanted else { return }
        eventLoop.scheduleTask(in: TimeAmount(self.configuration.maximumDisconnection)) { [weak namespace] in
            if let namespace { self.sweep(namespace, on: eventLoop) }
        }
    }

    private func sweep(_ namespace: SocketIONamespace, on eventLoop: any EventLoop) {
        let now = self.now
        let isEmpty = self.state.withLockedValue { state in
            state.store.expire(at: now)
            state.sweepIsPlanned = false
            return state.store.isEmpty
        }
        if !isEmpty { self.planSweep(of: namespace, on: eventLoop) }
        namespace.recoverySwept()
    }
}

extension SocketIORecoveryLog.State {
    fileprivate mutating func left(_ socket: SocketIOServerSocket) {
        guard let pid = socket.recoveryState?.pid, self.holders[pid] === socket else { return }
        self.holders[pid] = nil
        self.inTransition.remove(socket.id)
    }

    /// Returns whether a socket, or the socket that resumes its session, can still receive an
    /// event.
    fileprivate mutating func isReachable(_ socket: SocketIOServerSocket, in namespace: SocketIONamespace, at now: Duration) -> Bool {
        if socket.isAwaited || namespace.member(socket.id) != nil || self.inTransition.contains(socket.id) { return true }
        return socket.recoveryState.map { self.store.keeps(pid: $0.pid, at: now) } ?? false
    }
}
