import ApusBytes
import ApusConnectivity
import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusEventLoop
public import ApusJSON
public import ApusSocketIOProtocol
import NIOConcurrencyHelpers
package import NIOCore

/// A client's socket in one namespace. Every method may be called from any thread. Handlers run on
/// the socket's event loop.
///
/// `@unchecked Sendable`: the mutable properties are accessed on `eventLoop` only, except `stored`
/// (under the lock of `shared`) and `indexInRecipients` (under the namespace's lock).
public final class SocketIOServerSocket: @unchecked Sendable {
    /// The socket's id: 20 unpredictable characters, preceded by the namespace and `#` for a
    /// Socket.IO 2.x client outside of `/`. The id is also the name of the socket's own room.
    public let id: String
    /// The namespace of the socket.
    public let namespace: SocketIONamespace
    /// The data of the client's handshake. Each access builds it again.
    public var handshake: SocketIOHandshake { SocketIOHandshake(session: self.session, auth: self.auth, issued: self.issued) }
    /// The outcome of connection state recovery (the configuration's `connectionStateRecovery`).
    public let recovery: SocketIORecovery

    package let eventLoop: any EventLoop
    /// The client's session. It stores the handshake request even after it has closed.
    let session: EngineIOSession
    private let auth: SocketIOStoredAuth
    private let issued: Int64
    let shared: Shared
    /// The state for recovery; `nil` if the client cannot resume.
    let recoveryState: RecoveryState?
    /// The client's connection; `nil` after the socket has left its namespace.
    var connection: SocketIOConnection? { self.hot.connection }
    /// The application's values. Accessed under the lock of `shared`.
    private var stored: Stored

    /// The state that every event uses. It is accessed on the event loop only. Unchecked, because
    /// the accesses are single statements that call no handler.
    @exclusivity(unchecked) var hot: Hot
    var disconnectHandlers: [@Sendable (SocketIOServerDisconnectReason) -> Void] = []
    private(set) var extras: Extras?
    var asyncQueue: SocketIOHandlerQueue?
    /// The socket's index in its group of the namespace's recipients. Protected by the namespace's
    /// lock.
    var indexInRecipients = 0

    struct Hot {
        /// The client's connection. Set to `nil` when the socket leaves, because the connection
        /// retains the socket.
        var connection: SocketIOConnection?
        var state = State.open
        var listeners = SocketIOServerListeners()
        /// The number of received events whose requested ack has not been sent or dropped.
        var owedAcks = 0
    }

    enum State {
        /// The socket is in the namespace or joins it. Transitions to `disconnecting` or `closed`.
        case open
        /// The client has disconnected, or DISCONNECT was sent, but the socket is still in its
        /// rooms. Transitions to `closed`.
        case disconnecting
        /// The socket has left the namespace. Final. Indirect, so that an open socket needs no
        /// storage for the reason.
        indirect case closed(SocketIOServerDisconnectReason)
    }

    /// The state that few sockets need. It is created on first use to keep idle sockets small.
    ///
    /// Confined to the socket's event loop.
    final class Extras {
        var disconnectingHandlers: [@Sendable (SocketIOServerDisconnectReason) -> Void] = []
        /// The acks that callers await, created with the first one.
        var acks: PendingTable<PendingClientAck>?
        /// The callbacks to run once when the outgoing queue is short again.
        var drainWaiters: [@Sendable () -> Void] = []
        /// The promises to complete when every requested ack was sent or dropped (`owedAcks` is 0).
        var settleWaiters: [EventLoopPromise<Void>] = []
    }

    func makeExtras() -> Extras {
        if let extras { return extras }
        let made = Extras()
        self.extras = made
        return made
    }

    /// The settings and the lock that the sockets of a server on one event loop share.
    final class Shared: Sendable {
        /// The lock of the application's values of these sockets. A common lock keeps each socket
        /// small. It is rarely contended, because the values are usually accessed on the event
        /// loop.
        let lock = NIOLock()
        let maximumWaitingEvents: Int
        let maximumPendingAcks: Int
        let ackTimeout: Duration
        let onHandlerError: SocketIOServerConfiguration.HandlerErrorHook?
        let observers: [any SocketIOServerObserver]

