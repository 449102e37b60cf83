/// A revision of the Engine.IO protocol. What differs between revisions stands here as data.
///
/// Source: Engine.IO protocol, "Difference between v3 and v4".
package struct EngineIOVersion: Hashable, Sendable {
    /// Which side sends the pings of the heartbeat.
    package enum HeartbeatSender: Hashable, Sendable { case server, client }

    /// How several packets share a polling body.
    package enum PayloadFraming: Hashable, Sendable {
        /// Joined by the record separator 0x1e; always text.
        case separated
        /// Each behind its length; in a text form and, when binary packets are among them, in a binary form.
        case lengthPrefixed
    }

    /// The value of `EIO` in the query.
    package let number: UInt8
    /// Who pings. The other side answers with a pong.
    package let heartbeatSender: HeartbeatSender
    /// The form of a polling body.
    package let payloadFraming: PayloadFraming
    /// Whether a binary message carries its type: a byte 4 before the bytes, a digit 4 before the base64.
    package let binaryCarriesType: Bool

    private init(number: UInt8, heartbeatSender: HeartbeatSender, payloadFraming: PayloadFraming, binaryCarriesType: Bool) {
        self.number = number
        self.heartbeatSender = heartbeatSender
        self.payloadFraming = payloadFraming
        self.binaryCarriesType = binaryCarriesType
    }

    /// `EIO=4`: carries Socket.IO protocol 5, that is the Socket.IO 3.x and 4.x servers and clients.
    package static let v4 = Self(number: 4, heartbeatSender: .server, payloadFraming: .separated, binaryCarriesType: false)

    /// `EIO=3`: carries Socket.IO protocol 4, that is the Socket.IO 2.x servers and clients.
    package static let v3 = Self(number: 3, heartbeatSender: .client, payloadFraming: .lengthPrefixed, binaryCarriesType: true)

    /// The version a request asks for, nil when it is not to be spoken.
    ///
    /// The reference server takes a missing `EIO`, and any other value than 4, for 3. Every client of version 3 says so, and the public test suite
    /// of version 4 wants nonsense refused: here only 3 is 3.
    package init?(query: String?, allowsV3: Bool) {
        switch query {
        case "4": self = .v4
        case "3" where allowsV3: self = .v3
        default: return nil
        }
    }
}
