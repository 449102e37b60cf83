import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol
import Foundation
import Logging
import NIOConcurrencyHelpers

/// Sends the events of a server to the admin page.
///
/// It uses the same handlers of namespaces, sockets and rooms as an application. Source: the
/// events and features of `@socket.io/admin-ui`.
final class SocketIOAdmin: Sendable {
    let configuration: SocketIOAdminConfiguration
    let namespace: SocketIONamespace
    let gate: SocketIOAdminGate
    let traffic = SocketIOTraffic()
    private let pendingRequests: PendingRequests
    private let state = NIOLockedValueBox(State())

    private struct State {
        weak var server: SocketIOServer?
        /// By socket id, the details that a socket's description does not contain: the id of its
        /// connection and its transport.
        var details: [String: Details] = [:]
    }

    struct Details: Sendable {
        /// A prefix of the session id. The whole id is a secret.
        var clientID: String
        var transport: String
    }

    init(_ configuration: SocketIOAdminConfiguration, server: SocketIOServer, pendingRequests: PendingRequests) {
        self.configuration = configuration
        self.namespace = server.ownNamespace(configuration.namespace)
        self.gate = SocketIOAdminGate(configuration, pendingRequests: pendingRequests)
        self.pendingRequests = pendingRequests
        self.state.withLockedValue { $0.server = server }
    }

    var server: SocketIOServer? { self.state.withLockedValue { $0.server } }
    private var isVerbose: Bool { self.configuration.mode == .development }

    // MARK: Start

    func start() {
        if case .basic = self.configuration.authentication.value {
            self.namespace.use { [gate] socket in try await gate.admit(socket) }
        }
        self.namespace.onConnection { [weak self] socket in self?.connected(socket) }
        if self.isVerbose, let server = self.server {
            server.onNewNamespace { [weak self] namespace in self?.watch(namespace) }
            for namespace in server.allNamespaces { self.watch(namespace) }
        }
        self.sendStatistics()
    }

    /// Sets up a socket of the page: sends it the session and the configuration, and adds its
    /// listeners.
    private func connected(_ socket: SocketIOServerSocket) {
        if let session = socket.value(for: SocketIOAdminGate.sessionKey, as: String.self) { socket.emit("session", session) }
        if !self.configuration.isReadOnly { self.listen(to: socket) }
        socket.emit("config", arguments: [["supportedFeatures": .array(self.features.map { .string($0) })]])
        if self.isVerbose { self.sendAllSockets(to: socket) }
    }

    private var features: [String] {
        let commands = ["EMIT", "JOIN", "LEAVE", "DISCONNECT", "MJOIN", "MLEAVE", "MDISCONNECT"]
        return (self.configuration.isReadOnly ? [] : commands) + ["AGGREGATED_EVENTS"] + (self.isVerbose ? ["ALL_EVENTS"] : [])
    }

    // MARK: Figures

    private func sendStatistics() {
        guard let server = self.server else { return }
        if self.isWatched {
            self.namespace.emit("server_stats", arguments: [self.statistics(of: server)])
        } else {
            _ = self.traffic.take()  // without a page, discards counts that would be outdated later
        }
        self.pendingRequests.schedule(in: self.configuration.statisticsInterval) { [weak self] in self?.sendStatistics() }
    }

    private func statistics(of server: SocketIOServer) -> SocketIOValue {
        let host = ProcessInfo.processInfo.hostName
        let second = Int64(Date().timeIntervalSince1970) * 1000
        let events = self.traffic.take().map { count -> SocketIOValue in
            var event: JSONObject = ["timestamp": .integer(second), "type": .string(count.type), "count": .integer(Int64(count.count))]
            event["subType"] = count.subType.map { .string($0) }
            return .object(event)
        }
        let namespaces = server.allNamespaces.sorted { $0.name < $1.name }.map { namespace -> SocketIOValue in
            ["name": .string(namespace.name), "socketsCount": .integer(Int64(namespace.sockets.count))]
        }
        return [
            "serverId": .string(self.configuration.serverID ?? host), "hostname": .string(host),
            "pid": .integer(Int64(ProcessInfo.processInfo.processIdentifier)), "uptime": .double(server.uptime),
            "clientsCount": .integer(Int64(server.clientCount)), "pollingClientsCount": .integer(Int64(self.traffic.pollingClients)),
            "aggregatedEvents": .array(events), "namespaces": .array(namespaces),
        ]
    }

