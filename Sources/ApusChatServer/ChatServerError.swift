/// An error that prevents a chat server from starting.
public struct ChatServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case invalidConfiguration, addressInUse, cannotListen, certificate, pageFolder, dataFolder, data }
        private let value: Value
        /// A value of the configuration is not valid.
        public static let invalidConfiguration = Self(value: .invalidConfiguration)
        /// Another program uses the address.
        public static let addressInUse = Self(value: .addressInUse)
        /// The server cannot listen on the address.
        public static let cannotListen = Self(value: .cannotListen)
        /// The certificate or its key cannot be used.
        public static let certificate = Self(value: .certificate)
        /// The folder of the page contains no page.
        public static let pageFolder = Self(value: .pageFolder)
        /// Another server uses the data folder.
        public static let dataFolder = Self(value: .dataFolder)
        /// The data cannot be read or written.
        public static let data = Self(value: .data)
        /// The name of the code.
        public var description: String { "\(self.value)" }
    }

    /// The kind of the error.
    public var code: Code
    /// The cause and what to do, for the user.
    public var message: String
    /// The port in use, for ``Code/addressInUse``.
    public var port: Int?

    init(_ code: Code, message: String, port: Int? = nil) {
        self.code = code
        self.message = message
        self.port = port
    }

    /// The code and the message.
    public var description: String { "\(self.code): \(self.message)" }
}
