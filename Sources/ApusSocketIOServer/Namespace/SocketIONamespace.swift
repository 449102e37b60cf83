import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol
import ApusWebSocketProtocol
import Atomics
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// A namespace: its sockets, its rooms and its admission checks. Every method may be called from
/// any thread.
public final class SocketIONamespace: SocketIOBroadcasting {
    /// A check that runs for every new socket before it is connected.
    public typealias Middleware = @Sendable (SocketIOServerSocket) async throws -> Void

    /// The values that the namespaces of one server share.
    struct Context: Sendable {
        var logger: Logger
        /// The pending requests of the server.
        var pendingRequests: PendingRequests
        /// The server's node in its cluster; `nil` without a cluster.
        var cluster: SocketIOClusterNode?
        /// The default time to wait for acks of clients.
        var ackTimeout: Duration
        /// The default time to wait for the responses of other servers.
        var clusterTimeout: Duration
        /// The settings for recovery of lost sockets; `nil` when recovery is disabled.
        var recovery: SocketIOConnectionStateRecovery?
        /// The clock for the age of recovery data.
        var clock: @Sendable () -> NIODeadline
        /// The encoding of packets.
        var parser: SocketIOParser
        /// The compression of WebSocket messages; `nil` when it is disabled.
        var deflate: WebSocketDeflateConfiguration?
        /// The callback to call when a dynamic namespace may have become empty.
        var becameIdle: @Sendable (SocketIONamespace) -> Void
    }

    /// The name, for example `/` or `/chat`.
    public let name: String
    /// The parent of a dynamic namespace. Its middleware and handlers also apply here.
    let parent: SocketIOParentNamespace?
    /// Numbers and stores the events of the namespace; `nil` when recovery is disabled.
    let recovery: SocketIORecoveryLog?
    private let context: Context
    private let state = NIOLockedValueBox(State())
    private let nextAckID = ManagedAtomic(0)

    private struct State {
        var sockets: [UTF8Key: SocketIOServerSocket] = [:]
        /// The sockets of `sockets`, grouped by event loop for broadcasts.
        var recipients = Recipients()
        var observedRooms = ObservedRooms()
        var middleware: [Middleware] = []
        var firstConnectionHandlers: [@Sendable (SocketIOServerSocket) -> Void] = []
        var connectionHandlers: [@Sendable (SocketIOServerSocket) -> Void] = []
        var roomHandlers: [@Sendable (SocketIORoomEvent) -> Void] = []
        var serverSideHandlers: [UTF8Key: [@Sendable (SocketIOServerSideEvent) -> Void]] = [:]
        /// The handlers of changes of a socket's `data`. Used by the admin page only.
        var dataHandlers: [@Sendable (SocketIOServerSocket) -> Void] = []
        /// A closure that returns the details that the admin page adds to a socket's description.
        var details: (@Sendable (String) -> SocketIOValue?)?
        /// The number of clients whose admission is pending.
        var reservations = 0
    }

    init(name: String, parent: SocketIOParentNamespace? = nil, context: Context) {
        self.name = name
        self.parent = parent
        self.recovery = context.recovery.map { SocketIORecoveryLog($0, clock: context.clock) }
        self.context = context
    }

    /// An emit to every socket of the namespace.
    public var broadcast: SocketIOBroadcast { SocketIOBroadcast(namespace: self) }

    var cluster: SocketIOClusterNode? { self.context.cluster }
    var pendingRequests: PendingRequests { self.context.pendingRequests }
    var parser: SocketIOParser { self.context.parser }
    var deflate: WebSocketDeflateConfiguration? { self.context.deflate }
    var ackTimeout: Duration { self.context.ackTimeout }
    var clusterTimeout: Duration { self.context.clusterTimeout }

    /// Returns an ack id that is unique in this namespace. A broadcast uses one id for all its
    /// recipients.
    func makeAckID() -> Int { self.nextAckID.loadThenWrappingIncrement(ordering: .relaxed) }

    func reportUnencodable(_ event: String, _ error: any Error) {
        self.context.logger.error("Event encoding failed", metadata: ["socketio.event": "\(event)", "error": "\(error)"])
    }

    /// Logs the error of a handler when the configuration has no `onHandlerError`. Never logs the
    /// payload.
    func reportHandlerError(_ error: any Error, _ event: SocketIOReceivedEvent) {
        // A client can cause any number of payload errors, so they are logged at `debug` only.
        let level: Logger.Level = (error as? SocketIOError)?.code == .invalidPayload ? .debug : .warning
        self.context.logger.log(level: level, "Handler failed", metadata: ["socketio.event": "\(event.name)", "error": "\(error)"])
    }

