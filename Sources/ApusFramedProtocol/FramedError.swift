import ApusBytes

/// An error of a framed connection or of its decoders.
public struct FramedError: Error, Hashable, CustomStringConvertible {
    /// The kind of an error. More kinds may be added; switch with a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case protocolViolation, malformedHeader, headerTooLarge, frameTooLarge, unsupportedVersion, truncated, invalidUse
            case peerFailed, timeout, connectionLost, transport, closed, invalidConfiguration
        }

        private let value: Value

        /// The peer violated the framing protocol. The connection closes.
        public static let protocolViolation = Self(value: .protocolViolation)
        /// The header of a frame is malformed: it is not a strict JSON object, has no length, or
        /// has an invalid length prefix.
        public static let malformedHeader = Self(value: .malformedHeader)
        /// A header exceeds its limit, or does not fit the agreed header length. If this side was
        /// to send the header, it wrote no part of it.
        public static let headerTooLarge = Self(value: .headerTooLarge)
        /// The length of a frame or body exceeds the configured limit or the peer's limit, or does
        /// not fit its length prefix. No body was allocated for an announced length. A
        /// `DelimiterDecoder` detects this only after it has received that number of bytes.
        public static let frameTooLarge = Self(value: .frameTooLarge)
        /// The peer uses another version of the protocol, or another protocol.
        public static let unsupportedVersion = Self(value: .unsupportedVersion)
        /// The bytes ended within a frame.
        public static let truncated = Self(value: .truncated)
        /// The peer reported an error and ended the connection. The message contains the peer's
        /// text.
        public static let peerFailed = Self(value: .peerFailed)
        /// A time limit expired. The connection closes and a message in progress is lost, unless
        /// the message was still waiting for earlier messages.
        public static let timeout = Self(value: .timeout)
        /// The connection failed, or it ended without a bye frame, within a message or before it
        /// was ready.
        public static let connectionLost = Self(value: .connectionLost)
        /// Name resolution, the connection or TLS failed; ``FramedError/cause`` has the details.
        public static let transport = Self(value: .transport)
        /// The connection is closed, closing or not open yet, so that nothing can be sent. Or this
        /// side closed the connection before it had read a body to its end.
        public static let closed = Self(value: .closed)
        /// An argument of a call is invalid, or the call is not valid in the current state.
        public static let invalidUse = Self(value: .invalidUse)
        /// The configuration is invalid. The message names the option.
        public static let invalidConfiguration = Self(value: .invalidConfiguration)

        /// The name of the code.
        public var description: String { "\(self.value)" }
    }

    /// The kind of the error.
    public var code: Code
    /// A description with the values and limits. It may be logged: of the peer's data it contains
    /// only the text of a ``Code/peerFailed`` error, shortened and on one line.
    public var message: String
    /// The underlying error, if any. It does not take part in comparisons.
    public var cause: (any Error)? {
        get { self.storedCause.error }
        set { self.storedCause.error = newValue }
    }
    private var storedCause: ErrorCause

    /// Creates an error of the given kind.
    ///
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - message: A description with the values and limits.
    ///   - cause: The underlying error, if any.
    public init(_ code: Code, message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.storedCause = ErrorCause(cause)
    }

    /// The code, the message and the cause on one line.
    public var description: String { self.storedCause.description(of: self.code, self.message) }
}
