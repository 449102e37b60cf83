public import ApusChatProtocol

/// Why the chat client could not do something. Switch on ``code``; ``message`` says what to do.
public struct ChatClientError: Error, Hashable, CustomStringConvertible {
    /// What kind of failure it was. A later release may add more.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case refused, unauthorized, notConnected, timeout, unreachable, badReply, badServerAddress, badInput, notFound, store,
                wrongStore, closed
        }
        private let value: Value

        /// The server answered with an error, see ``ChatClientError/serverError``.
        public static let refused = Self(value: .refused)
        /// The name, password or token is not accepted. Log in again.
        public static let unauthorized = Self(value: .unauthorized)
        /// There is no connection right now. It is being made again by itself.
        public static let notConnected = Self(value: .notConnected)
        /// The server did not answer in time.
        public static let timeout = Self(value: .timeout)
        /// No server answers at that address.
        public static let unreachable = Self(value: .unreachable)
        /// The server's answer was not understood: not a chat server, or another version.
        public static let badReply = Self(value: .badReply)
        /// The server's address is not an `http` or `https` URL.
        public static let badServerAddress = Self(value: .badServerAddress)
        /// What the caller gave is out of bounds: empty, too long, too large.
        public static let badInput = Self(value: .badInput)
        /// There is no such user, conversation or picture.
        public static let notFound = Self(value: .notFound)
        /// The local store could not be read or written.
        public static let store = Self(value: .store)
        /// The local store belongs to another user or server, or to a newer release.
        public static let wrongStore = Self(value: .wrongStore)
        /// The client was closed.
        public static let closed = Self(value: .closed)

        /// The code's name.
        public var description: String { self.value.rawValue }
    }

    /// What kind of failure it was.
    public var code: Code
    /// What happened and what to do, for a person.
    public var message: String
    /// The server's own words, when it answered with an error.
    public var serverError: ChatError?
    /// The error underneath, for a log. Not part of equality.
    public var cause: (any Error)?

    /// An error of this client.
    public init(_ code: Code, message: String, serverError: ChatError? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.serverError = serverError
        self.cause = cause
    }

    /// What the server answered, as this client's error.
    init(server error: ChatError) {
        let code: Code
        switch error.code {
        case .unauthorized, .badCredentials: code = .unauthorized
        case .notFound: code = .notFound
        default: code = .refused
        }
        self.init(code, message: error.message, serverError: error)
    }

    /// The code and the message.
    public var description: String { "\(self.code): \(self.message)" }

    /// Whether sending the same thing again can never succeed.
    var isFinal: Bool {
        if self.code == .badInput { return true }
        guard let serverError else { return false }
        switch serverError.code {
        case .storage, .tooMany, .internal, .unauthorized: return false  // these pass
        default: return true  // also a code of a later server: it must not hold up the next message
        }
    }

    /// Equal code, message and server error.
    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.message == right.message && left.serverError == right.serverError
    }

    /// Hashes what equality looks at.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.code)
        hasher.combine(self.message)
        hasher.combine(self.serverError)
    }
}
