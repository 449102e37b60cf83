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
            case ackTimeout, disconnected, connectRefused, connectTimeout, notConnected, bufferFull, invalidUse, transport, closed
            case unsupportedVersion
        }

        private let value: Value
        private init(_ value: Value) { self.value = value }

        /// The peer violated the protocol. The connection closes with the reason "parse error".
        public static let malformedPacket = Self(.malformedPacket)
        /// The peer announced more attachments in one packet than the limit. The connection closes.
        public static let tooManyAttachments = Self(.tooManyAttachments)
        /// The payload of a well-formed packet does not match the packet's type or the types of the
        /// handler.
        public static let invalidPayload = Self(.invalidPayload)
        /// No ack arrived within the timeout. The peer may have received the event, unless the
        /// event was still waiting for a connection.
        public static let ackTimeout = Self(.ackTimeout)
        /// The connection was lost, or the namespace was left, during the operation.
        public static let disconnected = Self(.disconnected)
        /// The server refused the namespace, or the client's auth closure failed;
        /// ``SocketIOError/data`` contains the data of the refusal, if any.
        public static let connectRefused = Self(.connectRefused)
        /// The namespace was not joined within the timeout.
        public static let connectTimeout = Self(.connectTimeout)
        /// The call needs a connected socket, or the connection could not send a volatile event
        /// immediately.
        public static let notConnected = Self(.notConnected)
        /// The queue of events that await a connection, of outgoing packets or of listener calls is
        /// full, or the maximum number of acks or requests is pending.
        public static let bufferFull = Self(.bufferFull)
        /// An argument cannot be sent, such as a reserved event name, NaN, or an object that looks
        /// like a placeholder; or a URL or setting is invalid.
        public static let invalidUse = Self(.invalidUse)
        /// The transport failed; see the cause.
        public static let transport = Self(.transport)
        /// The server uses a protocol version other than the configured one. The client does not
        /// reconnect.
        public static let unsupportedVersion = Self(.unsupportedVersion)
        /// The application closed the socket, the manager or the server, or cancelled the call.
        public static let closed = Self(.closed)

        /// The name of the kind.
        public var description: String { self.value.rawValue }
    }

    /// The kind of the failure.
    public var code: Code
    /// The description, with the values and limits.
    public var message: String
    /// The data that the server sent with a refusal (``Code/connectRefused``); `nil` if there is
    /// none.
    public var data: SocketIOValue?
    /// The underlying error, if any. Comparisons ignore it.
    public var cause: (any Error)? {
        get { self.storedCause.error }
        set { self.storedCause.error = newValue }
    }
    private var storedCause: ErrorCause

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of the failure.
    ///   - message: The description, with the values and limits.
    ///   - data: The data of a refusal (``Code/connectRefused``), if any.
    ///   - cause: The underlying error, if any.
    public init(_ code: Code, message: String, data: SocketIOValue? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.data = data
        self.storedCause = ErrorCause(cause)
    }

    /// The code, the message and the cause on one line.
    public var description: String { self.storedCause.description(of: self.code, self.message) }
}
