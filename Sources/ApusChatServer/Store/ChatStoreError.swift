/// An error that prevents the database from being opened.
public struct ChatStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case newerSchema, cannotOpen, inUse }
        private let value: Value
        /// A later release wrote the file.
        public static let newerSchema = Self(value: .newerSchema)
        /// The folder or file cannot be created, read or written.
        public static let cannotOpen = Self(value: .cannotOpen)
        /// Another server uses the data folder.
        public static let inUse = Self(value: .inUse)
        /// The name of the code.
        public var description: String { "\(self.value)" }
    }

    /// The kind of the error.
    public var code: Code
    /// The cause and what to do, for the user.
    public var message: String

    init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(self.code): \(self.message)" }
}
