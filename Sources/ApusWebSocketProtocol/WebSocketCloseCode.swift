/// Why a WebSocket connection ended.
///
/// Source: RFC 6455 7.4.1 and the IANA registry of WebSocket close codes.
public struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: UInt16

    /// A code of any number; ``isSendable`` tells whether it may stand in a frame.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 1000: the purpose of the connection is fulfilled.
    public static let normalClosure = Self(rawValue: 1000)
    /// 1001: a server goes down, or a browser leaves the page.
    public static let goingAway = Self(rawValue: 1001)
    /// 1002: the peer broke the protocol.
    public static let protocolError = Self(rawValue: 1002)
    /// 1003: a kind of data (text or binary) that is not taken here.
    public static let unacceptableData = Self(rawValue: 1003)
    /// 1005: the Close frame carried no code. Never on the wire.
    public static let noStatusReceived = Self(rawValue: 1005)
    /// 1006: the transport ended without a Close frame. Never on the wire.
    public static let abnormalClosure = Self(rawValue: 1006)
    /// 1007: data that does not fit its kind, as a text that is not UTF-8.
    public static let invalidPayload = Self(rawValue: 1007)
    /// 1008: a rule of the receiver was broken.
    public static let policyViolation = Self(rawValue: 1008)
    /// 1009: a message above the receiver's bound.
    public static let messageTooBig = Self(rawValue: 1009)
    /// 1010: the client wanted an extension the server did not grant.
    public static let mandatoryExtension = Self(rawValue: 1010)
    /// 1011: the server met something it was not ready for.
    public static let internalError = Self(rawValue: 1011)
    /// 1012: the service restarts.
    public static let serviceRestart = Self(rawValue: 1012)
    /// 1013: come again later.
    public static let tryAgainLater = Self(rawValue: 1013)

    /// Whether the code may stand in a Close frame.
    ///
    /// RFC 6455 7.4.1 and 7.4.2: 1004 to 1006 and 1015 are reserved, 1016 to 2999 are not assigned, 3000 to 4999 are
    /// free for libraries and applications.
    public var isSendable: Bool {
        switch self.rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// The number.
    public var description: String { String(self.rawValue) }
}
