/// A database that cannot be opened.
public struct ChatStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, for a program.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case newerSchema, cannotOpen, inUse }
        private let value: Value
        /// A later release wrote the file.
        public static let newerSchema = Self(value: .newerSchema)
        /// The folder or file cannot be read or written.
        public static let cannotOpen = Self(value: .cannotOpen)
        /// Another server uses the data folder.
        public static let inUse = Self(value: .inUse)
        /// The name of the code.
        public var description: String { "\(self.value)" }
    }

    /// What is wrong, for a program.
    public var code: Code
    /// What is wrong and what to do, for a person.
    public var message: String

    init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// Code and message.
    public var description: String { "\(self.code): \(self.message)" }
}