        init(_ configuration: SocketIOServerConfiguration) {
            self.maximumWaitingEvents = configuration.maximumWaitingEvents
            self.maximumPendingAcks = configuration.maximumPendingAcks
            self.ackTimeout = configuration.ackTimeout
            self.onHandlerError = configuration.onHandlerError
            self.observers = configuration.observers
        }
    }

    /// The application's values of a socket.
    struct Stored: Sendable {
        var values: [String: any Sendable] = [:]
        var data: SocketIOValue = [:]
        /// The rooms to join at admission, which middleware chooses; `nil` after the admission or
        /// the refusal.
        var pendingRooms: SocketIORoomNames?
    }

    init(
        id: String, namespace: SocketIONamespace, auth: SocketIOValue, connection: SocketIOConnection, shared: Shared,
        recovery: SocketIORecovery = .none, recoveryState: RecoveryState? = nil
    ) {
        self.id = id
        self.namespace = namespace
        self.session = connection.session
        self.auth = SocketIOStoredAuth(auth)
        self.issued = SocketIOHandshake.now
        self.hot = Hot(connection: connection)
        self.eventLoop = connection.session.eventLoop
        self.shared = shared
        self.recovery = recovery
        self.recoveryState = recoveryState
        self.stored = recoveryState?.resumption?.session.kept ?? Stored()
        self.stored.pendingRooms = []
    }

    /// Accesses the values under the lock. `body` must not release a value of the application,
    /// whose `deinit` could acquire the lock again.
    private func withStored<Result>(_ body: (inout Stored) -> Result) -> Result {
        self.shared.lock.withLock { body(&self.stored) }
    }

    /// Whether the socket resumed with its id, rooms and data, and every missed event was sent.
    public var isRecovered: Bool { self.recovery == .complete }

    /// Whether the client's admission is still pending.
    var isAwaited: Bool { self.withStored { $0.pendingRooms != nil } }

    /// Whether the socket has joined its namespace and has not left it.
    public var isConnected: Bool { self.namespace.contains(self) }

    // MARK: Application values

    /// The data that other servers of the cluster and the admin page can read, and that a recovered
    /// session restores. Default: `{}`.
    ///
    /// For values that other servers do not need, or that have no JSON form, use
    /// ``setValue(_:for:)``.
    public var data: SocketIOValue {
        get { self.withStored { $0.data } }
        set {
            self.withStored { $0.data = newValue }
            self.namespace.dataChanged(of: self)
        }
    }

    /// Sets ``data`` to the encoded value.
    ///
    /// - Throws: `SocketIOError.Code.invalidUse` with the encoder's error as its cause.
    public func setData(_ value: some Encodable) throws(SocketIOError) {
        self.data = try SocketIOArguments.value(of: value)
    }

    /// Returns ``data``, decoded.
    ///
    /// - Throws: `SocketIOError.Code.invalidPayload` with the decoder's error as its cause, if the
    ///   data does not decode as `type`.
    public func data<Value: Decodable>(as type: Value.Type) throws(SocketIOError) -> Value {
        do {
            return try JSONValueDecoder().decode(type, from: self.data)
        } catch {
            throw SocketIOError(.invalidPayload, message: "the data of the socket does not decode as \(type)", cause: error)
        }
    }

