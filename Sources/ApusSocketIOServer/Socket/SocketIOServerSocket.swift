import ApusConnectivity
import ApusEngineIOProtocol
import ApusEngineIOServer
public import ApusJSON
public import ApusSocketIOProtocol
import NIOConcurrencyHelpers
import NIOCore

/// One client in one namespace. Every method may be called from any thread; handlers run on the socket's event loop.
///
/// `@unchecked Sendable`: the mutable properties are touched on `eventLoop` only, `stored` under the lock of `limits`, `placeInAudience` under the
/// namespace's.
public final class SocketIOServerSocket: @unchecked Sendable {
    /// The socket's id: 20 characters that cannot be guessed (with a Socket.IO 2.x client the namespace before them). Also the name of the
    /// socket's own room.
    public let id: String
    /// The namespace the socket is in.
    public let namespace: SocketIONamespace
    /// What the client said when it connected, put together each time.
    public var handshake: SocketIOHandshake { SocketIOHandshake(session: self.session, auth: self.auth, issued: self.issued) }
    /// Whether the socket is one that came back after its connection was lost (the configuration's `connectionStateRecovery`).
    public let recovery: SocketIORecovery

    let eventLoop: any EventLoop
    /// Knows the request of the handshake, also after its end.
    let session: EngineIOSession
    private let auth: SocketIOStoredAuth
    private let issued: Int64
    let limits: Limits
    /// `nil` when the client cannot come back.
    let recoveryState: RecoveryState?
    /// The client's; let go of when the socket leaves, for it holds the socket.
    @exclusivity(unchecked) private(set) var connection: SocketIOConnection?
    /// Under the lock of `limits`.
    private var stored: Stored

    // On the event loop only. Unchecked is what every event touches, within single statements and never over a call to a handler.
    @exclusivity(unchecked) var state = State.open
    @exclusivity(unchecked) var listeners = SocketIOListeners()
    var disconnectHandlers: [@Sendable (SocketIODisconnectReason) -> Void] = []
    private(set) var extras: Extras?
    var asyncQueue: SocketIOHandlerQueue?
    /// Events whose clients still wait for our ack.
    @exclusivity(unchecked) var owedAcks = 0
    /// Where the socket stands among those of its namespace. Under that one's lock.
    var placeInAudience = 0

    enum State {
        /// Leaves to `disconnecting`.
        case open
        /// The client is gone or told so; the rooms still stand. Leaves to `closed`.
        case disconnecting
        /// Final. Indirect: an open socket keeps no room for the reason.
        indirect case closed(SocketIODisconnectReason)
    }

    /// What few sockets need. Made with the first need: an idle socket is to be small.
    ///
    /// Confined to the socket's event loop.
    final class Extras {
        var disconnectingHandlers: [@Sendable (SocketIODisconnectReason) -> Void] = []
        var waitingAcks: [Int: WaitingAck] = [:]
        /// Made with the first ack that is waited for.
        var ackTimer: DeadlineTimer?
        /// Called once the outgoing queue is short again.
        var drainWaiters: [@Sendable () -> Void] = []
        /// Who wants to know when no ack is owed any more.
        var settleWaiters: [EventLoopPromise<Void>] = []
    }

    func makeExtras() -> Extras {
        if let extras { return extras }
        let made = Extras()
        self.extras = made
        return made
    }

    /// What one client may make this server keep and wait for, and one lock. The sockets of a server on one event loop share it.
    final class Limits: Sendable {
        /// Guards what the application keeps with each of these sockets. It is nearly always asked for on their event loop, so that one lock does
        /// for all of them, and each is smaller without one.
        let lock = NIOLock()
        let maximumWaitingEvents: Int
        let maximumWaitingAcks: Int
        let ackTimeout: Duration
        let onHandlerError: SocketIOServerConfiguration.HandlerErrorHook?

        init(_ configuration: SocketIOServerConfiguration) {
            self.maximumWaitingEvents = configuration.maximumWaitingEvents
            self.maximumWaitingAcks = configuration.maximumWaitingAcks
            self.ackTimeout = configuration.ackTimeout
            self.onHandlerError = configuration.onHandlerError
        }
    }

    /// What the application keeps with a socket.
    struct Stored: Sendable {
        var values: [String: any Sendable] = [:]
        var data: SocketIOValue = [:]
        /// Rooms that middleware put the socket in, before it is in its namespace; `nil` once it is, or never will be.
        var roomsAhead: SocketIORoomNames?
    }

    init(
        id: String, namespace: SocketIONamespace, auth: SocketIOValue, connection: SocketIOConnection, limits: Limits,
        recovery: SocketIORecovery = .none, recoveryState: RecoveryState? = nil
    ) {
        self.id = id
        self.namespace = namespace
        self.session = connection.session
        self.auth = SocketIOStoredAuth(auth)
        self.issued = SocketIOHandshake.now
        self.connection = connection
        self.eventLoop = connection.session.eventLoop
        self.limits = limits
        self.recovery = recovery
        self.recoveryState = recoveryState
        self.stored = recoveryState?.resumption?.session.kept ?? Stored()
        self.stored.roomsAhead = []
    }

    /// Nothing that `body` lets go of may be the application's: its end could ask for the lock again.
    private func withStored<Result>(_ body: (inout Stored) -> Result) -> Result {
        self.limits.lock.withLock { body(&self.stored) }
    }

    /// Whether this is the socket from before: its id, rooms and data are back, and every event it missed was sent.
    public var isRecovered: Bool { self.recovery == .complete }

    /// Whether it is not decided yet whether the client comes in.
    var isAwaited: Bool { self.withStored { $0.roomsAhead != nil } }

    /// Whether the client is in the namespace now.
    public var isConnected: Bool { self.namespace.contains(self) }

