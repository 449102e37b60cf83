import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol
import DequeModule
import NIOConcurrencyHelpers
import NIOCore

/// The recovery of one namespace: numbers its events, keeps them, and sees to it that each loop delivers them in the order of their numbers.
///
/// That order is what an offset means: a client that has event 7 must have had all before it that are for it. Events come from any thread,
/// so an event is numbered, kept and put into the loops' queues under one lock. Never called with the namespace's lock held.
final class SocketIORecoveryLog: Sendable {
    typealias Store = SocketIORecoveryStore<SocketIOOutbound, SocketIOServerSocket.Stored>

    /// A socket that comes back.
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

    /// An event for some sockets of one loop.
    fileprivate struct Delivery {
        var number: UInt64
        var outbound: SocketIOOutbound
        /// The event without an offset, for sockets that cannot come back.
        var plain: SocketIOOutbound?
        var sockets: [SocketIOServerSocket]
    }

    fileprivate struct Queue {
        var deliveries: Deque<Delivery> = []
        var isDraining = false
    }

    fileprivate struct State {
        var store: Store
        /// The sockets that are in the namespace or resume in it, by their private ids.
        var holders: [String: SocketIOServerSocket] = [:]
        /// The ids of sockets on their way out of the namespace or back into it: neither there nor among the sessions kept.
        var onTheWay: Set<String> = []
        /// By event loop; only those with something to deliver.
        var queues: [ObjectIdentifier: Queue] = [:]
        var sweepIsPlanned = false
    }

    let configuration: SocketIOConnectionStateRecovery
    /// How every offset of the namespace begins.
    private let mark: String
    private let clock: @Sendable () -> NIODeadline
    private let state: NIOLockedValueBox<State>

    init(_ configuration: SocketIOConnectionStateRecovery, clock: @escaping @Sendable () -> NIODeadline) {
        self.configuration = configuration
        self.clock = clock
        let epoch = String(EngineIOID.random().description.prefix(6))
        self.mark = SocketIOOffset.mark(of: epoch)
        self.state = NIOLockedValueBox(
            State(
                store: Store(
                    epoch: epoch, lifetime: configuration.maximumDisconnection,
                    maximumPackets: configuration.maximumEvents, maximumBytes: configuration.maximumBytes,
                    maximumSessions: configuration.maximumSessions)))
    }

    private var now: Duration { .nanoseconds(Int64(clamping: self.clock().uptimeNanoseconds)) }

    /// Lost sockets that may come back. A namespace that has some is in use.
    var sessionCount: Int { self.state.withLockedValue { $0.store.sessionCount } }

    // MARK: Events

    /// Whether a client would take the last of these arguments for an offset: somebody may have sent it in order to be relayed.
    func hasLookalike(_ arguments: SocketIOPayload) -> Bool { arguments.lastText?.hasPrefix(self.mark) ?? false }

