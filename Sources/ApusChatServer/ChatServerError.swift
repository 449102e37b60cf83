import ApusBytes

/// An error that prevents a chat server from starting, or ends it.
public struct ChatServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case invalidConfiguration, addressInUse, cannotListen, certificate, pageFolder, dataFolder, data, failed }
        private let value: Value
        /// A value of the configuration is not valid.
        public static let invalidConfiguration = Self(value: .invalidConfiguration)
        /// Another program listens at the address.
        public static let addressInUse = Self(value: .addressInUse)
        /// The server cannot listen at the address.
        public static let cannotListen = Self(value: .cannotListen)
        /// The certificate or its key cannot be read, or they are not valid.
        public static let certificate = Self(value: .certificate)
        /// The folder of the page does not contain a page.
        public static let pageFolder = Self(value: .pageFolder)
        /// Another server uses the data folder.
        public static let dataFolder = Self(value: .dataFolder)
        /// The data cannot be read or written.
        public static let data = Self(value: .data)
        /// A part of the server failed while it ran; ``ChatServerError/cause`` has the details.
        public static let failed = Self(value: .failed)
        /// The name of the code.
        public var description: String { "\(self.value)" }
    }

    /// The kind of the error.
    public var code: Code
    /// The cause and, where possible, the remedy.
    public var message: String
    /// The port that is in use, for ``Code/addressInUse``.
    public var port: Int?
    /// The underlying error, if any. It does not take part in comparisons.
    public var cause: (any Error)? { self.storedCause.error }
    private var storedCause: ErrorCause

    init(_ code: Code, message: String, port: Int? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.port = port
        self.storedCause = ErrorCause(cause)
    }

    /// The code, the message and the cause on one line.
    public var description: String { self.storedCause.description(of: self.code, self.message) }
}
