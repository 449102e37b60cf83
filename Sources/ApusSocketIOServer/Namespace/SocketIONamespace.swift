import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol
import Atomics
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// A namespace: its sockets, its rooms, and who may come in. Every method may be called from any thread.
public final class SocketIONamespace: SocketIOBroadcasting {
    /// A check that every new socket passes before it is connected.
    public typealias Middleware = @Sendable (SocketIOServerSocket) async throws -> Void

    /// What the namespaces of one server share.
    struct Context: Sendable {
        var logger: Logger
        /// The requests that wait for answers.
        var pendingRequests: PendingRequests
        /// `nil` for a server that is alone: then nothing of a cluster costs anything.
        var cluster: SocketIOClusterNode?
        /// The time clients have to answer, and other servers, where a call names no other.
        var ackTimeout: Duration
        var clusterTimeout: Duration
        /// How lost sockets come back; `nil` for not at all.
        var recovery: SocketIOConnectionStateRecovery?
        /// Tells how old what is kept for them is.
        var clock: @Sendable () -> NIODeadline
        /// How packets are written.
        var parser: SocketIOParser
        /// How the server compresses WebSocket messages; `nil` for not at all.
        var deflate: WebSocketDeflateConfiguration?
        /// Told when a namespace that is dynamic may be empty.
        var becameIdle: @Sendable (SocketIONamespace) -> Void
    }

    /// The name, for example `/` or `/chat`.
    public let name: String
    /// What made a dynamic namespace; its middleware and handlers count here too.
    let parent: SocketIOParentNamespace?
    /// Numbers and keeps the events of the namespace; `nil` when nobody can come back.
    let recovery: SocketIORecoveryLog?
    private let context: Context
    private let state = NIOLockedValueBox(State())
    private let nextAckID = ManagedAtomic(0)

    private struct State {
        var sockets: [UTF8Key: SocketIOServerSocket] = [:]
        /// The same sockets, for broadcasts.
        var recipients = Recipients()
        var observedRooms = ObservedRooms()
        var middleware: [Middleware] = []
        var firstConnectionHandlers: [@Sendable (SocketIOServerSocket) -> Void] = []
        var connectionHandlers: [@Sendable (SocketIOServerSocket) -> Void] = []
        var roomHandlers: [@Sendable (SocketIORoomEvent) -> Void] = []
        var serverSideHandlers: [UTF8Key: [@Sendable (SocketIOServerSideEvent) -> Void]] = [:]
        /// Told when a socket's `data` changed; only the admin page wants to know.
        var dataHandlers: [@Sendable (SocketIOServerSocket) -> Void] = []
        /// What the admin page of any server wants to know of a socket besides its description.
        var details: (@Sendable (String) -> SocketIOValue?)?
        /// Clients that asked for the namespace and are not in it yet.
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

    /// A number no other event of this namespace asks an ack under: what is sent to many sockets has one id for them all.
    func makeAckID() -> Int { self.nextAckID.loadThenWrappingIncrement(ordering: .relaxed) }

    func reportUnencodable(_ event: String, _ error: any Error) {
        self.context.logger.error("An event could not be encoded", metadata: ["socketio.event": "\(event)", "error": "\(error)"])
    }

    /// A handler failed, and the application did not ask to be told. Never the payload.
    func reportHandlerError(_ error: any Error, _ event: SocketIOEvent) {
        // What does not fit the handler's types is the client's doing; at a higher level it could fill the log.
        let level: Logger.Level = (error as? SocketIOError)?.code == .invalidPayload ? .debug : .warning
        self.context.logger.log(level: level, "A handler failed", metadata: ["socketio.event": "\(event.name)", "error": "\(error)"])
    }

    // MARK: Admission

    /// Adds a check, run in the order added, before `onConnection`. Throw a `SocketIOConnectionRefusal` to refuse with a message and data.
    ///
    /// Any other error refuses with a plain message and is logged; its text is not sent.
    public func use(_ middleware: @escaping Middleware) {
        self.state.withLockedValue { $0.middleware.append(middleware) }
    }

    /// Calls `handler` for every new socket, on the socket's event loop, after the client was told that it is connected.
    public func onConnection(_ handler: @escaping @Sendable (SocketIOServerSocket) -> Void) {
        self.state.withLockedValue { $0.connectionHandlers.append(handler) }
    }

    /// The same, before every other handler.
    func onConnectionFirst(_ handler: @escaping @Sendable (SocketIOServerSocket) -> Void) {
        self.state.withLockedValue { $0.firstConnectionHandlers.append(handler) }
    }

