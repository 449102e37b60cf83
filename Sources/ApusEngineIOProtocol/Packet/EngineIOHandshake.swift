/// The terms of a session, which the server states in its open packet.
///
/// Source: Engine.IO protocol v4, "Handshake".
package struct EngineIOHandshake: Equatable, Sendable {
    /// The id of the session, a secret between the two sides.
    package var sid: String
    /// Transports the client may change to: `["websocket"]` or nothing.
    package var upgrades: [String]
    /// Time between two pings of the server. Milliseconds on the wire. Zero (python) means: expect none.
    package var pingInterval: Duration
    /// Time the other side has for its pong. Milliseconds on the wire.
    package var pingTimeout: Duration
    /// Bytes the server takes in one polling body.
    package var maxPayload: Int

    package init(sid: String, upgrades: [String], pingInterval: Duration, pingTimeout: Duration, maxPayload: Int) {
        self.sid = sid
        self.upgrades = upgrades
        self.pingInterval = pingInterval
        self.pingTimeout = pingTimeout
        self.maxPayload = maxPayload
    }

    /// The client's part of the heartbeat. Python announces an interval below a second as 0: then a second is assumed.
    package func clientHeartbeat(_ version: EngineIOVersion) -> EngineIOHeartbeat {
        EngineIOHeartbeat(
            sendsPings: version.heartbeatSender == .client, pingInterval: self.pingInterval > .zero ? self.pingInterval : .seconds(1),
            pingTimeout: self.pingTimeout)
    }
}