    // MARK: Admission

    /// Adds a check for new sockets. Checks run in the order added, before `onConnection`. Throw a
    /// `SocketIOConnectionRefusal` to refuse the socket with a message and data.
    ///
    /// Any other error refuses the socket with a generic message and is logged. Its text is not
    /// sent.
    public func use(_ middleware: @escaping Middleware) {
        self.state.withLockedValue { $0.middleware.append(middleware) }
    }

    /// Calls `handler` for every new socket, on the socket's event loop, after the answer to the
    /// client's CONNECT has been sent.
    public func onConnection(_ handler: @escaping @Sendable (SocketIOServerSocket) -> Void) {
        self.state.withLockedValue { $0.connectionHandlers.append(handler) }
    }

    /// Calls `handler` for every new socket before all other handlers.
    func onConnectionFirst(_ handler: @escaping @Sendable (SocketIOServerSocket) -> Void) {
        self.state.withLockedValue { $0.firstConnectionHandlers.append(handler) }
    }

    var middleware: [Middleware] { (self.parent?.middleware ?? []) + self.state.withLockedValue { $0.middleware } }

    func connected(_ socket: SocketIOServerSocket) {
        for observer in socket.shared.observers { observer.connected(socket) }
        let (first, own) = self.state.withLockedValue { ($0.firstConnectionHandlers, $0.connectionHandlers) }
        for handler in first { handler(socket) }
        for handler in self.parent?.connectionHandlers ?? [] { handler(socket) }
        for handler in own { handler(socket) }
    }

    // MARK: Sockets

    /// The sockets that are connected to this server.
    public var sockets: [SocketIOServerSocket] { self.state.withLockedValue { Array($0.sockets.values) } }

    /// Returns this server's sockets in a room. A room without members does not exist.
    public func sockets(in room: String) -> [SocketIOServerSocket] { self.sockets(in: SocketIOTargets(rooms: [room])) }

    /// The rooms of this server's sockets, including each socket's own room.
    public var rooms: [String] { self.state.withLockedValue { $0.observedRooms.rooms.names } }

    func sockets(in targets: SocketIOTargets) -> [SocketIOServerSocket] {
        self.recipients(of: targets).groups.flatMap(\.sockets)
    }

    /// Returns the targeted sockets, grouped by event loop.
    func recipients(of targets: SocketIOTargets) -> Recipients {
        self.state.withLockedValue { state in
            if targets.includesAllSockets { return state.recipients }
            func sockets(_ ids: SocketIORoomNames) -> [SocketIOServerSocket] { ids.compactMap { state.sockets[UTF8Key($0)] } }
            // Without rooms, most sockets of the namespace are selected: look up only the excluded
            // sockets.
            guard targets.rooms.isEmpty else { return Recipients(sockets(state.observedRooms.rooms.members(of: targets))) }
            return state.recipients.without(targets.except.flatMap { sockets(state.observedRooms.rooms.members(of: $0)) })
        }
    }

    func add(_ socket: SocketIOServerSocket) {
        self.changeRooms { state, events in
            if let former = state.sockets.updateValue(socket, forKey: UTF8Key(socket.id)) { state.recipients.remove(former) }
            state.recipients.add(socket)
            state.observedRooms.join(socket.id, socket.id, telling: &events)
        }
    }

    func member(_ id: String) -> SocketIOServerSocket? { self.state.withLockedValue { $0.sockets[UTF8Key(id)] } }

    func contains(_ socket: SocketIOServerSocket) -> Bool {
        self.state.withLockedValue { $0.sockets[UTF8Key(socket.id)] === socket }
    }

    func remove(_ socket: SocketIOServerSocket) {
        self.changeRooms { state, events in
            if let present = state.sockets.removeValue(forKey: UTF8Key(socket.id)) { state.recipients.remove(present) }
            state.observedRooms.leaveAll(socket.id, telling: &events)
        }
        if self.parent != nil { self.context.becameIdle(self) }
    }

    // MARK: Rooms

    /// Calls `handler` for every change of a room on this server. The handler runs on the thread
    /// that makes the change and must not block.
    public func onRoomEvent(_ handler: @escaping @Sendable (SocketIORoomEvent) -> Void) {
        self.state.withLockedValue { state in
            state.roomHandlers.append(handler)
            state.observedRooms.isWatched = true
        }
    }

    func join(_ socket: SocketIOServerSocket, _ rooms: [String]) { self.join([socket], rooms) }