    /// Numbers, keeps and sends an event, to the sockets given, else to those that are meant.
    func deliver(
        _ delivery: SocketIODelivery, in namespace: SocketIONamespace, to only: SocketIOServerSocket? = nil
    ) throws(SocketIOError) {
        let now = self.now
        let result = self.state.withLockedValue { state -> Result<[SocketIOServerSocket], SocketIOError> in
            do throws(SocketIOError) {
                // What nobody can ever get would only push out what others may come back for.
                if let only, !state.isReachable(only, in: namespace, at: now) { return .success([]) }
                // A socket that has come back is another object with the same id: what is sent to the old one is for the client.
                let sockets = only.map { [namespace.member($0.id) ?? $0] } ?? namespace.sockets(in: delivery.targets)
                let next = state.store.history.next
                let plainContent = UndecodedPacket.Content.event(name: delivery.event, arguments: delivery.arguments, ackID: nil)
                let isShared = only == nil
                let kept = try namespace.encode(
                    .event(name: delivery.event, arguments: .init(delivery.arguments.arguments + [.string(next.description)]), ackID: nil),
                    shared: isShared, isCompressed: delivery.flags.isCompressed)
                var outbound = kept
                outbound.content = plainContent  // those who listen to what goes out did not send an offset
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

    /// Delivers what waits for a loop; called there. A listener that emits meanwhile adds to the queue, and this goes on with that.
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

    /// The socket whose private id the auth of a CONNECT shows, if its client seems to be connected still. A connection that is cut between two
    /// polls, or without a sign, looks alive until a ping is missed.
    func holder(of auth: SocketIOValue) -> SocketIOServerSocket? {
        guard let pid = auth["pid"]?.stringValue else { return nil }
        return self.state.withLockedValue { $0.holders[pid] }
    }

    /// What the auth of a CONNECT asks for, if anything. A session found here is this caller's alone.
    func claim(_ auth: SocketIOValue) -> (recovery: SocketIORecovery, resumption: Resumption?) {
        guard let pid = auth["pid"]?.stringValue else { return (.none, nil) }
        let now = self.now
        return self.state.withLockedValue { state in
            switch state.store.claimed(pid: pid, offset: auth["offset"]?.stringValue, at: now) {
            case .resume(let session, let from):
                state.onTheWay.insert(session.socketID)
                return (.complete, Resumption(pid: pid, session: session, from: from))
            case .startAnew: return (.incomplete, nil)
            }
        }
    }

    /// A socket resumes a session that its connection has claimed.
    func resuming(_ socket: SocketIOServerSocket, _ recoveryState: RecoveryState) {
        self.state.withLockedValue { $0.holders[recoveryState.pid] = socket }
    }

    /// The client that claimed this was lost again before it was let in.
    func giveBack(_ resumption: Resumption) {
        let now = self.now
        self.state.withLockedValue { state in
            state.onTheWay.remove(resumption.session.socketID)
            state.holders[resumption.pid] = nil
            state.store.lost(resumption.session, pid: resumption.pid, at: now)
        }
    }

    /// A socket never came into the namespace.
    func abandoned(_ socket: SocketIOServerSocket) {
        if socket.isRecovered { self.left(socket) }  // unless its session was given back, and perhaps claimed again
    }

    /// A new socket is about to be in its namespace. Answers where the history stands.
    func joining(_ socket: SocketIOServerSocket, _ recoveryState: RecoveryState) -> SocketIOOffset {
        self.planSweep(of: socket.namespace, on: socket.eventLoop)
        return self.state.withLockedValue { state in
            state.holders[recoveryState.pid] = socket
            return state.store.history.end
        }
    }

    /// What a socket missed, and the place behind that; nil when some of it is gone. The socket is in its namespace already, so that nothing falls
    /// between what it missed and what comes.
    func missed(_ resumption: Resumption, by socket: SocketIOServerSocket) -> (packets: [SocketIOOutbound], end: SocketIOOffset)? {
        self.planSweep(of: socket.namespace, on: socket.eventLoop)
        return self.state.withLockedValue { state in
            state.onTheWay.remove(socket.id)
            return state.store.missed(after: resumption.from, memberOf: resumption.session.rooms).map { ($0, state.store.history.end) }
        }
    }

    /// A socket was lost, and is about to leave its namespace.
    func leaving(_ socket: SocketIOServerSocket) { self.state.withLockedValue { _ = $0.onTheWay.insert(socket.id) } }

    /// It has left its namespace: one that comes back has its id.
    func lost(_ session: Store.Session, pid: String, by socket: SocketIOServerSocket) {
        let now = self.now
        self.state.withLockedValue { state in
            state.onTheWay.remove(socket.id)
            state.holders[pid] = nil
            state.store.lost(session, pid: pid, at: now)
        }
        self.planSweep(of: socket.namespace, on: socket.eventLoop)
    }

    /// It has left its namespace, and does not come back.
    func left(_ socket: SocketIOServerSocket) { self.state.withLockedValue { $0.left(socket) } }

    // MARK: Time

    /// What is too old goes when something comes, and, when nothing comes, by one timer.
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
        self.onTheWay.remove(socket.id)
    }

    /// Whether a socket, or the one that comes back as it, can still get an event.
    fileprivate mutating func isReachable(_ socket: SocketIOServerSocket, in namespace: SocketIONamespace, at now: Duration) -> Bool {
        if socket.isAwaited || namespace.member(socket.id) != nil || self.onTheWay.contains(socket.id) { return true }
        return socket.recoveryState.map { self.store.keeps(pid: $0.pid, at: now) } ?? false
    }
}
