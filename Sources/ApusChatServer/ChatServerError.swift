/// Why a chat server could not start.
public struct ChatServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, for a program.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case addressInUse, cannotListen, certificate, pageFolder }
        private let value: Value
        /// Another program listens there.
        public static let addressInUse = Self(value: .addressInUse)
        /// The address does not exist here, or the port may not be used.
        public static let cannotListen = Self(value: .cannotListen)
        /// The certificate or its key cannot be used.
        public static let certificate = Self(value: .certificate)
        /// There is no page in the folder that `ChatServerConfiguration.pageFolder` names.
        public static let pageFolder = Self(value: .pageFolder)
        /// The name of the code.
        public var description: String { "\(self.value)" }
    }

    /// What is wrong, for a program.
    public var code: Code
    /// What is wrong and what to do, for a person.
    public var message: String
    /// The port that is taken, of ``Code/addressInUse``.
    public var port: Int?

    init(_ code: Code, message: String, port: Int? = nil) {
        self.code = code
        self.message = message
        self.port = port
    }

    /// Code and message.
    public var description: String { "\(self.code): \(self.message)" }
}
