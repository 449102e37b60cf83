public import ApusEngineIOProtocol
public import ApusJSON

/// One side of a Socket.IO connection over a WebSocket, without I/O. It converts received messages
/// and the time to events and messages to send.
///
/// ```swift
/// var client = SocketIOEndpoint.client(at: clock.now)
/// for event in client.receive(frame, at: clock.now) {
///     if case .opened = event { try client.connect(to: "/") }
///     if case .connected = event { try client.emit("hello", ["world"]) }
/// }
/// for frame in client.takeOutput() { webSocket.send(frame) }
/// if let deadline = client.deadline { timer.schedule(at: deadline) }
/// ```
///
/// The caller sends and receives the messages of the WebSocket, and provides the time, as with
/// `EngineIOEndpoint`. The caller also implements ack timeouts, reconnection and recovery.
///
/// Source: Socket.IO protocol v5 and v4, "Connection to a namespace", "Sending and receiving data"
/// and "Disconnection from a namespace".
public struct SocketIOEndpoint: Sendable {
    /// An action of the peer or the end of the connection.
    public enum Event: Equatable, Sendable {
        /// The session is open. Only a client receives this event. It can now join namespaces.
        case opened
        /// The client requests a namespace. Answer with ``accept(_:id:)`` or
        /// ``refuse(_:message:data:)``.
        case requested(namespace: String, auth: SocketIOValue)
        /// The server accepted the client in a namespace, with this socket id.
        case connected(namespace: String, id: String)
        /// The server refused the client in a namespace.
        case refused(namespace: String, SocketIOError)
        /// An event. If it has an id, answer with ``acknowledge(_:_:in:)``.
        case event(namespace: String, name: String, arguments: [SocketIOValue], ackID: Int?)
        /// An ack. The peer chooses the id, so ignore an unknown id.
        case acknowledged(namespace: String, id: Int, arguments: [SocketIOValue])
        /// The peer left a namespace, or disconnected this side from it.
        case disconnected(namespace: String)
        /// The connection has ended. Write the output and close the WebSocket.
        case ended(SocketIOError)
    }

    private let isClient: Bool
    private let parser: SocketIOParser
    private let version: SocketIOVersion
    private var engine: EngineIOEndpoint
    private var decoder: SocketIOParser.Decoder
    /// The number of bytes received of the current packet.
    private var packetBytes = 0
    private var nextAckID = 0
    /// The namespaces that a client opened.
    private var joins: [UTF8Key: SocketIOClientNamespace] = [:]
    private var root: SocketIORootAdmission
    private var session: SocketIOClientSession?
    /// The namespaces that the client of a server requested or joined.
    private var members: SocketIOMembers<Void>

    private init(
        isClient: Bool, engine: EngineIOEndpoint, version: EngineIOVersion, parser: SocketIOParser, limits: SocketIOLimits,
        maximumNamespaces: Int
    ) {
        self.isClient = isClient
        self.engine = engine
        self.version = SocketIOVersion(over: version)
        self.parser = parser
        self.members = SocketIOMembers(version: self.version, maximum: maximumNamespaces)
        self.decoder = parser.makeDecoder(version: self.version, limits: limits)
        self.root = SocketIORootAdmission(version: self.version)
    }

    /// Creates the endpoint of a client, which waits for the server's open packet.
    ///
    /// - Parameters:
    ///   - version: The revision of Engine.IO. Default: `v4`. With `v3`, the protocol of Socket.IO
    ///     2.x, the server connects the client to `/` without a request.
    ///   - parser: The format of the packets, the same as on the server.
    ///   - limits: The limits on received packets.
    ///   - now: The current time.
    ///   - timeout: The maximum wait for the open packet. Default: 20 seconds.
    public static func client(
        version: EngineIOVersion = .v4, parser: SocketIOParser = .json, limits: SocketIOLimits = .init(), at now: Duration,
        timeout: Duration = .seconds(20)
    ) -> Self {
        Self(
            isClient: true, engine: .client(version: version, at: now, timeout: timeout), version: version, parser: parser,
            limits: limits, maximumNamespaces: .max)
    }