    // MARK: Sockets, rooms, events

    private func watch(_ namespace: SocketIONamespace) {
        let name = namespace.name
        let isAdmin = name == self.namespace.name
        namespace.setDescriptionDetails { [weak self] socket in self?.details(of: socket) }
        namespace.onConnectionFirst { [weak self] socket in self?.watch(socket, isAdmin: isAdmin) }
        namespace.onDataChange { [weak self] socket in
            self?.notify("socket_updated", [["id": .string(socket.id), "nsp": .string(name), "data": socket.data]])
        }
        namespace.onRoomEvent { [weak self] event in
            switch event {
            case .joined(let room, let socket):
                // The page's socket joins its rooms before its CONNECT is answered, and must not
                // receive an event before that answer.
                let except = isAdmin ? [socket] : []
                self?.notify("room_joined", [.string(name), .string(room), .string(socket), Self.time], except: except)
            case .left(let room, let socket): self?.notify("room_left", [.string(name), .string(room), .string(socket), Self.time])
            case .created, .deleted: break
            }
        }
    }

    /// Reports the events of a socket. Must be called on the socket's event loop.
    private func watch(_ socket: SocketIOServerSocket, isAdmin: Bool) {
        let (id, name) = (socket.id, socket.namespace.name)
        if let session = socket.connection?.session {
            let details = Details(clientID: String(session.idPrefix), transport: session.transport?.rawValue ?? "polling")
            self.state.withLockedValue { $0.details[id] = details }
        }
        if let description = socket.namespace.descriptions(of: SocketIOTargets(rooms: [id])).first {
            self.notify("socket_connected", [Self.serialize(description, namespace: name), Self.time])
        }
        if !isAdmin {
            _ = socket.onAny { [weak self] event in
                self?.notify("event_received", [.string(name), .string(id), .array([.string(event.name)] + event.arguments), Self.time])
            }
            _ = socket.onAnyOutgoing { [weak self] event, arguments in
                self?.notify("event_sent", [.string(name), .string(id), .array([.string(event)] + arguments), Self.time])
            }
        }
        socket.onDisconnect { [weak self] reason in
            guard let self else { return }
            self.state.withLockedValue { $0.details[id] = nil }
            self.notify("socket_disconnected", [.string(name), .string(id), .string(reason.description), Self.time])
        }
    }

    /// Reports that the client of these sockets upgraded to another transport.
    func upgraded(_ sockets: [SocketIOServerSocket], to transport: EngineIOTransport) {
        let transport = transport.rawValue
        for socket in sockets {
            self.state.withLockedValue { $0.details[socket.id]?.transport = transport }
            self.notify(
                "socket_updated", [["id": .string(socket.id), "nsp": .string(socket.namespace.name), "transport": .string(transport)]])
        }
    }

    /// Whether a page may be connected. A page can be connected to any server of a cluster.
    private var isWatched: Bool { self.namespace.cluster != nil || !self.namespace.isIdle }

    private func notify(_ event: String, _ arguments: @autoclosure () -> [SocketIOValue], except: [String] = []) {
        if self.isWatched { self.namespace.except(except).emit(event, arguments: arguments()) }
    }