    /// Stores a value with the socket in this process, for example the user that middleware
    /// authenticated.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    public func setValue(_ value: some Sendable, for key: String) {
        _ = self.withStored { $0.values.updateValue(value, forKey: key) }
    }

    /// Returns the value stored under this key; `nil` if no value is stored or if it is of another
    /// type.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of the value.
    public func value<Value>(for key: String, as type: Value.Type = Value.self) -> Value? {
        self.withStored { $0.values[key] } as? Value
    }

    // MARK: Rooms

    /// The rooms of the socket, including its own.
    public var rooms: SocketIORoomNames { self.withStored { $0.pendingRooms } ?? self.namespace.rooms(of: self) }

    /// Joins rooms. If middleware calls this method, the socket joins them when it is connected.
    /// The socket leaves all rooms when it disconnects.
    public func join(_ rooms: String...) {
        let isPending = self.withStored { $0.pendingRooms?.formUnion(rooms) } != nil
        if !isPending { self.namespace.join(self, rooms) }
    }

    /// Leaves a room.
    public func leave(_ room: String) {
        let isPending = self.withStored { stored in
            _ = stored.pendingRooms?.remove(room)
            return stored.pendingRooms != nil
        }
        if !isPending { self.namespace.leave(self, room) }
    }

    /// Adds the socket to its namespace, and to the rooms that middleware chose.
    func enterNamespace() {
        self.namespace.add(self)
        // After `add`, `join` finds the socket in the namespace.
        let rooms = self.withStored { exchange(&$0.pendingRooms, with: nil) } ?? []
        if !rooms.isEmpty { self.namespace.join(self, Array(rooms)) }
    }

    // MARK: Lifetime

    /// The current transport of the connection, `polling` or `websocket`; `nil` after the socket
    /// has closed.
    ///
    /// Access this property on the socket's event loop, where handlers run.
    public var transportName: String? { self.connection?.session.transport?.rawValue }

    /// Disconnects the client from this namespace or, with `close`, closes its connection.
    public func disconnect(close: Bool = false) {
        self.eventLoop.runOnLoop { self.connection?.disconnect(self, close: close) }
    }

    /// Calls `handler` once when the socket is about to leave its namespace. The socket is still in
    /// its rooms, but its client receives no more events.
    public func onDisconnecting(_ handler: @escaping @Sendable (SocketIOServerDisconnectReason) -> Void) {
        self.eventLoop.runOnLoop {
            if case .open = self.hot.state { self.makeExtras().disconnectingHandlers.append(handler) }
        }
    }

    /// Calls `handler` once when the socket has left its namespace and its rooms. If the socket has
    /// left already, calls it immediately.
    public func onDisconnect(_ handler: @escaping @Sendable (SocketIOServerDisconnectReason) -> Void) {
        self.eventLoop.runOnLoop {
            if case .closed(let reason) = self.hot.state { handler(reason) } else { self.disconnectHandlers.append(handler) }
        }
    }

    func closed(_ reason: SocketIOServerDisconnectReason) {
        self.eventLoop.assertInEventLoop()
        guard case .open = self.hot.state else { return }
        self.hot.state = .disconnecting
        if let extras { for handler in exchange(&extras.disconnectingHandlers, with: []) { handler(reason) } }
        self.hot.state = .closed(reason)
        self.leaveNamespace(reason)
        self.failPendingAcks(reason)
        let handlers = self.disconnectHandlers
        self.releaseReferences()
        for observer in self.shared.observers { observer.disconnected(self, reason: reason) }
        for handler in handlers { handler(reason) }
    }

    private func leaveNamespace(_ reason: SocketIOServerDisconnectReason) {
        guard let recoveryState, let recovery = self.namespace.recovery else { return self.namespace.remove(self) }
        guard let start = recoveryState.start, reason.isRecoverable else {
            self.namespace.remove(self)
            return recovery.left(self)
        }
        // The socket leaves before its session is stored, because the resumed socket has the same
        // id. The reservation keeps a dynamic namespace until then.
        self.namespace.reserve()
        defer { self.namespace.release() }
        let rooms = self.rooms
        recovery.disconnecting(self)
        self.namespace.remove(self)
        let kept = self.withStored { $0 }
        recovery.lost(.init(socketID: self.id, rooms: rooms, start: start, kept: kept), pid: recoveryState.pid, by: self)
    }

    /// Closes a socket that was refused, or whose client left, before it joined its namespace.
    func abandon() {
        self.eventLoop.assertInEventLoop()
        guard case .open = self.hot.state else { return }
        self.hot.state = .closed(.transportClose)
        self.withStored { $0.pendingRooms = nil }
        self.namespace.recovery?.abandoned(self)
        self.releaseReferences()
    }

    /// Releases the connection and the handlers. Handlers often capture their socket, which would
    /// otherwise never be deallocated.
    private func releaseReferences() {
        self.hot.connection = nil
        self.asyncQueue?.finish()
        self.disconnectHandlers = []
        self.hot.listeners = SocketIOServerListeners()
        guard let extras else { return }
        extras.disconnectingHandlers = []
        extras.drainWaiters = []
        for waiter in exchange(&extras.settleWaiters, with: []) { waiter.succeed() }
    }
}

