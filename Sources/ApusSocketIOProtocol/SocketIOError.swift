import ApusBytes

/// An error of a Socket.IO client or server.
///
/// Switch on ``code``; ``message`` describes the cause and the remedy. Errors compare equal
/// regardless of their ``cause``.
public struct SocketIOError: Error, Hashable, CustomStringConvertible {
    /// The kind of a failure. A later release may add kinds.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case malformedPacket, tooManyAttachments, invalidPayload
            case ackTimeout, disconnected, connectRefused, connectTimeout, notConnected, bufferFull, invalidArguments, transport, closed
            case unsupportedVersion
        }

        private let value: Value
        private init(_ value: Value) { self.value = value }

        /// The peer violated the protocol. The connection closes with the reason "parse error".
        public static let malformedPacket = Self(.malformedPacket)
        /// The peer announced more attachments in one packet than the limit. The connection closes.
        public static let tooManyAttachments = Self(.tooManyAttachments)
        /// The payload of a well-formed packet does not match its type, or the types of the
        /// handler.
        public static let invalidPayload = Self(.invalidPayload)
        /// No ack arrived within the timeout. The peer may have received the event, unless it still
        /// waited for a connection.
        public static let ackTimeout = Self(.ackTimeout)
        /// The connection was lost during the operation.
        public static let disconnected = Self(.disconnected)
        /// The server refused the namespace; ``SocketIOError/data`` is its data besides the
        /// message.
        public static let connectRefused = Self(.connectRefused)
        /// The namespace was not joined within the timeout.
        public static let connectTimeout = Self(.connectTimeout)
        /// The call needs a connected socket.
        public static let notConnected = Self(.notConnected)
        /// The buffer of events that await a connection is full, or too many acks or requests are
        /// pending.
        public static let bufferFull = Self(.bufferFull)
        /// An argument cannot be sent: a reserved event name, NaN, or an object that looks like a
        /// placeholder.
        public static let invalidArguments = Self(.invalidArguments)
        /// The transport failed; see the cause.
        public static let transport = Self(.transport)
        /// The server speaks a different protocol version from the configured one. The client does
        /// not reconnect.
        public static let unsupportedVersion = Self(.unsupportedVersion)
        /// The owner closed the socket, the manager or the server.
        public static let closed = Self(.closed)

        /// The name of the kind.
        public var description: String { self.value.rawValue }
    }

    /// The kind of the failure.
    public var code: Code
    /// The description, with the values and limits.
    public var message: String
    /// The data of a refusal (``Code/connectRefused``) besides the message.
    public var data: SocketIOValue?
    /// The underlying error, if any. It does not take part in comparisons.
    public var cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, message: String, data: SocketIOValue? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.data = data
        self.cause = cause
    }

    /// Compares everything but the cause.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.code == rhs.code && lhs.message == rhs.message && lhs.data == rhs.data
    }

    /// Hashes everything but the cause.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.code)
        hasher.combine(self.message)
        hasher.combine(self.data)
    }

    /// The kind, the message and the cause.
    public var description: String {
        guard let cause = self.cause else { return "\(self.code): \(self.message)" }
        return "\(self.code): \(self.message) (\(CauseText.text(of: cause)))"
    }
}