    var middleware: [Middleware] { (self.parent?.middleware ?? []) + self.state.withLockedValue { $0.middleware } }

    func connected(_ socket: SocketIOServerSocket) {
        let (first, own) = self.state.withLockedValue { ($0.firstConnectionHandlers, $0.connectionHandlers) }
        for handler in first { handler(socket) }
        for handler in self.parent?.connectionHandlers ?? [] { handler(socket) }
        for handler in own { handler(socket) }
    }

    // MARK: Sockets

    /// The sockets connected to this server now.
    public var sockets: [SocketIOServerSocket] { self.state.withLockedValue { Array($0.sockets.values) } }

    /// The sockets in a room, of this server. A room without members does not exist.
    public func sockets(in room: String) -> [SocketIOServerSocket] { self.sockets(in: SocketIOTargets(rooms: [room])) }

    /// The rooms of this server's sockets, those of single sockets included.
    public var rooms: [String] { self.state.withLockedValue { $0.observedRooms.rooms.names } }

    func sockets(in targets: SocketIOTargets) -> [SocketIOServerSocket] {
        self.recipients(of: targets).groups.flatMap(\.sockets)
    }

    /// The same by event loop.
    func recipients(of targets: SocketIOTargets) -> Recipients {
        self.state.withLockedValue { state in
            if targets.isEverybody { return state.recipients }
            func sockets(_ ids: SocketIORoomNames) -> [SocketIOServerSocket] { ids.compactMap { state.sockets[UTF8Key($0)] } }
            // "Everybody but me" is nearly everybody: nobody is looked up who is meant.
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

    /// Calls `handler` for every change of a room on this server, on the thread that changes it: it must not block.
    public func onRoomEvent(_ handler: @escaping @Sendable (SocketIORoomEvent) -> Void) {
        self.state.withLockedValue { state in
            state.roomHandlers.append(handler)
            state.observedRooms.isWatched = true
        }
    }

    func join(_ socket: SocketIOServerSocket, _ rooms: [String]) { self.join([socket], rooms) }

    func join(_ sockets: [SocketIOServerSocket], _ rooms: [String]) {
        self.changeRooms { state, events in
            // A socket that is gone stays out: a late join would leak the room.
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

    /// Decides inside the lock, tells outside it.
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

    /// What other servers are told of the sockets that are meant.
    func descriptions(of targets: SocketIOTargets) -> [SocketIOSocketDescription] {
        let sockets = self.sockets(in: targets)
        let (rooms, details) = self.state.withLockedValue { state in
            (sockets.map { state.observedRooms.rooms.rooms(of: $0.id) }, state.details)
        }
        // Outside the lock: it takes its time.
        return zip(sockets, rooms).map { socket, rooms in
            var data = socket.data
            if let details = details?(socket.id) { data.addAdminDetails(details) }
            return SocketIOSocketDescription(id: socket.id, handshake: socket.handshake.value, rooms: rooms, data: data)
        }
    }

    // MARK: For the admin page

    func describeAlso(_ details: @escaping @Sendable (_ socketID: String) -> SocketIOValue?) {
        self.state.withLockedValue { $0.details = details }
    }

    func onDataChange(_ handler: @escaping @Sendable (SocketIOServerSocket) -> Void) {
        self.state.withLockedValue { $0.dataHandlers.append(handler) }
    }

    func dataChanged(of socket: SocketIOServerSocket) {
        for handler in self.state.withLockedValue({ $0.dataHandlers }) { handler(socket) }
    }

    // MARK: Life of a dynamic namespace

    /// It is about to be found by clients.
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

    /// It is found no more.
    func closed() {
        self.parent?.remove(self)
        self.context.cluster?.closed(namespace: self.name)
    }

    /// A client asks to come in: the namespace stays until ``release()``.
    func reserve() {
        if self.parent != nil { self.state.withLockedValue { $0.reservations += 1 } }
    }

    /// The client is in, or will not come in.
    func release() {
        guard self.parent != nil else { return }
        self.state.withLockedValue { $0.reservations -= 1 }
        self.context.becameIdle(self)
    }

    var isIdle: Bool {
        guard self.state.withLockedValue({ $0.sockets.isEmpty && $0.reservations == 0 }) else { return false }
        return (self.recovery?.sessionCount ?? 0) == 0
    }

    /// Lost sockets may have been let go of.
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
