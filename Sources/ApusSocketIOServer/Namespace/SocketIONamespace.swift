public import ApusJSON
public import ApusSocketIOProtocol
import ApusEngineIOServer
import Atomics
import Logging
import NIOConcurrencyHelpers

/// A namespace: its sockets, its rooms, and who may come in. Every method may be called from any thread.
public final class SocketIONamespace: Sendable {
    /// A check that every new socket passes before it is connected.
    public typealias Middleware = @Sendable (SocketIOServerSocket) async throws -> Void

    /// The name, for example `/` or `/chat`.
    public let name: String
    /// How packets are written.
    let parser: SocketIOParser
    private let logger: Logger
    /// How the server compresses WebSocket messages; `nil` for not at all.
    let deflate: WebSocketDeflateConfiguration?
    private let state = NIOLockedValueBox(State())
    private let nextAckID = ManagedAtomic(0)

    private struct State {
        var sockets: [String: SocketIOServerSocket] = [:]
        var rooms = SocketIORooms()
        var middleware: [Middleware] = []
        var connectionHandlers: [@Sendable (SocketIOServerSocket) -> Void] = []
    }

    init(name: String, parser: SocketIOParser, logger: Logger, deflate: WebSocketDeflateConfiguration? = nil) {
        self.name = name
        self.parser = parser
        self.deflate = deflate
        self.logger = logger
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

    var middleware: [Middleware] { self.state.withLockedValue { $0.middleware } }

    func connected(_ socket: SocketIOServerSocket) {
        for handler in self.state.withLockedValue({ $0.connectionHandlers }) { handler(socket) }
    }

    func add(_ socket: SocketIOServerSocket) {
        self.state.withLockedValue { state in
            state.sockets[socket.id] = socket
            state.rooms.join(socket.id, socket.id)
        }
    }

    func remove(_ socket: SocketIOServerSocket) {
        self.state.withLockedValue { state in
            state.sockets[socket.id] = nil
            state.rooms.leaveAll(socket.id)
        }
    }

    // MARK: Sockets and rooms

    /// The sockets connected now.
    public var sockets: [SocketIOServerSocket] { self.state.withLockedValue { Array($0.sockets.values) } }

    /// The sockets in a room. A room without members does not exist.
    public func sockets(in room: String) -> [SocketIOServerSocket] { self.sockets(in: SocketIOTargets(rooms: [room])) }

    func sockets(in targets: SocketIOTargets) -> [SocketIOServerSocket] {
        self.state.withLockedValue { state in
            if targets.isEverybody { return Array(state.sockets.values) }
            return state.rooms.members(of: targets).compactMap { state.sockets[$0] }
        }
    }

    /// A number no other event of this namespace asks an ack under: what is sent to many sockets has one id for them all.
    func makeAckID() -> Int { self.nextAckID.loadThenWrappingIncrement(ordering: .relaxed) }

    /// Disconnects every socket of a room. `close` ends their whole connections, not only this namespace.
    public func disconnectSockets(in room: String, close: Bool = false) {
        for socket in self.sockets(in: room) { socket.disconnect(close: close) }
    }

    func contains(_ socket: SocketIOServerSocket) -> Bool {
        self.state.withLockedValue { $0.sockets[socket.id] === socket }
    }

    func join(_ socket: SocketIOServerSocket, _ rooms: [String]) {
        self.state.withLockedValue { state in
            guard state.sockets[socket.id] === socket else { return }  // it is gone; a late join would leak the room
            for room in rooms { state.rooms.join(socket.id, room) }
        }
    }

    func leave(_ socket: SocketIOServerSocket, _ room: String) {
        self.state.withLockedValue { state in _ = state.rooms.leave(socket.id, room) }
    }

    func rooms(of socket: SocketIOServerSocket) -> Set<String> {
        self.state.withLockedValue { $0.rooms.rooms(of: socket.id) }
    }

    // MARK: Emit

    private var everyone: SocketIOBroadcast { SocketIOBroadcast(namespace: self) }

    /// Narrows an emit to the sockets that are in any of these rooms.
    public func to(_ rooms: String...) -> SocketIOBroadcast { self.everyone.to(rooms) }

    /// Narrows an emit to the sockets that are in any of these rooms; an array without any means everybody.
    public func to(_ rooms: [String]) -> SocketIOBroadcast { self.everyone.to(rooms) }

    /// Narrows an emit to the sockets that are in any of these rooms; `to` by its other name.
    public func `in`(_ rooms: String...) -> SocketIOBroadcast { self.everyone.to(rooms) }

    /// Narrows an emit to the sockets that are in any of these rooms; `to` by its other name.
    public func `in`(_ rooms: [String]) -> SocketIOBroadcast { self.everyone.to(rooms) }

    /// Leaves out the sockets that are in any of these rooms (a socket's id is a room too).
    public func except(_ rooms: String...) -> SocketIOBroadcast { self.everyone.except(rooms) }

    /// Leaves out the sockets that are in any of these rooms (a socket's id is a room too).
    public func except(_ rooms: [String]) -> SocketIOBroadcast { self.everyone.except(rooms) }

    /// An emit to the sockets connected to this server, whoever else is in the cluster.
    public var local: SocketIOBroadcast { self.everyone.local }

    /// An emit that may be lost for clients that are not ready to receive it now.
    public var volatile: SocketIOBroadcast { self.everyone.volatile }

    /// An emit that says whether a transport that compresses may compress it.
    public func compress(_ isCompressed: Bool) -> SocketIOBroadcast { self.everyone.compress(isCompressed) }

    /// An emit, or another call, that waits this long for answers.
    public func timeout(_ timeout: Duration) -> SocketIOBroadcast { self.everyone.timeout(timeout) }

    /// Sends an event to every socket of the namespace.
    public func emit(_ event: String, arguments: [SocketIOValue]) { self.everyone.emit(event, arguments: arguments) }

    /// Sends an event to every socket of the namespace.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        self.everyone.emit(event, repeat each arguments)
    }

    /// A handler failed, and the application did not ask to be told. Never the payload.
    func reportHandlerError(_ error: any Error, _ event: SocketIOEvent) {
        // What does not fit the handler's types is the client's doing; at a higher level it could fill the log.
        let level: Logger.Level = error is DecodingError ? .debug : .warning
        self.logger.log(level: level, "A handler failed", metadata: ["socketio.event": "\(event.name)", "error": "\(error)"])
    }

    func reportUnencodable(_ event: String, _ error: any Error) {
        self.logger.error("An event could not be encoded", metadata: ["socketio.event": "\(event)", "error": "\(error)"])
    }
}