    /// Creates the endpoint of a server. The output contains the open packet.
    ///
    /// - Parameters:
    ///   - handshake: The parameters of the session.
    ///   - version: The revision of Engine.IO. Default: `v4`. With `v3`, the protocol of Socket.IO
    ///     2.x, clients send no request for `/`: call ``accept(_:id:)`` for it.
    ///   - parser: The format of the packets, the same as on the client.
    ///   - limits: The limits on received packets.
    ///   - maximumNamespaces: The maximum number of namespaces of the client. Further requests are
    ///     refused. Default: 100.
    ///   - now: The current time.
    public static func server(
        _ handshake: EngineIOHandshake, version: EngineIOVersion = .v4, parser: SocketIOParser = .json, limits: SocketIOLimits = .init(),
        maximumNamespaces: Int = 100, at now: Duration
    ) -> Self {
        Self(
            isClient: false, engine: .server(handshake, version: version, at: now), version: version, parser: parser, limits: limits,
            maximumNamespaces: maximumNamespaces)
    }

    /// The time of the next call of ``timerFired(at:)``; `nil` if there is nothing to wait for.
    public var deadline: Duration? { self.engine.deadline }

    /// Whether the session is open.
    public var isOpen: Bool { self.engine.isOpen }

    /// Whether the connection has ended. Received messages are ignored.
    public var isFinished: Bool { self.engine.isFinished }

    /// Returns whether this side can send events in a namespace.
    public func isConnected(to namespace: String) -> Bool {
        guard self.isOpen else { return false }
        if self.isClient { return self.joins[UTF8Key(namespace)]?.isConnected == true }
        return self.members.joined(in: namespace) != nil
    }

    /// Removes and returns the messages to write to the WebSocket.
    public mutating func takeOutput() -> [EngineIOMessage] { self.engine.takeOutput() }
}

// MARK: Received

extension SocketIOEndpoint {
    /// Handles a message of the WebSocket.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - now: The current time.
    public mutating func receive(_ message: EngineIOMessage, at now: Duration) -> [Event] {
        switch self.engine.receive(message, at: now) {
        case .opened(let handshake): self.opened(handshake)
        case .message(let message): self.receivedMessage(message)
        case .ended(let error): [Self.ended(error)]
        case nil: []
        }
    }

    /// Handles the expiry of ``deadline``. Has no effect before that time.
    public mutating func timerFired(at now: Duration) -> [Event] {
        if case .ended(let error) = self.engine.timerFired(at: now) { [Self.ended(error)] } else { [] }
    }

    /// Handles the end of the WebSocket.
    public mutating func transportEnded() -> [Event] {
        if case .ended(let error) = self.engine.transportEnded() { [Self.ended(error)] } else { [] }
    }

    private static func ended(_ error: EngineIOError) -> Event {
        .ended(SocketIOError(error.code == .closed ? .disconnected : .transport, message: error.message, cause: error))
    }

    private mutating func opened(_ handshake: EngineIOHandshake) -> [Event] {
        let session = SocketIOClientSession(version: self.version, id: handshake.sid)
        self.session = session
        if self.version.joinsRootImplicitly {
            var root = SocketIOClientNamespace()
            if case .fetchAuth(let attempt) = root.open(in: session) { _ = root.authenticated(attempt: attempt) }
            self.joins[UTF8Key("/")] = root
        }
        return [.opened]
    }

    private mutating func receivedMessage(_ message: EngineIOMessage) -> [Event] {
        do throws(SocketIOError) {
            self.packetBytes += message.readableBytes
            guard let packet = try self.decoder.received(message) else {
                // Only a client's packets are limited to the joined namespaces.
                if !self.isClient, let name = self.decoder.namespaceOfPartialPacket { try self.members.checkPartialPacket(in: name) }
                return []
            }
            defer { self.packetBytes = 0 }
            return try self.isClient ? self.receivedByClient(packet) : self.receivedByServer(packet)
        } catch {
            self.engine.close()
            return [.ended(error)]
        }
    }