    func join(_ sockets: [SocketIOServerSocket], _ rooms: [String]) {
        self.changeRooms { state, events in
            // Skip sockets that have left: a late join would leak the room.
            for socket in sockets where state.sockets[UTF8Key(socket.id)] === socket {
                for room in rooms { state.observedRooms.join(socket.id, room, telling: &events) }
            }
        }
    }

    func leave(_ socket: SocketIOServerSocket, _ room: String) { self.leave([socket], [room]) }

    func leave(_ sockets: [SocketIOServerSocket], _ rooms: [String]) {
        self.changeRooms { state, events in
            for socket in sockets {
                for room in rooms { state.observedRooms.leave(socket.id, room, telling: &events) }
            }
        }
    }

    func rooms(of socket: SocketIOServerSocket) -> SocketIORoomNames {
        self.state.withLockedValue { $0.observedRooms.rooms.rooms(of: socket.id) }
    }

    /// Changes the rooms inside the lock, and calls the handlers of the changes outside it.
    private func changeRooms(_ change: (inout State, inout [SocketIORoomEvent]) -> Void) {
        var events: [SocketIORoomEvent] = []
        let handlers = self.state.withLockedValue { state in
            change(&state, &events)
            return events.isEmpty ? [] : state.roomHandlers
        }
        for event in events {
            for handler in handlers { handler(event) }
        }
    }

    /// Returns the descriptions of the targeted sockets for other servers.
    func descriptions(of targets: SocketIOTargets) -> [SocketIOSocketDescription] {
        let sockets = self.sockets(in: targets)
        let (rooms, details) = self.state.withLockedValue { state in
            (sockets.map { state.observedRooms.rooms.rooms(of: $0.id) }, state.details)
        }
        // Build the descriptions outside the lock, because this takes time.
        return zip(sockets, rooms).map { socket, rooms in
            var data = socket.data
            if let details = details?(socket.id) { data.addAdminDetails(details) }
            return SocketIOSocketDescription(id: socket.id, handshake: socket.handshake.value, rooms: rooms, data: data)
        }
    }

    // MARK: For the admin page

    func setDescriptionDetails(_ details: @escaping @Sendable (_ socketID: String) -> SocketIOValue?) {
        self.state.withLockedValue { $0.details = details }
    }

    func onDataChange(_ handler: @escaping @Sendable (SocketIOServerSocket) -> Void) {
        self.state.withLockedValue { $0.dataHandlers.append(handler) }
    }

    func dataChanged(of socket: SocketIOServerSocket) {
        for handler in self.state.withLockedValue({ $0.dataHandlers }) { handler(socket) }
    }

    // MARK: Lifetime of a dynamic namespace

    /// Registers the namespace with its parent and the cluster, before clients can find it.
    func opened() {
        self.parent?.add(self)
        guard let cluster = self.context.cluster else { return }
        cluster.opened(namespace: self.name)
        let name = self.name
        self.onRoomEvent { event in
            switch event {
            case .created(let room): cluster.changed(room: room, in: name, exists: true)
            case .deleted(let room): cluster.changed(room: room, in: name, exists: false)
            case .joined, .left: break
            }
        }
    }

    /// Unregisters the namespace after clients can no longer find it.
    func closed() {
        self.parent?.remove(self)
        self.context.cluster?.closed(namespace: self.name)
    }

    /// Keeps the namespace for a pending admission until ``release()``.
    func reserve() {
        if self.parent != nil { self.state.withLockedValue { $0.reservations += 1 } }
    }

    /// Ends a pending admission.
    func release() {
        guard self.parent != nil else { return }
        self.state.withLockedValue { $0.reservations -= 1 }
        self.context.becameIdle(self)
    }

    var isIdle: Bool {
        guard self.state.withLockedValue({ $0.sockets.isEmpty && $0.reservations == 0 }) else { return false }
        return (self.recovery?.sessionCount ?? 0) == 0
    }

    /// Handles the removal of expired sessions from the recovery log. A dynamic namespace without
    /// sessions may now be empty.
    func recoverySwept() {
        if self.parent != nil { self.context.becameIdle(self) }
    }

    // MARK: Events of other servers

    func addServerSideHandler(_ event: String, _ handler: @escaping @Sendable (SocketIOServerSideEvent) -> Void) {
        self.state.withLockedValue { $0.serverSideHandlers[UTF8Key(event), default: []].append(handler) }
    }

    func receivedServerSide(_ event: SocketIOServerSideEvent) {
        for handler in self.state.withLockedValue({ $0.serverSideHandlers[UTF8Key(event.name)] ?? [] }) { handler(event) }
    }
}
