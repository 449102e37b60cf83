/// An error that occurs while an archive is written.
package struct ArchiveError: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// An entry is larger than announced, or its name is empty or too long.
        case invalidEntry
        /// zlib failed, for example because memory is exhausted.
        case compressionFailed
        /// A method of the writer was called out of order.
        case invalidUse
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(self.code): \(self.message)" }
}
