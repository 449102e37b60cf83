/// A request the chat refused, on the wire as `{"error": {"code", "message"}}`: the same object in a Socket.IO ack and in an HTTP body.
public struct ChatError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// What went wrong, for a program. Open: a later server may send one that is not listed here.
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The text that goes over the wire.
        public let rawValue: String
        /// Any code, listed or not.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The text that goes over the wire.
        public var description: String { self.rawValue }

        /// The request is not what the protocol says. Sending it again will not help.
        public static let badRequest = Self(rawValue: "bad_request")
        /// No token, or one that is unknown, expired or revoked.
        public static let unauthorized = Self(rawValue: "unauthorized")
        /// Name or password is wrong; deliberately not said which.
        public static let badCredentials = Self(rawValue: "bad_credentials")
        /// Somebody else has this name.
        public static let nameTaken = Self(rawValue: "name_taken")
        /// You are not a member, or may not do this.
        public static let forbidden = Self(rawValue: "forbidden")
        /// There is no such thing (or none that you may see).
        public static let notFound = Self(rawValue: "not_found")
        /// The client id was used for a different message.
        public static let conflict = Self(rawValue: "conflict")
        /// A limit was hit.
        public static let tooLarge = Self(rawValue: "too_large")
        /// Too many requests; wait before the next.
        public static let tooMany = Self(rawValue: "too_many")
        /// The server could not write. Nothing was stored as far as you may assume: send again, with the same id.
        public static let storage = Self(rawValue: "storage")
        /// A defect of the server.
        public static let `internal` = Self(rawValue: "internal")
    }

    /// What went wrong, for a program.
    public var code: Code
    /// What went wrong and what to do, for a person.
    public var message: String

    /// An error of the given kind.
    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// Code and message.
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
