/// The parameters of a session, which the server sends in its open packet.
///
/// Source: Engine.IO protocol v4, "Handshake".
public struct EngineIOHandshake: Equatable, Sendable {
    /// The session id, a secret between client and server.
    public var sid: String
    /// The transports available for an upgrade, by the names of ``EngineIOTransport``:
    /// `["websocket"]` or empty.
    public var upgrades: [String]
    /// The time from a pong to the next ping, in milliseconds on the wire. python-engineio sends 0
    /// for an interval below one second.
    public var pingInterval: Duration
    /// The maximum time for the peer to answer a ping, in milliseconds on the wire.
    public var pingTimeout: Duration
    /// The maximum size of a POST body or a WebSocket message that the server accepts, in bytes.
    /// Clients limit the size of their POST bodies to it.
    public var maxPayload: Int

    /// Creates the parameters of a session.
    ///
    /// - Parameters:
    ///   - sid: The session id.
    ///   - upgrades: The names of the transports available for an upgrade.
    ///   - pingInterval: The time between two pings.
    ///   - pingTimeout: The maximum time for a pong.
    ///   - maxPayload: The maximum size of a POST body or a message, in bytes.
    public init(sid: String, upgrades: [String], pingInterval: Duration, pingTimeout: Duration, maxPayload: Int) {
        self.sid = sid
        self.upgrades = upgrades
        self.pingInterval = pingInterval
        self.pingTimeout = pingTimeout
        self.maxPayload = maxPayload
    }

    /// Returns the state machine of the client's heartbeat. A `pingInterval` of 0 counts as one
    /// second.
    package func clientHeartbeat(_ version: EngineIOVersion) -> EngineIOHeartbeatStateMachine {
        EngineIOHeartbeatStateMachine(
            sendsPings: version.heartbeatSender == .client, pingInterval: self.pingInterval > .zero ? self.pingInterval : .seconds(1),
            pingTimeout: self.pingTimeout)
    }
}
