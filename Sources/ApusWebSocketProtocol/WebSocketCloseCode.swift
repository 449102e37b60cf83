/// The close code of a WebSocket connection.
///
/// Source: RFC 6455 section 7.4.1 and the IANA registry of WebSocket close codes.
public struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The value on the wire.
    public let rawValue: UInt16

    /// Creates a code with any value; ``isSendable`` indicates whether it is allowed in a frame.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 1000: the purpose of the connection is fulfilled.
    public static let normalClosure = Self(rawValue: 1000)
    /// 1001: a server is shutting down, or a browser leaves the page.
    public static let goingAway = Self(rawValue: 1001)
    /// 1002: the peer violated the protocol.
    public static let protocolError = Self(rawValue: 1002)
    /// 1003: the receiver does not accept this kind of data (text or binary).
    public static let unacceptableData = Self(rawValue: 1003)
    /// 1005: the Close frame contained no code. This code is never sent.
    public static let noStatusReceived = Self(rawValue: 1005)
    /// 1006: the transport ended without a Close frame. This code is never sent.
    public static let abnormalClosure = Self(rawValue: 1006)
    /// 1007: the data does not match its kind, for example text that is not UTF-8.
    public static let invalidPayload = Self(rawValue: 1007)
    /// 1008: the message violates a policy of the receiver.
    public static let policyViolation = Self(rawValue: 1008)
    /// 1009: the message exceeds the receiver's limit.
    public static let messageTooBig = Self(rawValue: 1009)
    /// 1010: the server did not negotiate an extension that the client requires.
    public static let mandatoryExtension = Self(rawValue: 1010)
    /// 1011: the server encountered an unexpected condition.
    public static let internalError = Self(rawValue: 1011)
    /// 1012: the service restarts.
    public static let serviceRestart = Self(rawValue: 1012)
    /// 1013: the server is overloaded; try again later.
    public static let tryAgainLater = Self(rawValue: 1013)

    /// Whether the code is allowed in a Close frame.
    ///
    /// RFC 6455 sections 7.4.1 and 7.4.2: 1004 to 1006 and 1015 are reserved, 1016 to 2999 are not
    /// assigned, 3000 to 4999 are available to libraries and applications.
    public var isSendable: Bool {
        switch self.rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// The value in decimal.
    public var description: String { String(self.rawValue) }
}
