/// A revision of the Engine.IO protocol, with the properties in which revisions differ.
///
/// Source: Engine.IO protocol, "Difference between v3 and v4".
public struct EngineIOVersion: Hashable, Sendable {
    /// The side that sends the pings of the heartbeat.
    public enum HeartbeatSender: Hashable, Sendable {
        /// The server, in version 4.
        case server
        /// The client, in version 3.
        case client
    }

    /// The framing of several packets in one polling body.
    public enum PayloadFraming: Hashable, Sendable {
        /// Packets are joined by the record separator 0x1e. The body is always text.
        case separated
        /// A length precedes each packet. The body is text, or binary if it contains binary
        /// packets.
        case lengthPrefixed
    }

    /// The value of `EIO` in the query.
    public let number: UInt8
    /// The side that sends pings. The other side answers with pongs.
    public let heartbeatSender: HeartbeatSender
    /// The form of a polling body.
    public let payloadFraming: PayloadFraming
    /// Whether a binary message carries its type: byte 4 before the bytes, digit 4 before base64.
    public let binaryCarriesType: Bool

    private init(number: UInt8, heartbeatSender: HeartbeatSender, payloadFraming: PayloadFraming, binaryCarriesType: Bool) {
        self.number = number
        self.heartbeatSender = heartbeatSender
        self.payloadFraming = payloadFraming
        self.binaryCarriesType = binaryCarriesType
    }

    /// `EIO=4`, used by Socket.IO protocol 5 (Socket.IO 3.x and 4.x).
    public static let v4 = Self(number: 4, heartbeatSender: .server, payloadFraming: .separated, binaryCarriesType: false)

    /// `EIO=3`, used by Socket.IO protocol 4 (Socket.IO 2.x).
    public static let v3 = Self(number: 3, heartbeatSender: .client, payloadFraming: .lengthPrefixed, binaryCarriesType: true)

    /// Creates the version that a request names, or `nil` if it is not supported.
    ///
    /// Node's engine.io treats a missing `EIO`, and any value other than 4, as 3. Here only `3`
    /// selects version 3: every client of version 3 sends it, and the protocol's test suite for
    /// version 4 requires other values to be refused.
    package init?(query: String?, allowsV3: Bool) {
        switch query {
        case "4": self = .v4
        case "3" where allowsV3: self = .v3
        default: return nil
        }
    }
}
