import ApusBytes
public import ApusChatProtocol

/// An error of the chat client. ``code`` identifies the kind of the error; ``message`` describes
/// the cause and, where possible, the remedy.
public struct ChatClientError: Error, Hashable, CustomStringConvertible {
    /// The kind of an error. Later releases may add kinds.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case refused, signedOut, wrongCredentials, notConnected, timeout, unreachable, badAnswer, badAddress, invalidUse, notFound,
                store, wrongStore, closed, cancelled, invalidConfiguration
        }
        private let value: Value

        /// The server refused the request. ``ChatClientError/serverError`` has the reason.
        public static let refused = Self(value: .refused)
        /// The session has ended. The user has to sign in again.
        public static let signedOut = Self(value: .signedOut)
        /// The name, the password or the code of a sign-in is wrong, or the password or the code
        /// that confirms a change of the account. The field of ``ChatClientError/serverError`` is
        /// `code` if the code of the authenticator is wrong.
        public static let wrongCredentials = Self(value: .wrongCredentials)
        /// There is no connection to the server. The client reconnects automatically. If the
        /// connection was lost during the request, the server may have carried it out.
        public static let notConnected = Self(value: .notConnected)
        /// The server did not answer in time. It may have carried out the request.
        public static let timeout = Self(value: .timeout)
        /// The server could not be reached.
        public static let unreachable = Self(value: .unreachable)
        /// An answer is not valid: the address does not belong to a chat server, or the server has
        /// another version.
        public static let badAnswer = Self(value: .badAnswer)
        /// The server's address is not an `http` or `https` URL.
        public static let badAddress = Self(value: .badAddress)
        /// An argument is not valid, or the method cannot be called in the present state.
        public static let invalidUse = Self(value: .invalidUse)
        /// The conversation, message or file does not exist.
        public static let notFound = Self(value: .notFound)
        /// The local store could not be read or written.
        public static let store = Self(value: .store)
        /// The local store belongs to another user or to a newer release.
        public static let wrongStore = Self(value: .wrongStore)
        /// The client was closed.
        public static let closed = Self(value: .closed)
        /// The task was cancelled while it waited. The server may have carried out the request.
        public static let cancelled = Self(value: .cancelled)
        /// A value of ``ChatClientConfiguration`` is not valid.
        public static let invalidConfiguration = Self(value: .invalidConfiguration)

        /// The name of the code.
        public var description: String { self.value.rawValue }
    }

    /// The kind of the error.
    public var code: Code
    /// The cause and, where possible, the remedy, in English.
    public var message: String
    /// The server's error, if the server refused the request.
    public var serverError: ChatError?
    /// The underlying error, if any. It does not take part in comparisons.
    public var cause: (any Error)? {
        get { self.storedCause.error }
        set { self.storedCause.error = newValue }
    }
    private var storedCause: ErrorCause

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - message: The cause and the remedy.
    ///   - serverError: The error of the server, if it refused the request.
    ///   - cause: The underlying error, if any.
    public init(_ code: Code, message: String, serverError: ChatError? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.serverError = serverError
        self.storedCause = ErrorCause(cause)
    }

    static let closed = ChatClientError(.closed, message: "the client was closed")
    static let cancelled = ChatClientError(.cancelled, message: "the task was cancelled before the server answered")

    /// Creates the error of a request that the server refused.
    init(server error: ChatError) {
        let code: Code
        switch error.code {
        case .unauthorized: code = .signedOut
        case .notFound: code = .notFound
        default: code = .refused
        }
        self.init(code, message: error.message, serverError: error)
    }

    /// The code, the message and the cause on one line.
    public var description: String { self.storedCause.description(of: self.code, self.message) }

    /// The error as the state machines handle it. An error without an answer of the server is
    /// temporary, except `invalidUse`, `notFound`, `signedOut` and `wrongCredentials`.
    var asServerError: ChatError {
        if let serverError { return serverError }
        switch self.code {
        case .invalidUse: return ChatError(.badRequest, message: self.message)
        case .notFound: return ChatError(.notFound, message: self.message)
        case .signedOut, .wrongCredentials: return ChatError(.unauthorized, message: self.message)
        default: return ChatError(.unavailable, message: self.message)
        }
    }
}