    private mutating func receivedByClient(_ packet: SocketIOPacket) throws(SocketIOError) -> [Event] {
        let name = packet.namespace
        guard var join = self.joins[UTF8Key(name)] else { return [] }
        if name == "/", self.root.receivedPacket(packet.content, isAwaited: join.isConnecting) == .ignore { return [] }
        let action = join.receivedPacket(packet.content, bytes: self.packetBytes)
        self.joins[UTF8Key(name)] = join
        switch action {
        case .connected(let id, let early, _): return [.connected(namespace: name, id: id)] + early.map { Self.event($0, in: name) }
        case .refused(let error): return [.refused(namespace: name, error)]
        case .deliver(let event): return [Self.event(event, in: name)]
        case .resolveAck(let id, let arguments): return [.acknowledged(namespace: name, id: id, arguments: arguments)]
        case .disconnected: return [.disconnected(namespace: name)]
        case .serverIsVersion4:
            throw SocketIOError(.unsupportedVersion, message: "the server uses Engine.IO 3; create the endpoint with version .v3")
        case .fail(let error): throw error
        case .doNothing: return []
        }
    }

    private static func event(_ event: SocketIOClientNamespace.Event, in namespace: String) -> Event {
        .event(namespace: namespace, name: event.name, arguments: event.arguments.arguments, ackID: event.ackID)
    }

    private mutating func receivedByServer(_ packet: SocketIOPacket) throws(SocketIOError) -> [Event] {
        let namespace = packet.namespace
        switch try self.members.received(packet) {
        case .event(_, let name, let arguments, let ackID):
            return [.event(namespace: namespace, name: name, arguments: arguments.arguments, ackID: ackID)]
        case .ack(_, let id, let arguments): return [.acknowledged(namespace: namespace, id: id, arguments: arguments.arguments)]
        case .admit(let namespace, let auth): return [.requested(namespace: namespace, auth: auth)]
        case .refuse(let namespace):
            try self.send(SocketIOPacket(namespace: namespace, content: self.version.refusal(message: "Too many namespaces")))
            return []
        case .leave: return [.disconnected(namespace: namespace)]
        case .abandon:
            self.members.endAdmission(in: namespace)
            return [.disconnected(namespace: namespace)]
        case .ignore: return []
        }
    }
}

// MARK: Sent

extension SocketIOEndpoint {
    /// Requests a namespace. Only a client calls this method. The answer is
    /// ``Event/connected(namespace:id:)`` or ``Event/refused(namespace:_:)``. Has no effect if the
    /// namespace was requested before.
    ///
    /// - Parameters:
    ///   - namespace: The namespace. Default: `/`.
    ///   - auth: The auth, an object. Default: none.
    ///
    /// - Throws: ``SocketIOError/Code/notConnected`` before ``Event/opened``, and
    ///   ``SocketIOError/Code/invalidUse`` for an invalid name or auth.
    public mutating func connect(to namespace: String = "/", auth: SocketIOValue? = nil) throws(SocketIOError) {
        guard let session = self.session, self.isOpen else {
            throw SocketIOError(.notConnected, message: "the session is not open; connect to \(namespace) after the event `opened`")
        }
        var join = self.joins[UTF8Key(namespace)] ?? SocketIOClientNamespace(name: namespace)
        guard case .fetchAuth(let attempt) = join.open(in: session),
            case .sendConnect(let auth) = join.authenticated(attempt: attempt, auth)
        else { return }
        let request = try self.parser.encode(self.version.request(namespace: namespace, auth: auth))
        self.joins[UTF8Key(namespace)] = join
        if namespace == "/", self.root.requested() == .wait { return }
        for message in request { self.engine.send(message) }
    }

    /// Accepts a client in the namespace that it requested.
    ///
    /// - Parameters:
    ///   - namespace: The namespace of ``Event/requested(namespace:auth:)``.
    ///   - id: The id of the new socket, unique in the namespace. It is not sent over Engine.IO 3,
    ///     where the client derives it.
    /// - Throws: ``SocketIOError/Code/notConnected`` if there is no request.
    public mutating func accept(_ namespace: String, id: String) throws(SocketIOError) {
        try self.checkRequested(namespace)
        try self.send(SocketIOPacket(namespace: namespace, content: self.version.grant(sid: id)))
        _ = self.members.join((), in: namespace)
    }

