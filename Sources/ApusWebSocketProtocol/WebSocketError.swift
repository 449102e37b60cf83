public import HTTPTypes

/// Why a WebSocket connection failed, or never came to be.
public struct WebSocketError: Error, Hashable, CustomStringConvertible {
    /// The kind of an error. More may be added; switch with a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case protocolViolation, invalidUTF8, messageTooLarge, tooManyFragments, malformedHandshake, unsupportedVersion
            case invalidURL, connectionRefused, transport, connectionLost, timeout, invalidUse, closed, queueFull, requestHeaders, openHook
            case invalidCompression, compressionFailed, headersTooLarge
        }

        private let value: Value

        /// The peer broke RFC 6455. The connection closes with 1002.
        public static let protocolViolation = Self(value: .protocolViolation)
        /// A text or a close reason was not UTF-8. The connection closes with 1007.
        public static let invalidUTF8 = Self(value: .invalidUTF8)
        /// A frame or a message was above ``WebSocketLimits``. The connection closes with 1009.
        public static let messageTooLarge = Self(value: .messageTooLarge)
        /// A message came in more pieces than ``WebSocketLimits/maximumFragments``. The connection closes with 1008.
        public static let tooManyFragments = Self(value: .tooManyFragments)
        /// A compressed message that cannot be inflated, or has junk after its end. The connection closes with 1007.
        public static let invalidCompression = Self(value: .invalidCompression)
        /// zlib has no memory or refuses its settings. The connection closes with 1011.
        public static let compressionFailed = Self(value: .compressionFailed)
        /// More or larger header fields in the handshake than ``WebSocketLimits`` allow. A server answers 431.
        public static let headersTooLarge = Self(value: .headersTooLarge)
        /// A request or a response that is not an opening handshake. A server answers 400.
        public static let malformedHandshake = Self(value: .malformedHandshake)
        /// The client speaks another version than 13. A server answers 426 with `Sec-WebSocket-Version: 13`.
        public static let unsupportedVersion = Self(value: .unsupportedVersion)
        /// The address is not a WebSocket URL, or a field of the request cannot be sent.
        public static let invalidURL = Self(value: .invalidURL)
        /// The server answered the handshake with another status than 101; see ``WebSocketError/refusal``.
        public static let connectionRefused = Self(value: .connectionRefused)
        /// The name, the connection or TLS failed; the cause tells more.
        public static let transport = Self(value: .transport)
        /// The transport ended without a Close frame (1006).
        public static let connectionLost = Self(value: .connectionLost)
        /// A deadline passed: of the connection attempt, or of the close handshake.
        public static let timeout = Self(value: .timeout)
        /// The caller asked for something that cannot be done.
        public static let invalidUse = Self(value: .invalidUse)

        /// Nothing can be sent, because the connection was closed before, by either side.
        public static let closed = Self(value: .closed)
        /// A message was refused, or pushed out by a newer one, because a bounded queue was full.
        public static let queueFull = Self(value: .queueFull)

        /// The application could not compute the fields of the request; the cause is its error.
        public static let requestHeaders = Self(value: .requestHeaders)
        /// The application's hook for a connection that has just opened failed; the cause is its error.
        public static let openHook = Self(value: .openHook)

        /// The name of the code.
        public var description: String { "\(self.value)" }
    }

    /// What a server answered instead of 101.
    public struct Refusal: Hashable, Sendable {
        /// The status of the response.
        public var status: Int
        /// The fields of the response.
        public var headers: HTTPFields
        /// The beginning of the body, at most 16 KiB.
        public var body: [UInt8]

        /// A refusal as it came.
        public init(status: Int, headers: HTTPFields = HTTPFields(), body: [UInt8]) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    /// The kind of the error.
    public var code: Code
    /// What happened, with the numbers.
    public var message: String
    /// The server's answer, when the code is ``Code/connectionRefused``.
    public var refusal: Refusal?
    /// The error below, when there is one. Not part of the equality.
    public var cause: (any Error)?

    /// An error of the given kind.
    public init(_ code: Code, message: String, refusal: Refusal? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.refusal = refusal
        self.cause = cause
    }

    /// The code of the Close frame that tells the peer about this error.
    package var closeCode: WebSocketCloseCode {
        switch self.code {
        case .protocolViolation: .protocolError
        case .invalidUTF8, .invalidCompression: .invalidPayload
        case .messageTooLarge: .messageTooBig
        case .tooManyFragments: .policyViolation
        default: .internalError
        }
    }

    /// Equal are errors of one code, message and refusal.
    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.message == right.message && left.refusal == right.refusal
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.code)
        hasher.combine(self.message)
        hasher.combine(self.refusal)
    }

    /// Code, message and cause on one line.
    public var description: String {
        let cause = self.cause.map { " (\($0))" } ?? ""
        return "\(self.code): \(self.message)\(cause)"
    }
}
