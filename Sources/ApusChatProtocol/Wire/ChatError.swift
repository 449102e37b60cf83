/// An error that the chat server returns for a request.
///
/// On the wire it is `{"error": {"code", "message"}}`, in a Socket.IO ack and in an HTTP body.
public struct ChatError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The kind of an error. Later servers may send codes that are not listed here.
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The code on the wire.
        public let rawValue: String
        /// Creates a code, which need not be one of the listed ones.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The code on the wire.
        public var description: String { self.rawValue }

        /// The request violates the protocol. A retry does not succeed.
        public static let badRequest = Self(rawValue: "bad_request")
        /// The token is missing, unknown, expired or revoked.
        public static let unauthorized = Self(rawValue: "unauthorized")
        /// The name or the password is wrong. The server does not report which.
        public static let badCredentials = Self(rawValue: "bad_credentials")
        /// Another user has this name.
        public static let nameTaken = Self(rawValue: "name_taken")
        /// The user is not a member, or does not have the permission.
        public static let forbidden = Self(rawValue: "forbidden")
        /// The object does not exist, or the user cannot see it.
        public static let notFound = Self(rawValue: "not_found")
        /// The client id was already used for a different message.
        public static let conflict = Self(rawValue: "conflict")
        /// A value exceeds a limit.
        public static let tooLarge = Self(rawValue: "too_large")
        /// Too many requests; wait before the next one.
        public static let tooMany = Self(rawValue: "too_many")
        /// The server could not write. Send again with the same id.
        public static let storage = Self(rawValue: "storage")
        /// An internal error of the server.
        public static let `internal` = Self(rawValue: "internal")
    }

    /// The kind of the error.
    public var code: Code
    /// A description for the user: the cause and what to do.
    public var message: String

    /// Creates an error.
    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(self.code): \(self.message)" }

    private enum OuterKeys: String, CodingKey { case error }
    private enum InnerKeys: String, CodingKey { case code, message }

    /// Reads `{"error": {"code", "message"}}`.
    public init(from decoder: any Decoder) throws {
        let inner = try decoder.container(keyedBy: OuterKeys.self).nestedContainer(keyedBy: InnerKeys.self, forKey: .error)
        self.code = Code(rawValue: try inner.decode(String.self, forKey: .code))
        self.message = try inner.decodeIfPresent(String.self, forKey: .message) ?? ""
    }

    /// Writes `{"error": {"code", "message"}}`.
    public func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: OuterKeys.self)
        var inner = outer.nestedContainer(keyedBy: InnerKeys.self, forKey: .error)
        try inner.encode(self.code.rawValue, forKey: .code)
        try inner.encode(self.message, forKey: .message)
    }
}
