import ApusJSON

/// The state machine of one namespace in a client: sends CONNECT and DISCONNECT, and interprets the
/// packets received.
///
/// Source: Socket.IO protocol v5 and v4, "Connection to a namespace", "Disconnection from a
/// namespace".
package struct SocketIOClientNamespace: Sendable {
    /// A received event.
    package struct Event: Equatable, Sendable {
        package var name: String
        package var arguments: SocketIOPayload
        package var ackID: Int?

        package init(name: String, arguments: SocketIOPayload, ackID: Int?) {
            self.name = name
            self.arguments = arguments
            self.ackID = ackID
        }
    }

    private enum State: Equatable {
        /// Not in use. Transitions to `waiting` or `authenticating` (open).
        case closed
        /// No Engine.IO session exists. Transitions to `authenticating` (session opened) or
        /// `closed`.
        case waiting
        /// The caller obtains the auth. Transitions to `connecting` (authenticated), `waiting`
        /// (session lost) or `closed`.
        case authenticating
        /// CONNECT was sent. Events that precede its answer are kept. Transitions to `connected`,
        /// `waiting` or `closed`.
        case connecting(early: [Event])
        /// Transitions to `waiting` (session lost) or `closed`.
        case connected(id: String)
    }

    private let name: String
    private var state = State.closed
    /// The session that the namespace uses or will use.
    private var session: SocketIOClientSession?
    /// Distinguishes connection attempts, so that a late auth is ignored.
    private var attempt = 0
    private let maximumEarlyEvents: Int
    private let maximumEarlyBytes: Int
    /// The bytes of the events in `connecting`.
    private var earlyBytes = 0
    private var recovery = SocketIOClientRecovery()

    /// Creates a closed namespace.
    ///
    /// - Parameters:
    ///   - name: The namespace.
    ///   - maximumEarlyEvents: The maximum number of events kept before the answer to CONNECT; more
    ///     are a protocol violation. python-socketio sends the events of its connect handler before
    ///     the answer. A server that recovers a session sends the missed events before it.
    ///   - maximumEarlyBytes: The maximum number of bytes of the events kept before the answer to
    ///     CONNECT.
    package init(name: String = "/", maximumEarlyEvents: Int = 1000, maximumEarlyBytes: Int = 16 << 20) {
        self.name = name
        self.maximumEarlyEvents = maximumEarlyEvents
        self.maximumEarlyBytes = maximumEarlyBytes
    }

    /// The socket's id from the server, while connected.
    package var id: String? {
        if case .connected(let id) = self.state { return id }
        return nil
    }

    /// Whether the namespace is open.
    package var isActive: Bool { self.state != .closed }

    /// Whether the answer to CONNECT is pending.
    package var isConnecting: Bool {
        if case .connecting = self.state { return true }
        return false
    }

    /// Whether the server accepted CONNECT.
    package var isConnected: Bool { self.id != nil }

    package enum OpenAction: Equatable { case fetchAuth(attempt: Int), waitForSession, doNothing }

    /// Opens the namespace.
    package mutating func open(in session: SocketIOClientSession?) -> OpenAction {
        guard self.state == .closed else { return .doNothing }
        self.state = .waiting
        return session.map { self.sessionOpened($0) } ?? .waitForSession
    }

    /// Records that an Engine.IO session opened.
    package mutating func sessionOpened(_ session: SocketIOClientSession) -> OpenAction {
        guard self.state == .waiting else { return .doNothing }
        self.session = session
        self.state = .authenticating
        self.attempt += 1
        return .fetchAuth(attempt: self.attempt)
    }

    package enum AuthenticatedAction: Equatable {
        /// Send CONNECT with this auth: the application's auth, with the members that request a
        /// recovery.
        case sendConnect(auth: SocketIOValue?)
        case doNothing
    }

    /// Records the auth of an attempt.
    package mutating func authenticated(attempt: Int, _ auth: SocketIOValue? = nil) -> AuthenticatedAction {
        guard self.state == .authenticating, attempt == self.attempt else { return .doNothing }  // session lost
        self.state = .connecting(early: [])
        self.earlyBytes = 0
        return .sendConnect(auth: self.recovery.auth(auth))
    }

    /// Returns whether this attempt awaits its auth or the answer to CONNECT.
    package func isPending(attempt: Int) -> Bool {
        guard attempt == self.attempt else { return false }
        switch self.state {
        case .authenticating, .connecting: return true
        case .closed, .waiting, .connected: return false
        }
    }

    package enum ReceivedAction: Equatable {
        /// The server accepted CONNECT. `early` contains the events received before. If
        /// `isRecovered`, the server resumed the lost session, and `early` contains the missed
        /// events.
        case connected(id: String, early: [Event], isRecovered: Bool = false)
        /// The server refused CONNECT. The client does not retry.
        case refused(SocketIOError)
        case deliver(Event)
        case resolveAck(id: Int, arguments: [SocketIOValue])
        /// The server disconnected the namespace. The client does not rejoin.
        case disconnected
        /// The server accepted CONNECT in the format of Socket.IO 2.x, although the session has
        /// another version. Close the connection.
        case serverIsVersion4
        /// Close the connection.
        case fail(SocketIOError)
        case doNothing
    }

    /// Handles a packet of this namespace.
    ///
    /// - Parameter bytes: The size of the packet on the wire.
    package mutating func receivedPacket(_ content: SocketIOPacket.Content, bytes: Int = 0) -> ReceivedAction {
        switch self.state {
        case .closed, .waiting, .authenticating:
            return .doNothing  // sent before the server received this client's DISCONNECT
        case .connecting(var early):
            self.state = .connecting(early: [])
            switch content {
            case .connect(let payload):
                let derived = self.session.flatMap { $0.version.socketID(engineID: $0.id, namespace: self.name) }
                guard let id = derived ?? payload?["sid"]?.stringValue else {
                    guard payload != nil else { return .serverIsVersion4 }
                    return .fail(SocketIOError(.invalidPayload, message: "the server's CONNECT has no `sid`"))
                }
                self.state = .connected(id: id)
                let isRecovered = self.recovery.granted(payload)
                early = early.compactMap { self.recovery.receivedEvent($0, isRepeated: isRecovered) }
                return .connected(id: id, early: early, isRecovered: isRecovered)
            case .connectError(let payload):
                self.end()
                return .refused(Self.refusal(payload))
            case .event(let name, let arguments, let ackID):
                guard early.count < self.maximumEarlyEvents, bytes <= self.maximumEarlyBytes - self.earlyBytes else {
                    let bounds = "\(self.maximumEarlyEvents) events or \(self.maximumEarlyBytes) bytes"
                    return .fail(
                        SocketIOError(
                            .malformedPacket,
                            message:
                                "more than \(bounds) arrived before the server's answer to CONNECT (`maximumEarlyEvents`, `maximumEarlyBytes`)"
                        ))
                }
                self.earlyBytes += bytes
                early.append(Event(name: name, arguments: arguments.detached, ackID: ackID))
                self.state = .connecting(early: early)
                return .doNothing
            case .disconnect:
                self.end()
                return .disconnected
            case .ack:
                self.state = .connecting(early: early)
                return .doNothing
            }
        case .connected:
            switch content {
            case .event(let name, let arguments, let ackID):
                let event = Event(name: name, arguments: arguments, ackID: ackID)
                return self.recovery.receivedEvent(event).map { .deliver($0) } ?? .doNothing
            case .ack(let id, let arguments):
                return .resolveAck(id: id, arguments: arguments.arguments)
            case .disconnect:
                self.end()
                return .disconnected
            case .connect, .connectError:
                return .doNothing  // late or duplicate
            }
        }
    }

    /// Returns the error for a refused CONNECT. A server of version 5 sends an object with a
    /// message and data. A server of version 4 sends one of them; python-socketio sends an array of
    /// both.
    private static func refusal(_ payload: SocketIOValue) -> SocketIOError {
        let message: String?
        let data: SocketIOValue?
        switch payload {
        case .string(let text): (message, data) = (text, nil)
        case .object(let object) where object["message"] != nil: (message, data) = (object["message"]?.stringValue, object["data"])
        case .array(let parts): (message, data) = (parts.first?.stringValue, parts.count == 2 ? parts[1] : payload)
        case .null: (message, data) = (nil, nil)
        case .bool, .integer, .double, .binary, .date, .object: (message, data) = (nil, payload)
        }
        return SocketIOError(.connectRefused, message: message ?? "the server refused the namespace", data: data)
    }

    /// Closes the namespace and removes the recovery state: a server does not recover a session
    /// that either side has disconnected.
    private mutating func end() {
        self.state = .closed
        self.recovery.forget()
    }

    package enum SessionLostAction: Equatable { case wasConnected, doNothing }

    /// Records the loss of the Engine.IO session. The namespace remains open.
    package mutating func sessionLost() -> SessionLostAction {
        switch self.state {
        case .connected:
            self.state = .waiting
            return .wasConnected
        case .authenticating, .connecting:
            self.state = .waiting
            return .doNothing
        case .closed, .waiting:
            return .doNothing
        }
    }

    package enum CloseAction: Equatable { case sendDisconnect(wasConnected: Bool), justClose, doNothing }

    /// Closes the namespace at the request of the application.
    package mutating func close() -> CloseAction {
        defer { self.end() }
        switch self.state {
        case .connected: return .sendDisconnect(wasConnected: true)
        case .connecting: return .sendDisconnect(wasConnected: false)
        case .waiting, .authenticating: return .justClose
        case .closed: return .doNothing
        }
    }
}

/// The properties of the Engine.IO session that a namespace needs.
package struct SocketIOClientSession: Hashable, Sendable {
    package let version: SocketIOVersion
    /// The Engine.IO session's id.
    package let id: String

    package init(version: SocketIOVersion, id: String) {
        self.version = version
        self.id = id
    }
}
