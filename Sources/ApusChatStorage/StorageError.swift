/// A failure of a storage.
package struct StorageError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure. The committer retries or becomes read-only by it.
    package enum Code: String, Sendable {
        /// Another transaction won. The batch may be decided again from fresh facts.
        case contention
        /// The disk is full. Nothing was written; the storage is read-only until there is space.
        case full
        /// A write or a sync to disk failed. What reached the disk is unknown; the storage is
        /// read-only until it was opened again.
        case io
        /// The data cannot be read as what it must be.
        case corrupt
        /// The data has a newer schema than this program knows.
        case newerSchema
        /// Another process uses the data.
        case locked
        /// The caller broke the contract of the storage.
        case misuse
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
