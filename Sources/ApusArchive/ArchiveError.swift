/// The error of an archive that cannot be written.
package struct ArchiveError: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// An entry is larger than announced, or has a name that is empty or too long.
        case invalidEntry
        /// zlib failed, for example because memory is exhausted.
        case compressionFailed
        /// The methods of the writer were called in a wrong order.
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
