/// Why an Engine.IO connection, or a piece of it, failed.
///
/// Switch on ``code``; ``message`` says what was seen and what to do about it. Two errors are equal when code and message are.
public struct EngineIOError: Error, Hashable, CustomStringConvertible {
    /// What kind of failure it was. The set is open: a later release may add one.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case malformedPacket, malformedPayload, tooManyPackets, payloadTooLarge
            case transportUnknown, sessionUnknown, badHandshakeMethod, badRequest, forbidden, unsupportedVersion
            case connectionRefused, timeout, closed, heartbeatTimeout, transportError
            case unavailable, tooManyClients, invalidConfiguration
        }

        private let value: Value
        private init(_ value: Value) { self.value = value }

        /// The peer sent a packet that is none: an unknown type, text after a packet that carries none, wrong base64, a wrong open packet.
        public static let malformedPacket = Self(.malformedPacket)
        /// The peer sent a polling body that is no payload.
        public static let malformedPayload = Self(.malformedPayload)
        /// A polling body held more packets than the configured bound.
        public static let tooManyPackets = Self(.tooManyPackets)
        /// A body or a message was above the configured bound in bytes.
        public static let payloadTooLarge = Self(.payloadTooLarge)
        /// The `transport` of the request is not one the server offers. HTTP error code 0.
        public static let transportUnknown = Self(.transportUnknown)
        /// The `sid` of the request names no living session. HTTP error code 1.
        public static let sessionUnknown = Self(.sessionUnknown)
        /// A handshake with another method than GET. HTTP error code 2.
        public static let badHandshakeMethod = Self(.badHandshakeMethod)
        /// A request that fits no state of its session. HTTP error code 3.
        public static let badRequest = Self(.badRequest)
        /// The application or the Origin check refused the request. HTTP error code 4.
        public static let forbidden = Self(.forbidden)
        /// The `EIO` of the request is not spoken here. HTTP error code 5.
        public static let unsupportedVersion = Self(.unsupportedVersion)
        /// The server has as many clients as it may, or goes down. HTTP error code 4, status 503.
        public static let unavailable = Self(.unavailable)
        /// The address has as many clients as it may. HTTP error code 4, status 429.
        public static let tooManyClients = Self(.tooManyClients)
        /// A configuration contradicts itself.
        public static let invalidConfiguration = Self(.invalidConfiguration)
        /// The connection could not be made; the cause says why.
        public static let connectionRefused = Self(.connectionRefused)
        /// A deadline passed.
        public static let timeout = Self(.timeout)
        /// The connection was closed, by either side, in an orderly way.
        public static let closed = Self(.closed)
        /// The peer was silent for longer than the heartbeat allows.
        public static let heartbeatTimeout = Self(.heartbeatTimeout)
        /// The transport under the session failed; the cause says how.
        public static let transportError = Self(.transportError)

        /// The same in words.
        public var description: String { self.value.rawValue }
    }

    /// What kind of failure it was.
    public var code: Code
    /// What was seen, with the numbers.
    public var message: String
    /// The error underneath, if there is one. Not part of equality.
    public var cause: (any Error)?

    /// Makes an error.
    public init(_ code: Code, message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Compares the code and the message, not the cause.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.code == rhs.code && lhs.message == rhs.message
    }

    /// Hashes the code and the message.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.code)
        hasher.combine(self.message)
    }

    /// The same in words.
    public var description: String {
        guard let cause = self.cause else { return "\(self.code): \(self.message)" }
        return "\(self.code): \(self.message) (\(cause))"
    }
}
