public import ApusChatProtocol

/// An error of the chat client. ``code`` identifies the kind; ``message`` describes the cause and
/// what to do.
public struct ChatClientError: Error, Hashable, CustomStringConvertible {
    /// The kind of an error. Later releases may add codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case refused, unauthorized, notConnected, timeout, unreachable, badReply, badServerAddress, badInput, notFound, store,
                wrongStore, closed
        }
        private let value: Value

        /// The server answered with an error; see ``ChatClientError/serverError``.
        public static let refused = Self(value: .refused)
        /// The server rejected the name, password or token. Log in again.
        public static let unauthorized = Self(value: .unauthorized)
        /// There is no connection. The client reconnects automatically.
        public static let notConnected = Self(value: .notConnected)
        /// The server did not answer in time.
        public static let timeout = Self(value: .timeout)
        /// The server could not be reached.
        public static let unreachable = Self(value: .unreachable)
        /// The server's answer is invalid: it is not a chat server, or another version.
        public static let badReply = Self(value: .badReply)
        /// The server's address is not an `http` or `https` URL.
        public static let badServerAddress = Self(value: .badServerAddress)
        /// An argument is empty, too long, too large or otherwise invalid.
        public static let badInput = Self(value: .badInput)
        /// The user, conversation or picture does not exist.
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

    /// The kind of the error.
    public var code: Code
    /// The cause and what to do, for the user.
    public var message: String
    /// The server's error, if it answered with one.
    public var serverError: ChatError?
    /// The underlying error, for logging. Equality ignores it.
    public var cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, message: String, serverError: ChatError? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.serverError = serverError
        self.cause = cause
    }

    /// Creates an error from an error of the server.
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

    /// Whether a retry with the same input cannot succeed.
    var isFinal: Bool {
        if self.code == .badInput { return true }
        guard let serverError else { return false }
        switch serverError.code {
        case .storage, .tooMany, .internal, .unauthorized: return false  // temporary
        default: return true  // includes unknown codes, which must not block the next message
        }
    }

    /// Returns whether code, message and server error are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.message == right.message && left.serverError == right.serverError
    }

    /// Hashes the values that equality compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.code)
        hasher.combine(self.message)
        hasher.combine(self.serverError)
    }
}
