public import ApusJSON
public import ApusSocketIOProtocol
import Logging
import NIOConcurrencyHelpers

/// A namespace: its sockets, its rooms, and who may come in. Every method may be called from any thread.
public final class SocketIONamespace: Sendable {
    /// A check that every new socket passes before it is connected.
    public typealias Middleware = @Sendable (SocketIOServerSocket) async throws -> Void

    /// The name, for example `/` or `/chat`.
    public let name: String
    private let logger: Logger
    private let state = NIOLockedValueBox(State())

    private struct State {
        var sockets: [String: SocketIOServerSocket] = [:]
        var rooms = SocketIORooms()
        var middleware: [Middleware] = []
        var connectionHandlers: [@Sendable (SocketIOServerSocket) -> Void] = []
    }

    init(name: String, logger: Logger) {
        self.name = name
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
    public func sockets(in room: String) -> [SocketIOServerSocket] {
        self.targets(rooms: [room], excluding: [])
    }

    /// Disconnects every socket of a room. `close` ends their whole connections, not only this namespace.
    public func disconnectSockets(in room: String, close: Bool = false) {
        for socket in self.sockets(in: room) { socket.disconnect(close: close) }
    }

    func join(_ socket: SocketIOServerSocket, _ rooms: [String]) {
        self.state.withLockedValue { state in
            guard state.sockets[socket.id] === socket else { return }  // it is gone; a late join would leak the room
            for room in rooms { state.rooms.join(socket.id, room) }
        }
    }

    func leave(_ socket: SocketIOServerSocket, _ room: String) {
        self.state.withLockedValue { $0.rooms.leave(socket.id, room) }
    }

    func rooms(of socket: SocketIOServerSocket) -> Set<String> {
        self.state.withLockedValue { $0.rooms.rooms(of: socket.id) }
    }

    func targets(rooms: Set<String>, excluding excluded: Set<String>) -> [SocketIOServerSocket] {
        self.state.withLockedValue { state in
            if rooms.isEmpty, excluded.isEmpty { return Array(state.sockets.values) }
            return state.rooms.targets(rooms: rooms, excluding: excluded).compactMap { state.sockets[$0] }
        }
    }

    // MARK: Emit

    private var everyone: SocketIOBroadcast { SocketIOBroadcast(namespace: self) }

    /// Narrows an emit to the sockets that are in any of these rooms.
    public func to(_ rooms: String...) -> SocketIOBroadcast { self.everyone.to(rooms) }

    /// Leaves out the sockets that are in any of these rooms (a socket's id is a room too).
    public func except(_ rooms: String...) -> SocketIOBroadcast { self.everyone.except(rooms) }

    /// Sends an event to every socket of the namespace.
    public func emit(_ event: String, arguments: [SocketIOValue]) { self.everyone.emit(event, arguments: arguments) }

    /// Sends an event to every socket of the namespace.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        self.everyone.emit(event, repeat each arguments)
    }

    func reportUnencodable(_ event: String, _ error: any Error) {
        self.logger.error("An event could not be encoded", metadata: ["socketio.event": "\(event)", "error": "\(error)"])
    }
}
