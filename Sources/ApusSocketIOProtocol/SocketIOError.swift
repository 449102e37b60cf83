/// Why something with Socket.IO failed.
///
/// Switch on ``code``; ``message`` says what was seen and what to do about it. Two errors are equal but for their cause.
public struct SocketIOError: Error, Hashable, CustomStringConvertible {
    /// What kind of failure it was. The set is open: a later release may add one.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case malformedPacket, tooManyAttachments, invalidPayload
            case ackTimeout, disconnected, connectRefused, connectTimeout, notConnected, bufferFull, invalidArguments, transport, closed
            case unsupportedVersion
        }

        private let value: Value
        private init(_ value: Value) { self.value = value }

        /// The peer sent a packet that breaks the protocol. The connection closes with the reason "parse error".
        public static let malformedPacket = Self(.malformedPacket)
        /// The peer announced more attachments in one packet than the bound. The connection closes.
        public static let tooManyAttachments = Self(.tooManyAttachments)
        /// The packet was well formed but its payload is not what its type demands, or what the handler takes.
        public static let invalidPayload = Self(.invalidPayload)
        /// No ack came within the timeout. The peer may still have got the event.
        public static let ackTimeout = Self(.ackTimeout)
        /// The connection dropped while something waited for it.
        public static let disconnected = Self(.disconnected)
        /// The server refused the namespace; ``SocketIOError/data`` is what it said besides the message.
        public static let connectRefused = Self(.connectRefused)
        /// The namespace was not joined within the timeout.
        public static let connectTimeout = Self(.connectTimeout)
        /// The call needs a connected socket.
        public static let notConnected = Self(.notConnected)
        /// The bounded buffer of events that wait for a connection is full.
        public static let bufferFull = Self(.bufferFull)
        /// The caller passed something that cannot be sent: a reserved event name, NaN, an object that looks like a placeholder.
        public static let invalidArguments = Self(.invalidArguments)
        /// The connection underneath failed; the cause says how.
        public static let transport = Self(.transport)
        /// The server speaks another version than the one that the configuration names. It is not asked again.
        public static let unsupportedVersion = Self(.unsupportedVersion)
        /// The socket, manager or server was closed by its owner.
        public static let closed = Self(.closed)

        /// The same in words.
        public var description: String { self.value.rawValue }
    }

    /// What kind of failure it was.
    public var code: Code
    /// What was seen, with the numbers.
    public var message: String
    /// What the server said about a refusal (``Code/connectRefused``), besides the message.
    public var data: SocketIOValue?
    /// The error underneath, if there is one. Not part of equality.
    public var cause: (any Error)?

    /// Makes an error.
    public init(_ code: Code, message: String, data: SocketIOValue? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.data = data
        self.cause = cause
    }

    /// Compares the code and the message, not the cause.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.code == rhs.code && lhs.message == rhs.message && lhs.data == rhs.data
    }

    /// Hashes the code and the message.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.code)
        hasher.combine(self.message)
        hasher.combine(self.data)
    }

    /// The same in words.
    public var description: String {
        guard let cause = self.cause else { return "\(self.code): \(self.message)" }
        return "\(self.code): \(self.message) (\(cause))"
    }
}