@available(*, unavailable)
extension SocketIOServerSocket.Extras: Sendable {}

extension SocketIOServerSocket {
    /// Adds the socket to its namespace.
    ///
    /// - Returns: The packets that a resumed socket missed; `nil` if some of them are no longer
    ///   stored.
    func opened() -> [SocketIOOutbound]? {
        self.eventLoop.assertInEventLoop()
        guard let recovery = self.namespace.recovery, let recoveryState = self.recoveryState else {
            self.enterNamespace()
            return []
        }
        guard let resumption = recoveryState.resumption.take() else {
            // Record the offset before the socket can receive events, because the client may miss
            // any of them.
            recoveryState.joined = recovery.joining(self, recoveryState)
            recoveryState.start = recoveryState.joined
            self.enterNamespace()
            return []
        }
        // The socket joins the namespace before the missed packets are read. They include the
        // events emitted in between, which must not be sent twice.
        recoveryState.caughtUpTo = .max
        self.enterNamespace()
        self.namespace.join(self, Array(resumption.session.rooms))
        guard let (missed, end) = recovery.missed(resumption, by: self) else { return nil }
        recoveryState.caughtUpTo = end.number
        recoveryState.joined = end
        recoveryState.start = missed.isEmpty ? end : resumption.from
        return missed
    }

    /// Stores the claimed session again, because the client disconnected before admission.
    func giveBack() {
        guard let resumption = self.recoveryState?.resumption.take() else { return }
        self.namespace.recovery?.giveBack(resumption)
    }
}

extension SocketIOServerSocket {
    /// Returns a future that succeeds when the asynchronous handlers have returned and every ack
    /// that the client requested was sent or dropped, or when the socket closes. It has no
    /// deadline.
    func settle() -> EventLoopFuture<Void> {
        self.eventLoop.assertInEventLoop()
        let handlersDone = self.eventLoop.makePromise(of: Void.self)
        // The queue runs its items in order: when this item runs, all earlier ones have ended.
        if self.asyncQueue?.enqueue(bytes: 0, { handlersDone.succeed() }) != .taken { handlersDone.succeed() }
        return handlersDone.futureResult.flatMap {
            guard case .open = self.hot.state, self.hot.owedAcks > 0 else { return self.eventLoop.makeSucceededVoidFuture() }
            let acksSent = self.eventLoop.makePromise(of: Void.self)
            self.makeExtras().settleWaiters.append(acksSent)
            return acksSent.futureResult
        }
    }
}

extension SocketIOServerSocket {
    /// Calls `body` once on the event loop when the outgoing queue, including everything sent
    /// before this call, is short (``EngineIOSession/isDrained``). Drops `body` if the client
    /// disconnects first.
    package func whenDrained(_ body: @escaping @Sendable () -> Void) {
        // Packets sent from other threads reach the event loop in the first turn, and the transport
        // at the end of that turn.
        self.eventLoop.execute { self.eventLoop.execute { self.callWhenDrained(body) } }
    }

    private func callWhenDrained(_ body: @escaping @Sendable () -> Void) {
        guard case .open = self.hot.state, let connection = self.hot.connection else { return }
        if connection.isDrained() { body() } else { self.makeExtras().drainWaiters.append(body) }
    }

    func drained() {
        guard let extras, !extras.drainWaiters.isEmpty else { return }
        for body in exchange(&extras.drainWaiters, with: []) { body() }
    }
}
