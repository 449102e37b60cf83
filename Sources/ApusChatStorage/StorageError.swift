/// An error of a storage.
package struct StorageError: Error, Sendable, CustomStringConvertible {
    /// The kind of an error. It determines whether the committer retries or stops writing.
    package enum Code: String, Sendable {
        /// Another transaction holds the lock. The batch can be decided again with new facts.
        case contention
        /// The disk is full. The batch was not written, and the storage is read-only until there is
        /// space.
        case full
        /// A write or a sync to disk failed. The content of the disk is unknown, and the storage is
        /// read-only until it is reopened.
        case io
        /// The stored data is damaged or not valid.
        case corrupt
        /// The data has a newer schema than this program supports.
        case newerSchema
        /// Another process uses the data.
        case locked
        /// The caller used the storage incorrectly.
        case invalidUse
    }

    package var code: Code
    package var message: String
    package var cause: (any Error)?

    package init(_ code: Code, message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String { "\(self.code.rawValue): \(self.message)" }
}