    /// Refuses a client in the namespace that it requested.
    ///
    /// - Parameters:
    ///   - namespace: The namespace.
    ///   - message: The reason for the client.
    ///   - data: Further details for the client. Default: none. A client of Socket.IO 2.x receives
    ///     only the data, or only the message if there is no data.
    /// - Throws: ``SocketIOError/Code/notConnected`` if there is no request;
    ///   ``SocketIOError/Code/invalidUse`` for data that cannot be encoded.
    public mutating func refuse(_ namespace: String, message: String, data: SocketIOValue? = nil) throws(SocketIOError) {
        try self.checkRequested(namespace)
        try self.send(SocketIOPacket(namespace: namespace, content: self.version.refusal(message: message, data: data)))
        self.members.endAdmission(in: namespace)
    }

    private func checkRequested(_ namespace: String) throws(SocketIOError) {
        guard self.isOpen, self.members.isRequested(namespace) else {
            throw SocketIOError(.notConnected, message: "the client has no unanswered CONNECT for \(namespace)")
        }
    }

    /// Sends an event.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - arguments: The arguments of the event. Default: none.
    ///   - namespace: The namespace. Default: `/`.
    ///   - wantsAck: Whether to request an ack. Default: `false`.
    /// - Returns: The id of the ack; `nil` if no ack is requested.
    /// - Throws: ``SocketIOError/Code/notConnected`` unless the namespace is joined;
    ///   ``SocketIOError/Code/invalidUse`` for a reserved name or arguments that cannot be
    ///   encoded.
    @discardableResult
    public mutating func emit(
        _ name: String, _ arguments: [SocketIOValue] = [], in namespace: String = "/", wantsAck: Bool = false
    ) throws(SocketIOError) -> Int? {
        try self.checkConnected(to: namespace)
        let id = wantsAck ? self.nextAckID : nil
        try self.send(SocketIOPacket(namespace: namespace, content: .event(name: name, arguments: SocketIOPayload(arguments), ackID: id)))
        if wantsAck { self.nextAckID += 1 }
        return id
    }

    /// Sends the ack of an event that has an id.
    ///
    /// - Parameters:
    ///   - id: The id of the received event.
    ///   - arguments: The arguments of the ack. Default: none.
    ///   - namespace: The namespace of the event. Default: `/`.
    /// - Throws: The errors of ``emit(_:_:in:wantsAck:)``.
    public mutating func acknowledge(_ id: Int, _ arguments: [SocketIOValue] = [], in namespace: String = "/") throws(SocketIOError) {
        try self.checkConnected(to: namespace)
        try self.send(SocketIOPacket(namespace: namespace, content: .ack(id: id, arguments: SocketIOPayload(arguments))))
    }

    /// Leaves a namespace (by default `/`), or, on a server, disconnects the client from it. Has no
    /// effect unless the namespace is joined, or requested by this client.
    public mutating func disconnect(from namespace: String = "/") {
        if self.isClient {
            guard case .sendDisconnect = self.joins[UTF8Key(namespace)]?.close() else { return }
            if namespace == "/" { self.root.left() }
        } else {
            guard self.members.disconnect(from: namespace) else { return }
        }
        try? self.send(SocketIOPacket(namespace: namespace, content: .disconnect))  // the name was validated when the namespace was joined
    }

    /// Closes the connection. Write the output, then close the WebSocket.
    public mutating func close() { self.engine.close() }

    private func checkConnected(to namespace: String) throws(SocketIOError) {
        guard !self.isConnected(to: namespace) else { return }
        throw SocketIOError(.notConnected, message: "the namespace \(namespace) is not joined")
    }

    private mutating func send(_ packet: SocketIOPacket) throws(SocketIOError) {
        for message in try self.parser.encode(packet) { self.engine.send(message) }
    }
}
