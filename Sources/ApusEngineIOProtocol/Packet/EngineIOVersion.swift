/// A revision of the Engine.IO protocol. What differs between revisions stands here as data.
///
/// Source: Engine.IO protocol, "Difference between v3 and v4".
package struct EngineIOVersion: Hashable, Sendable {
    /// Which side sends the pings of the heartbeat.
    package enum HeartbeatSender: Hashable, Sendable { case server, client }

    /// The value of `EIO` in the query.
    package let number: Int
    /// Who pings. The other side answers with a pong.
    package let heartbeatSender: HeartbeatSender

    private init(number: Int, heartbeatSender: HeartbeatSender) {
        self.number = number
        self.heartbeatSender = heartbeatSender
    }

    /// `EIO=4`: carries Socket.IO protocol 5, that is the Socket.IO 3.x and 4.x servers and clients.
    package static let v4 = Self(number: 4, heartbeatSender: .server)

    /// The version a request asks for, nil when it is not spoken here.
    ///
    /// A missing `EIO`, or any value other than 4, means 3 (observed on the reference server), and 3 is not spoken yet.
    package init?(query: some StringProtocol) {
        guard query == "4" else { return nil }
        self = .v4
    }
}
