/// An error that prevents a chat server from starting.
public struct ChatServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case addressInUse, cannotListen, certificate, pageFolder }
        private let value: Value
        /// Another program uses the address.
        public static let addressInUse = Self(value: .addressInUse)
        /// The server cannot listen on the address.
        public static let cannotListen = Self(value: .cannotListen)
        /// The certificate or its key cannot be used.
        public static let certificate = Self(value: .certificate)
        /// The folder in `ChatServerConfiguration.pageFolder` contains no page.
        public static let pageFolder = Self(value: .pageFolder)
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
