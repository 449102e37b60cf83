/// One side of an Engine.IO session on a WebSocket, without I/O: it receives messages and the time,
/// and returns events and messages.
///
/// For programs that perform their own I/O. The server and the client of this package do not use
/// it: they also support polling and upgrades, and use `EngineIOServerSession` and
/// `EngineIOClientSession`.
///
/// ```swift
/// var client = EngineIOEndpoint.client(at: clock.now)
/// if case .message(let message) = client.receive(frame, at: clock.now) { client.send(message) }
/// for frame in client.takeOutput() { webSocket.send(frame) }
/// if let deadline = client.deadline { timer.schedule(at: deadline) }
/// ```
///
/// The caller sends and receives the messages of the WebSocket and provides the time. All times
/// have the same origin, which the caller chooses. The endpoint answers pings, sends them, and
/// detects a dead peer.
///
/// Source: Engine.IO protocol v4 and v3, "Handshake" and "Heartbeat".
public struct EngineIOEndpoint: Sendable {
    /// An action of the peer or the end of the session.
    public enum Event: Equatable, Sendable {
        /// The session is open. Only a client reports this event.
        case opened(EngineIOHandshake)
        /// A message for the application.
        case message(EngineIOMessage)
        /// The session has ended: ``EngineIOError/Code/closed`` if the peer closed it. Write the
        /// output and close the WebSocket.
        case ended(EngineIOError)
    }

    private enum State {
        /// A client waits for the open packet. Transitions to `open` or `ended`.
        case opening
        /// Transitions to `ended`.
        case open(EngineIOHeartbeatStateMachine)
        /// Final.
        case ended
    }

    private var state: State
    private let isClient: Bool
    private let codec: EngineIOPacketCodec
    private var output: [EngineIOMessage] = []

    /// The time of the next call of ``timerFired(at:)``; `nil` after the session has ended.
    public private(set) var deadline: Duration?

    private init(isClient: Bool, version: EngineIOVersion, state: State, deadline: Duration) {
        self.isClient = isClient
        self.codec = EngineIOPacketCodec(version: version)
        self.state = state
        self.deadline = deadline
    }

    /// Creates the endpoint of a client, which waits for the server's open packet.
    ///
    /// - Parameters:
    ///   - version: The revision of the protocol. Default: 4.
    ///   - now: The current time.
    ///   - timeout: The maximum wait for the open packet. Default: 20 seconds.
    public static func client(version: EngineIOVersion = .v4, at now: Duration, timeout: Duration = .seconds(20)) -> Self {
        Self(isClient: true, version: version, state: .opening, deadline: now + timeout)
    }

    /// Creates the endpoint of a server. The output contains the open packet.
    ///
    /// - Parameters:
    ///   - handshake: The parameters of the session.
    ///   - version: The revision of the protocol. Default: 4.
    ///   - now: The current time.
    public static func server(_ handshake: EngineIOHandshake, version: EngineIOVersion = .v4, at now: Duration) -> Self {
        let heartbeat = EngineIOHeartbeatStateMachine(
            sendsPings: version.heartbeatSender == .server, pingInterval: handshake.pingInterval, pingTimeout: handshake.pingTimeout)
        var endpoint = Self(isClient: false, version: version, state: .open(heartbeat), deadline: now + heartbeat.firstTimer)
        endpoint.write(.open(handshake))
        return endpoint
    }

    /// Whether messages can be sent.
    public var isOpen: Bool {
        if case .open = self.state { true } else { false }
    }

    /// Whether the session has ended. Messages received after the end are ignored.
    public var isFinished: Bool {
        if case .ended = self.state { true } else { false }
    }

    /// Removes and returns the messages to write to the WebSocket.
    public mutating func takeOutput() -> [EngineIOMessage] {
        defer { self.output = [] }
        return self.output
    }

    private mutating func write(_ packet: EngineIOPacket) {
        self.output.append(self.codec.webSocketFrame(for: packet))
    }
}

extension EngineIOEndpoint {
    /// Handles a message of the WebSocket.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - now: The current time.
    /// - Returns: `nil` if the application need not be notified, for example of a ping.
    public mutating func receive(_ message: EngineIOMessage, at now: Duration) -> Event? {
        guard !self.isFinished else { return nil }
        let packet: EngineIOPacket
        do {
            packet = try self.codec.decode(message)
        } catch {
            return self.end(error)
        }
        guard case .open(var heartbeat) = self.state else { return self.receivedFirst(packet, at: now) }
        let isPinger = self.isClient == (self.codec.version.heartbeatSender == .client)
        switch packet {
        case .message(let message):
            return .message(message)
        case .ping(let payload) where !isPinger:
            self.write(.pong(payload))
            self.perform(heartbeat.receivedPing(), at: now)
            self.state = .open(heartbeat)
            return nil
        case .pong where isPinger:
            self.perform(heartbeat.receivedPong(), at: now)
            self.state = .open(heartbeat)
            return nil
        case .noop:
            return nil
        case .close:
            return self.end(EngineIOError(.closed, message: "the peer closed the session"))
        case .ping, .pong, .open, .upgrade:
            return self.end(EngineIOError(.malformedPacket, message: "the peer sent a packet whose type is not valid in an open session"))
        }
    }

    private mutating func receivedFirst(_ packet: EngineIOPacket, at now: Duration) -> Event {
        guard case .open(let handshake) = packet else {
            return self.end(EngineIOError(.malformedPacket, message: "the first packet of the server must be an open packet"))
        }
        let heartbeat = handshake.clientHeartbeat(self.codec.version)
        self.state = .open(heartbeat)
        self.deadline = now + heartbeat.firstTimer
        return .opened(handshake)
    }

    private mutating func perform(_ action: EngineIOHeartbeatStateMachine.TimerAction, at now: Duration) {
        if case .restartTimer(let delay) = action { self.deadline = now + delay }
    }

    /// Handles the expiry of ``deadline``. Has no effect before that time.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The end of the session; `nil` if it continues.
    public mutating func timerFired(at now: Duration) -> Event? {
        guard let deadline = self.deadline, now >= deadline else { return nil }
        guard case .open(var heartbeat) = self.state else {
            return self.end(EngineIOError(.timeout, message: "the server sent no open packet before the deadline"))
        }
        switch heartbeat.timerFired() {
        case .sendPing(let delay):
            self.state = .open(heartbeat)
            self.deadline = now + delay
            self.write(.ping)
            return nil
        case .closeSession, .doNothing:
            return self.end(EngineIOError(.heartbeatTimeout, message: "the peer sent no ping or pong before the deadline of the heartbeat"))
        }
    }

    /// Handles the end of the WebSocket.
    ///
    /// - Returns: `nil` if the session had ended before.
    public mutating func transportEnded() -> Event? {
        guard !self.isFinished else { return nil }
        return self.end(EngineIOError(.transportError, message: "the WebSocket ended without a close packet"))
    }

    private mutating func end(_ error: EngineIOError) -> Event {
        self.state = .ended
        self.deadline = nil
        return .ended(error)
    }
}

extension EngineIOEndpoint {
    /// Sends a message. Has no effect unless the session is open.
    public mutating func send(_ message: EngineIOMessage) {
        if self.isOpen { self.write(.message(message)) }
    }

    /// Closes the session. Write the output, then close the WebSocket.
    public mutating func close() {
        if self.isOpen { self.write(.close) }
        self.state = .ended
        self.deadline = nil
    }
}
