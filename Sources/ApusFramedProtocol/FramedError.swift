/// Why bytes could not be read as frames, or a framed connection failed.
public struct FramedError: Error, Hashable, CustomStringConvertible {
    /// The kind of an error. More may be added; switch with a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case protocolViolation, malformedHeader, headerTooLarge, frameTooLarge, unsupportedVersion, truncated, invalidUse
            case peerFailed, timeout, connectionLost, transport, closed
        }

        private let value: Value

        /// The peer broke the rules of the framing. The connection closes.
        public static let protocolViolation = Self(value: .protocolViolation)
        /// The header of a frame is not what was agreed: no strict JSON object, no length in it, a prefix that is no number.
        public static let malformedHeader = Self(value: .malformedHeader)
        /// A header is above its bound: the peer's, or one of ours that does not fit the length that was agreed upon. Nothing of it was sent.
        public static let headerTooLarge = Self(value: .headerTooLarge)
        /// A frame, or the body of one, is announced to be above the configured bound. Nothing was allocated for it.
        public static let frameTooLarge = Self(value: .frameTooLarge)
        /// The peer speaks another version of the protocol, or another protocol.
        public static let unsupportedVersion = Self(value: .unsupportedVersion)
        /// The bytes ended within a frame.
        public static let truncated = Self(value: .truncated)
        /// The peer told us of an error of its own, and ended the connection because of it. Its words are in the message.
        public static let peerFailed = Self(value: .peerFailed)
        /// A deadline passed. A message that was under way is lost, and its connection with it.
        public static let timeout = Self(value: .timeout)
        /// The connection ended and nobody had said goodbye.
        public static let connectionLost = Self(value: .connectionLost)
        /// The name, the connection or TLS failed; the cause tells more.
        public static let transport = Self(value: .transport)
        /// Nothing can be sent: the connection was closed before, by either side.
        public static let closed = Self(value: .closed)
        /// The caller asked for something that cannot be done.
        public static let invalidUse = Self(value: .invalidUse)

        /// The name of the code.
        public var description: String { "\(self.value)" }
    }

    /// The kind of the error.
    public var code: Code
    /// What happened, with the numbers. Never the peer's bytes: the message may end up in a log.
    public var message: String
    /// The error below, when there is one. Not part of the equality.
    public var cause: (any Error)?

    /// An error of the given kind.
    public init(_ code: Code, message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Equal are errors of one code and message.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code && left.message == right.message }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.code)
        hasher.combine(self.message)
    }

    /// Code, message and cause on one line.
    public var description: String {
        let cause = self.cause.map { " (\($0))" } ?? ""
        return "\(self.code): \(self.message)\(cause)"
    }
}