    // MARK: The application's own values

    /// What other servers of the cluster and the admin page see of this socket, and what a recovered session brings back. Default: `{}`.
    ///
    /// For what only this process needs, and for values that have no JSON form, there is ``setValue(_:for:)``.
    public var data: SocketIOValue {
        get { self.withStored { $0.data } }
        set {
            self.withStored { $0.data = newValue }
            self.namespace.dataChanged(of: self)
        }
    }

    /// Sets ``data`` to the encoded value.
    ///
    /// - Throws: The encoder's error.
    public func setData(_ value: some Encodable) throws {
        self.data = try SocketIOArguments.value(of: value)
    }

    /// ``data``, decoded.
    ///
    /// - Throws: The decoder's error when it is of another type.
    public func data<Value: Decodable>(as type: Value.Type) throws -> Value {
        try SocketIOArguments.decode(values: [self.data], as: type)
    }

    /// Keeps a value with the socket in this process, for example the user that middleware found.
    public func setValue(_ value: some Sendable, for key: String) {
        _ = self.withStored { $0.values.updateValue(value, forKey: key) }
    }

    /// The value kept under this key, if it is of this type.
    public func value<Value>(for key: String, as type: Value.Type = Value.self) -> Value? {
        self.withStored { $0.values[key] } as? Value
    }

    // MARK: Rooms

    /// The rooms the socket is in, its own included.
    public var rooms: SocketIORoomNames { self.withStored { $0.roomsAhead } ?? self.namespace.rooms(of: self) }

    /// Enters rooms. It leaves them all when it disconnects. In middleware: it enters them when it is connected.
    public func join(_ rooms: String...) {
        let isAhead = self.withStored { $0.roomsAhead?.formUnion(rooms) } != nil
        if !isAhead { self.namespace.join(self, rooms) }
    }

    /// Leaves a room.
    public func leave(_ room: String) {
        let isAhead = self.withStored { stored in
            _ = stored.roomsAhead?.remove(room)
            return stored.roomsAhead != nil
        }
        if !isAhead { self.namespace.leave(self, room) }
    }

    /// Puts the socket into its namespace, and into the rooms that middleware chose.
    func enterNamespace() {
        self.namespace.add(self)
        // Taken when it is in: whoever joins from now on finds it there.
        let rooms = self.withStored { exchange(&$0.roomsAhead, with: nil) } ?? []
        if !rooms.isEmpty { self.namespace.join(self, Array(rooms)) }
    }

    // MARK: Life

    /// The transport that carries the socket's packets at the moment, `polling` or `websocket`; `nil` once it is gone.
    ///
    /// Call it on the socket's event loop, where handlers run.
    public var transportName: String? { self.connection?.session.transportName }

    /// Takes the client out of this namespace; with `close`, ends its whole connection.
    public func disconnect(close: Bool = false) {
        self.eventLoop.runOnLoop { self.connection?.disconnect(self, close: close) }
    }

    /// Calls `handler` once when the socket is about to leave its namespace: it is still in its rooms, and nothing reaches its client.
    public func onDisconnecting(_ handler: @escaping @Sendable (SocketIODisconnectReason) -> Void) {
        self.eventLoop.runOnLoop {
            if case .open = self.state { self.makeExtras().disconnectingHandlers.append(handler) }
        }
    }

    /// Calls `handler` once when the socket has left its namespace and its rooms, at once if it is gone already.
    public func onDisconnect(_ handler: @escaping @Sendable (SocketIODisconnectReason) -> Void) {
        self.eventLoop.runOnLoop {
            if case .closed(let reason) = self.state { handler(reason) } else { self.disconnectHandlers.append(handler) }
        }
    }

    func closed(_ reason: SocketIODisconnectReason) {
        self.eventLoop.assertInEventLoop()
        guard case .open = self.state else { return }
        self.state = .disconnecting
        if let extras { for handler in exchange(&extras.disconnectingHandlers, with: []) { handler(reason) } }
        self.state = .closed(reason)
        self.leaveNamespace(reason)
        self.failWaitingAcks(reason)
        let handlers = self.disconnectHandlers
        self.letGo()
        for handler in handlers { handler(reason) }
    }

    private func leaveNamespace(_ reason: SocketIODisconnectReason) {
        guard let recoveryState, let recovery = self.namespace.recovery else { return self.namespace.remove(self) }
        guard let start = recoveryState.start, reason.isRecoverable else {
            self.namespace.remove(self)
            return recovery.left(self)
        }
        // First out, then kept: whoever comes back has the same id. A dynamic namespace stays meanwhile.
        self.namespace.reserve()
        defer { self.namespace.release() }
        let rooms = self.rooms
        recovery.leaving(self)
        self.namespace.remove(self)
        let kept = self.withStored { $0 }
        recovery.lost(.init(socketID: self.id, rooms: rooms, start: start, kept: kept), pid: recoveryState.pid, by: self)
    }

    /// The socket was refused, or its client left, before it was in its namespace: it never was connected.
    func abandon() {
        self.eventLoop.assertInEventLoop()
        guard case .open = self.state else { return }
        self.state = .closed(.transportClose)
        self.withStored { $0.roomsAhead = nil }
        self.namespace.recovery?.abandoned(self)
        self.letGo()
    }

    /// Handlers often capture their socket: letting go of them ends the cycle.
    private func letGo() {
        self.connection = nil
        self.asyncQueue?.finish()
        self.disconnectHandlers = []
        self.listeners = SocketIOListeners()
        guard let extras else { return }
        extras.disconnectingHandlers = []
        extras.drainWaiters = []
        for waiter in exchange(&extras.settleWaiters, with: []) { waiter.succeed() }
    }
}

@available(*, unavailable)
extension SocketIOServerSocket.Extras: Sendable {}
