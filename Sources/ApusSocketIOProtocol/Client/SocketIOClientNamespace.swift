import ApusJSON

/// The client's side of one namespace: when to send CONNECT and DISCONNECT, and what a packet means.
///
/// Source: Socket.IO protocol v5 and v4, "Connection to a namespace", "Disconnection from a namespace".
package struct SocketIOClientNamespace: Sendable {
    /// An event as it came.
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
        /// Not wanted. Leaves to `waiting` or `asking` (open).
        case closed
        /// Wanted; there is no Engine.IO session. Leaves to `asking` (session) or `closed`.
        case waiting
        /// The shell fetches the auth. Leaves to `connecting` (authenticated), `waiting` (session lost) or `closed`.
        case asking
        /// CONNECT is out. What came before its answer is kept. Leaves to `connected`, `waiting`, `closed`.
        case connecting(early: [Event])
        /// Leaves to `waiting` (session lost) or `closed`.
        case connected(id: String)
    }

    private let name: String
    private var state = State.closed
    /// The session the namespace is, or is to be, in.
    private var session: SocketIOClientSession?
    /// Distinguishes the attempts, for an auth that comes back after its attempt is over.
    private var attempt = 0
    private let maximumEarlyEvents: Int
    private let maximumEarlyBytes: Int
    /// Of the events kept while CONNECT is out.
    private var earlyBytes = 0
    private var recovery = SocketIOClientRecovery()

    /// - Parameters:
    ///   - name: The namespace.
    ///   - maximumEarlyEvents: Events kept that come before the answer to CONNECT (python's server sends those of its connect
    ///   handler first, a server that recovers a session those that were missed). More are a breach of the protocol.
    package init(name: String = "/", maximumEarlyEvents: Int = 1000, maximumEarlyBytes: Int = 16 << 20) {
        self.name = name
        self.maximumEarlyEvents = maximumEarlyEvents
        self.maximumEarlyBytes = maximumEarlyBytes
    }

    /// The id the server gave, while connected.
    package var id: String? {
        if case .connected(let id) = self.state { return id }
        return nil
    }

    /// Whether somebody wants this namespace.
    package var isActive: Bool { self.state != .closed }

    /// Whether the answer to CONNECT is waited for.
    package var isConnecting: Bool {
        if case .connecting = self.state { return true }
        return false
    }

    /// Whether CONNECT was granted.
    package var isConnected: Bool { self.id != nil }

    package enum OpenAction: Equatable { case fetchAuth(attempt: Int), waitForSession, doNothing }

    /// Somebody wants the namespace.
    package mutating func open(in session: SocketIOClientSession?) -> OpenAction {
        guard self.state == .closed else { return .doNothing }
        self.state = .waiting
        return session.map { self.sessionOpened($0) } ?? .waitForSession
    }

    /// An Engine.IO session stands.
    package mutating func sessionOpened(_ session: SocketIOClientSession) -> OpenAction {
        guard self.state == .waiting else { return .doNothing }
        self.session = session
        self.state = .asking
        self.attempt += 1
        return .fetchAuth(attempt: self.attempt)
    }

    package enum AuthenticatedAction: Equatable {
        /// With this auth: the user's, and what the server needs to bring a lost session back.
        case sendConnect(auth: SocketIOValue?)
        case doNothing
    }

    /// The auth of an attempt is there.
    package mutating func authenticated(attempt: Int, _ auth: SocketIOValue? = nil) -> AuthenticatedAction {
        guard self.state == .asking, attempt == self.attempt else { return .doNothing }  // the session was lost meanwhile
        self.state = .connecting(early: [])
        self.earlyBytes = 0
        return .sendConnect(auth: self.recovery.auth(auth))
    }

    /// Whether this attempt still waits, for its auth or for the answer to CONNECT. Asked by the timer.
    package func isPending(attempt: Int) -> Bool {
        guard attempt == self.attempt else { return false }
        switch self.state {
        case .asking, .connecting: return true
        case .closed, .waiting, .connected: return false
        }
    }

    package enum ReceivedAction: Equatable {
        /// CONNECT was granted; the events came before it. `isRecovered`: the server goes on with the session that was lost, and the events are
        /// those that were missed.
        case connected(id: String, early: [Event], isRecovered: Bool = false)
        /// CONNECT was refused. The client does not ask again by itself.
        case refused(SocketIOError)
        case deliver(Event)
        case resolveAck(id: Int, arguments: [SocketIOValue])
        /// The server ended the namespace. The client does not come back by itself.
        case disconnected
        /// CONNECT was granted as servers of Socket.IO 2.x do it, in a session of another version. Close the whole connection.
        case serverIsOlder
        /// Close the whole connection.
        case fail(SocketIOError)
        case doNothing
    }

    /// A packet of this namespace came, of so many bytes on the wire.
    package mutating func received(_ content: UndecodedPacket.Content, bytes: Int = 0) -> ReceivedAction {
        switch self.state {
        case .closed, .waiting, .asking:
            return .doNothing  // was on its way when we left
        case .connecting(var early):
            self.state = .connecting(early: [])
            switch content {
            case .connect(let payload):
                let derived = self.session.flatMap { $0.version.socketID(engineID: $0.id, namespace: self.name) }
                guard let id = derived ?? payload?["sid"]?.stringValue else {
                    guard payload != nil else { return .serverIsOlder }
                    return .fail(SocketIOError(.invalidPayload, message: "a CONNECT without a sid"))
                }
                self.state = .connected(id: id)
                let isRecovered = self.recovery.granted(payload)
                early = early.compactMap { self.recovery.received($0, isRepeated: isRecovered) }
                return .connected(id: id, early: early, isRecovered: isRecovered)
            case .connectError(let payload):
                self.end()
                return .refused(Self.refusal(payload))
            case .event(let name, let arguments, let ackID):
                guard early.count < self.maximumEarlyEvents, bytes <= self.maximumEarlyBytes - self.earlyBytes else {
                    let bounds = "\(self.maximumEarlyEvents) events or \(self.maximumEarlyBytes) bytes"
                    return .fail(SocketIOError(.malformedPacket, message: "more than \(bounds) before the answer to CONNECT"))
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
                return self.recovery.received(event).map { .deliver($0) } ?? .doNothing
            case .ack(let id, let arguments):
                return .resolveAck(id: id, arguments: arguments.arguments)
            case .disconnect:
                self.end()
                return .disconnected
            case .connect, .connectError:
                return .doNothing  // late or doubled: changes nothing
            }
        }
    }

    /// Version 5 sends an object with message and data, version 4 either of them bare, and python's version 4 an array of both.
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

    /// Left for good: the server keeps nothing for a client that said goodbye, nor for one it sent away.
    private mutating func end() {
        self.state = .closed
        self.recovery.forget()
    }

    package enum SessionLostAction: Equatable { case wasConnected, doNothing }

    /// The Engine.IO session is over. The namespace stays wanted.
    package mutating func sessionLost() -> SessionLostAction {
        switch self.state {
        case .connected:
            self.state = .waiting
            return .wasConnected
        case .asking, .connecting:
            self.state = .waiting
            return .doNothing
        case .closed, .waiting:
            return .doNothing
        }
    }

    package enum CloseAction: Equatable { case sendDisconnect(wasConnected: Bool), justClose, doNothing }

    /// We leave the namespace.
    package mutating func close() -> CloseAction {
        defer { self.end() }
        switch self.state {
        case .connected: return .sendDisconnect(wasConnected: true)
        case .connecting: return .sendDisconnect(wasConnected: false)
        case .waiting, .asking: return .justClose
        case .closed: return .doNothing
        }
    }
}

/// What a namespace has to know of the session below it.
package struct SocketIOClientSession: Hashable, Sendable {
    package let version: SocketIOVersion
    /// The Engine.IO session's id.
    package let id: String

    package init(version: SocketIOVersion, id: String) {
        self.version = version
        self.id = id
    }
}
