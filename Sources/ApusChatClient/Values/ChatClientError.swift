public import ApusChatProtocol

/// An error of the chat client. ``code`` is the kind; ``message`` tells the cause and what to do.
public struct ChatClientError: Error, Hashable, CustomStringConvertible {
    /// The kind of an error. Later releases may add some.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case refused, signedOut, notConnected, timeout, unreachable, badAnswer, badAddress, badInput, notFound, store, wrongStore,
                closed
        }
        private let value: Value

        /// The server refused the request; see ``ChatClientError/serverError``.
        public static let refused = Self(value: .refused)
        /// The session has ended. Sign in again.
        public static let signedOut = Self(value: .signedOut)
        /// There is no connection. The client reconnects by itself.
        public static let notConnected = Self(value: .notConnected)
        /// The server did not answer in time.
        public static let timeout = Self(value: .timeout)
        /// The server could not be reached.
        public static let unreachable = Self(value: .unreachable)
        /// The answer is not valid: it is not a chat server, or one of another version.
        public static let badAnswer = Self(value: .badAnswer)
        /// The server's address is not an `http` or `https` URL.
        public static let badAddress = Self(value: .badAddress)
        /// An argument is empty, too long or otherwise not valid.
        public static let badInput = Self(value: .badInput)
        /// The conversation, message or file does not exist.
        public static let notFound = Self(value: .notFound)
        /// The local store could not be read or written.
        public static let store = Self(value: .store)
        /// The local store belongs to another user or to a newer release.
        public static let wrongStore = Self(value: .wrongStore)
        /// The client was closed.
        public static let closed = Self(value: .closed)

        /// The name of the code.
        public var description: String { self.value.rawValue }
    }

    /// The kind of the error.
    public var code: Code
    /// The cause and what to do, in English.
    public var message: String
    /// The server's error, if the server refused the request.
    public var serverError: ChatError?
    /// The error of the connection that caused this one. It does not take part in comparisons.
    public var cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, message: String, serverError: ChatError? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.serverError = serverError
        self.cause = cause
    }

    /// Compares all but the cause.
    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.message == right.message && left.serverError == right.serverError
    }

    /// Hashes all but the cause.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.code)
        hasher.combine(self.message)
        hasher.combine(self.serverError)
    }

    /// Creates the error of a refusal.
    init(server error: ChatError) {
        let code: Code
        switch error.code {
        case .unauthorized: code = .signedOut
        case .notFound: code = .notFound
        default: code = .refused
        }
        self.init(code, message: error.message, serverError: error)
    }

    /// The code and the message.
    public var description: String { "\(self.code): \(self.message)" }

    /// The error as the state machines see it: what has no answer of the server can be repeated.
    var asServerError: ChatError {
        if let serverError { return serverError }
        switch self.code {
        case .badInput: return ChatError(.badRequest, message: self.message)
        case .notFound: return ChatError(.notFound, message: self.message)
        default: return ChatError(.unavailable, message: self.message)
        }
    }
}
