import ApusBytes
public import HTTPTypes

/// The error of a WebSocket connection or of an attempt to open one.
public struct WebSocketError: Error, Hashable, CustomStringConvertible {
    /// The kind of an error. A later release may add kinds, so switch with a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case protocolViolation, invalidUTF8, messageTooLarge, tooManyFragments, malformedHandshake, unsupportedVersion
            case invalidURL, connectionRefused, transport, connectionLost, timeout, invalidUse, closed, queueFull, requestHeaders, openHook
            case invalidCompression, compressionFailed, headersTooLarge, invalidConfiguration
        }

        private let value: Value

        /// The peer violated RFC 6455. The connection closes with 1002.
        public static let protocolViolation = Self(value: .protocolViolation)
        /// A text or a close reason was not UTF-8. The connection closes with 1007.
        public static let invalidUTF8 = Self(value: .invalidUTF8)
        /// A frame or a message exceeded ``WebSocketLimits``. The connection closes with 1009.
        public static let messageTooLarge = Self(value: .messageTooLarge)
        /// A message had more frames than ``WebSocketLimits/maximumFragments``. The connection
        /// closes with 1008.
        public static let tooManyFragments = Self(value: .tooManyFragments)
        /// A compressed message was invalid, or had data after its end. The connection closes with
        /// 1007.
        public static let invalidCompression = Self(value: .invalidCompression)
        /// zlib could not allocate memory or refused its settings. The connection closes with 1011.
        public static let compressionFailed = Self(value: .compressionFailed)
        /// The handshake contained more or larger header fields than ``WebSocketLimits`` allows. A
        /// server responds with 431.
        public static let headersTooLarge = Self(value: .headersTooLarge)
        /// The request or response was not a valid opening handshake. A server responds with 400.
        public static let malformedHandshake = Self(value: .malformedHandshake)
        /// The client uses a version other than 13. A server responds with 426 and
        /// `Sec-WebSocket-Version: 13`.
        public static let unsupportedVersion = Self(value: .unsupportedVersion)
        /// The URL is not a WebSocket URL, or a field of the request is invalid.
        public static let invalidURL = Self(value: .invalidURL)
        /// The server answered the handshake with a status other than 101; see
        /// ``WebSocketError/refusal``.
        public static let connectionRefused = Self(value: .connectionRefused)
        /// Name resolution, the connection or TLS failed; see ``WebSocketError/cause``.
        public static let transport = Self(value: .transport)
        /// The transport ended without a Close frame (1006).
        public static let connectionLost = Self(value: .connectionLost)
        /// A deadline expired, for example of a connection attempt, a Ping, the heartbeat, the
        /// application's hook or the closing handshake.
        public static let timeout = Self(value: .timeout)
        /// An argument of a call is invalid, or the call is not valid in the current state.
        public static let invalidUse = Self(value: .invalidUse)
        /// The configuration is invalid. The message names the option.
        public static let invalidConfiguration = Self(value: .invalidConfiguration)

        /// A message or a Ping was not sent, because the connection or the session is not open.
        public static let closed = Self(value: .closed)
        /// A message or a Ping was refused because a queue was full, or a server aborted the
        /// connection because a byte budget was exceeded.
        public static let queueFull = Self(value: .queueFull)

        /// The application failed to provide the fields of the request; see
        /// ``WebSocketError/cause``.
        public static let requestHeaders = Self(value: .requestHeaders)
        /// The application's hook for a new connection failed; see ``WebSocketError/cause``.
        public static let openHook = Self(value: .openHook)

        /// The name of the code.
        public var description: String { "\(self.value)" }
    }

    /// A server's response other than 101.
    public struct Refusal: Hashable, Sendable {
        /// The status of the response.
        public var status: Int
        /// The fields of the response.
        public var headers: HTTPFields
        /// The first bytes of the body, at most 16 KiB.
        public var body: [UInt8]

        /// Creates a refusal.
        ///
        /// - Parameters:
        ///   - status: The status of the response.
        ///   - headers: The header fields of the response. Default: none.
        ///   - body: The first bytes of the body.
        public init(status: Int, headers: HTTPFields = HTTPFields(), body: [UInt8]) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    /// The kind of the error.
    public var code: Code
    /// A description of the fault, with the values involved.
    public var message: String
    /// The server's response, if the code is ``Code/connectionRefused``.
    public var refusal: Refusal?
    /// The underlying error, if any. Comparisons ignore it.
    public var cause: (any Error)? {
        get { self.storedCause.error }
        set { self.storedCause.error = newValue }
    }
    private var storedCause: ErrorCause

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - message: A description of the fault, with the values involved.
    ///   - refusal: The server's response, with the code ``Code/connectionRefused``.
    ///   - cause: The underlying error, if any.
    public init(_ code: Code, message: String, refusal: Refusal? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.refusal = refusal
        self.storedCause = ErrorCause(cause)
    }

    /// The code of the Close frame that reports this error.
    package var closeCode: WebSocketCloseCode {
        switch self.code {
        case .protocolViolation: .protocolError
        case .invalidUTF8, .invalidCompression: .invalidPayload
        case .messageTooLarge: .messageTooBig
        case .tooManyFragments: .policyViolation
        default: .internalError
        }
    }

    /// The code, the message and the cause on one line.
    public var description: String { self.storedCause.description(of: self.code, self.message) }
}
