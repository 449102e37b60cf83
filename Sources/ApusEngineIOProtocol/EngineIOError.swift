import ApusBytes

/// The error of an Engine.IO connection or request.
///
/// Switch on ``code``; ``message`` describes the fault. Equality compares code and message only.
public struct EngineIOError: Error, Hashable, CustomStringConvertible {
    /// The kind of failure. Later releases may add codes: switch with a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case malformedPacket, malformedPayload, tooManyPackets, payloadTooLarge
            case transportUnknown, sessionUnknown, badHandshakeMethod, badRequest, forbidden, unsupportedVersion
            case connectionRefused, timeout, closed, heartbeatTimeout, transportError
            case unavailable, tooManyClients, invalidConfiguration
        }

        private let value: Value
        private init(_ value: Value) { self.value = value }

        /// The peer sent a malformed packet: an unknown type, an unexpected payload, invalid base64
        /// or an invalid open packet.
        public static let malformedPacket = Self(.malformedPacket)
        /// The peer sent a polling body that is not a valid payload.
        public static let malformedPayload = Self(.malformedPayload)
        /// A polling body contained more packets than the configured limit.
        public static let tooManyPackets = Self(.tooManyPackets)
        /// A body or a message exceeded the configured limit in bytes.
        public static let payloadTooLarge = Self(.payloadTooLarge)
        /// The server does not offer the `transport` of the request, or the client has no transport
        /// to try. HTTP error code 0.
        public static let transportUnknown = Self(.transportUnknown)
        /// The `sid` of the request matches no open session. HTTP error code 1.
        public static let sessionUnknown = Self(.sessionUnknown)
        /// The handshake used a method other than GET. HTTP error code 2.
        public static let badHandshakeMethod = Self(.badHandshakeMethod)
        /// The request is not valid, or is not valid in the current state of its session. On a
        /// client, the URL or the path may be invalid. HTTP error code 3.
        public static let badRequest = Self(.badRequest)
        /// The application or the Origin check refused the request. HTTP error code 4.
        public static let forbidden = Self(.forbidden)
        /// The server does not support the `EIO` of the request. HTTP error code 5.
        public static let unsupportedVersion = Self(.unsupportedVersion)
        /// The server has reached its limit of clients or memory, or is shutting down. HTTP error
        /// code 4, status 503.
        public static let unavailable = Self(.unavailable)
        /// The client's address has reached its limit of clients. HTTP error code 4, status 429.
        public static let tooManyClients = Self(.tooManyClients)
        /// The configuration is invalid.
        public static let invalidConfiguration = Self(.invalidConfiguration)
        /// The session could not be opened: the server's response is not an Engine.IO response, or
        /// the closure `prepareAttempt` failed; see ``EngineIOError/cause``.
        public static let connectionRefused = Self(.connectionRefused)
        /// An operation exceeded its time limit.
        public static let timeout = Self(.timeout)
        /// Either side closed the connection normally.
        public static let closed = Self(.closed)
        /// The peer sent no ping or pong for longer than the heartbeat allows.
        public static let heartbeatTimeout = Self(.heartbeatTimeout)
        /// The transport of the session failed; see ``EngineIOError/cause``.
        public static let transportError = Self(.transportError)

        /// The name of the code.
        public var description: String { self.value.rawValue }
    }

    /// The kind of failure.
    public var code: Code
    /// A description of the fault, with the values involved.
    public var message: String
    /// The underlying error, if any. It does not take part in comparisons.
    public var cause: (any Error)? {
        get { self.storedCause.error }
        set { self.storedCause.error = newValue }
    }
    private var storedCause: ErrorCause

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: A description of the fault, with the values involved.
    ///   - cause: The underlying error, if any.
    public init(_ code: Code, message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.storedCause = ErrorCause(cause)
    }

    /// The code, the message and the cause on one line.
    public var description: String { self.storedCause.description(of: self.code, self.message) }
}

extension EngineIOError {
    /// The HTTP status, error code and message for this error; `nil` if the error does not refuse a
    /// request.
    package var httpRefusal: (status: Int, number: Int, message: String)? {
        switch self.code {
        case .transportUnknown: (400, 0, "Transport unknown")
        case .sessionUnknown: (400, 1, "Session ID unknown")
        case .badHandshakeMethod: (400, 2, "Bad handshake method")
        case .badRequest, .malformedPacket, .malformedPayload, .tooManyPackets: (400, 3, "Bad request")
        case .forbidden: (403, 4, self.message)
        case .unavailable: (503, 4, self.message)
        case .tooManyClients: (429, 4, self.message)
        case .unsupportedVersion: (400, 5, "Unsupported protocol version")
        case .payloadTooLarge: (413, 3, "Payload too large")
        default: nil
        }
    }
}