    /// The current time in the JSON form of JavaScript's dates: `2026-11-21T19:10:26.123Z`.
    private static var time: SocketIOValue {
        .string(Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }

    private func details(of socket: String) -> SocketIOValue? {
        self.state.withLockedValue { $0.details[socket] }.map { ["clientId": .string($0.clientID), "transport": .string($0.transport)] }
    }

    // MARK: All sockets

    private func sendAllSockets(to page: SocketIOServerSocket) {
        guard let server = self.server else { return }
        let all = NIOLockedValueBox<(sockets: [SocketIOValue], waiting: Int)>(([], 0))
        let namespaces = server.allNamespaces
        all.withLockedValue { $0.waiting = namespaces.count }
        for namespace in namespaces {
            namespace.fetchDescriptions { descriptions in
                let sockets = descriptions.map { Self.serialize($0, namespace: namespace.name) }
                let done = all.withLockedValue { all -> [SocketIOValue]? in
                    all.sockets += sockets
                    all.waiting -= 1
                    return all.waiting == 0 ? all.sockets : nil
                }
                if let done { page.emit("all_sockets", arguments: [.array(done)]) }
            }
        }
    }

    /// Returns a socket in the format of the page, without the auth, which may contain a token.
    static func serialize(_ socket: SocketIOSocketDescription, namespace: String) -> SocketIOValue {
        var data = socket.data
        let admin = data.removeAdminDetails()
        var handshake = socket.handshake.objectValue ?? [:]
        handshake["auth"] = nil
        let headers = handshake["headers"]
        if let address = headers?["cf-connecting-ip"] ?? headers?["x-forwarded-for"] { handshake["address"] = address }
        return [
            "id": .string(socket.id), "clientId": admin?["clientId"] ?? .null, "transport": admin?["transport"] ?? .null,
            "nsp": .string(namespace), "data": data, "handshake": .object(handshake),
            "rooms": .array(socket.rooms.sorted().map { .string($0) }),
        ]
    }
}

extension SocketIOValue {
    private static let adminKey = "_admin"

    /// Adds the admin page's details of a socket to its `data`, for other servers.
    mutating func addAdminDetails(_ details: SocketIOValue) {
        guard var object = self.objectValue else { return }
        object[Self.adminKey] = details
        self = .object(object)
    }

    mutating func removeAdminDetails() -> SocketIOValue? {
        guard var object = self.objectValue, let details = object[Self.adminKey] else { return nil }
        object[Self.adminKey] = nil
        self = .object(object)
        return details
    }
}

// The commands of the page. The last argument is a room. Without a room, the command applies to the
// whole namespace.
extension SocketIOAdmin {
    func listen(to page: SocketIOServerSocket) {
        _ = page.on("emit") { [weak self] (event: SocketIOReceivedEvent) in
            let arguments = event.arguments
            guard arguments.count >= 3, let name = arguments[2].stringValue else { return }
            self?.target(arguments[0], filter: arguments[1])?.emit(name, arguments: Array(arguments[3...]))
        }
        _ = page.on("join") { [weak self] (event: SocketIOReceivedEvent) in
            guard let (target, room) = self?.roomCommand(event) else { return }
            target.socketsJoin(room)
        }
        _ = page.on("leave") { [weak self] (event: SocketIOReceivedEvent) in
            guard let (target, room) = self?.roomCommand(event) else { return }
            target.socketsLeave(room)
        }
        _ = page.on("_disconnect") { [weak self] (event: SocketIOReceivedEvent) in
            let arguments = event.arguments
            guard let namespace = arguments.first else { return }
            let close = arguments.count > 1 ? arguments[1].boolValue ?? false : false
            self?.target(namespace, filter: arguments.count > 2 ? arguments[2] : .null)?.disconnectSockets(close: close)
        }
    }

    private func roomCommand(_ event: SocketIOReceivedEvent) -> (SocketIOBroadcast, String)? {
        let arguments = event.arguments
        guard arguments.count >= 2, let room = arguments[1].stringValue else { return nil }
        return self.target(arguments[0], filter: arguments.count > 2 ? arguments[2] : .null).map { ($0, room) }
    }

    /// Returns a broadcast to the namespace, if it exists, or to one of its rooms. A room that is
    /// not a string matches nothing, so that a malformed command does not reach every socket.
    private func target(_ namespace: SocketIOValue, filter: SocketIOValue) -> SocketIOBroadcast? {
        guard let name = namespace.stringValue, let found = self.server?.existingNamespace(name) else { return nil }
        switch filter {
        case .null: return found.broadcast
        case .string(let room): return room.isEmpty ? found.broadcast : found.to(room)
        case .bool, .integer, .double, .binary, .date, .array, .object: return nil
        }
    }
}
