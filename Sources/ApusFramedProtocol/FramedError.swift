import ApusBytes

/// An error of a framed connection or of its decoders.
public struct FramedError: Error, Hashable, CustomStringConvertible {
    /// The kind of an error. More kinds may be added; switch with a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case protocolViolation, malformedHeader, headerTooLarge, frameTooLarge, unsupportedVersion, truncated, invalidUse
            case peerFailed, timeout, connectionLost, transport, closed
        }

        private let value: Value

        /// The peer violated the framing protocol. The connection closes.
        public static let protocolViolation = Self(value: .protocolViolation)
        /// The header of a frame is malformed: not a strict JSON object, without a length, or with
        /// an invalid length prefix.
        public static let malformedHeader = Self(value: .malformedHeader)
        /// A header exceeds its limit, or does not fit the agreed header length. Nothing of it was
        /// sent.
        public static let headerTooLarge = Self(value: .headerTooLarge)
        /// The announced length of a frame or body exceeds the configured limit. Nothing was
        /// allocated for it.
        public static let frameTooLarge = Self(value: .frameTooLarge)
        /// The peer uses another version of the protocol, or another protocol.
        public static let unsupportedVersion = Self(value: .unsupportedVersion)
        /// The bytes ended within a frame.
        public static let truncated = Self(value: .truncated)
        /// The peer reported an error and ended the connection. The message contains the peer's
        /// text.
        public static let peerFailed = Self(value: .peerFailed)
        /// A deadline passed. The connection is closed, and a message in progress is lost.
        public static let timeout = Self(value: .timeout)
        /// The connection ended without a bye frame.
        public static let connectionLost = Self(value: .connectionLost)
        /// Name resolution, the connection or TLS failed; ``FramedError/cause`` has the details.
        public static let transport = Self(value: .transport)
        /// Nothing can be sent: either side has closed the connection.
        public static let closed = Self(value: .closed)
        /// The caller made an invalid request.
        public static let invalidUse = Self(value: .invalidUse)

        /// The name of the code.
        public var description: String { "\(self.value)" }
    }

    /// The kind of the error.
    public var code: Code
    /// A description with the values and limits. It never contains the peer's bytes, because it may
    /// be logged.
    public var message: String
    /// The underlying error, if any. Not part of the equality.
    public var cause: (any Error)?

    /// Creates an error of the given kind.
    public init(_ code: Code, message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Returns whether both errors have the same code and message.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code && left.message == right.message }

    /// Hashes the code and the message.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.code)
        hasher.combine(self.message)
    }

    /// The code, the message and the cause on one line.
    public var description: String {
        let cause = self.cause.map { " (\(CauseText.text(of: $0)))" } ?? ""
        return "\(self.code): \(self.message)\(cause)"
    }
}
