public import ApusFramedProtocol

/// The configuration for sending files and folders with ``FramedConnection/send(files:as:_:)``.
public struct FileSending: Sendable {
    /// Whether the permissions and modification times of files are sent. Default: `false`.
    /// Permissions and times of folders are never sent.
    public var keepsAttributes = false
    /// The number of concurrent files, 1…16. Default: 4. A receiver accepts at most
    /// `TransferLimits.transfersOfSession`. Files of at most 16 KiB, which are sent with their
    /// offers, are limited to sixteen times this number, at most 64.
    public var maximumConcurrentFiles = 4
    /// The time for which a file is offered again while its upload is in use, usually by an earlier
    /// connection that the receiver still considers alive. Default: 60 seconds, longer than a
    /// receiver with default settings needs to detect a dead connection.
    public var busyTimeout: Duration = .seconds(60)
    /// Returns whether to skip a file without an event, for instance because an earlier connection
    /// sent it. Receives the name; called on any thread. Default: skips no file.
    public var skips: @Sendable (String) -> Bool = { _ in false }
    /// Receives the events of each file. Called on the connection's event loop; it must not block.
    public var onEvent: @Sendable (SentFileEvent) -> Void

    /// Creates a configuration with default values.
    public init(onEvent: @escaping @Sendable (SentFileEvent) -> Void = { _ in }) {
        self.onEvent = onEvent
    }
}

/// An event of a file that is sent.
public struct SentFileEvent: Sendable, Hashable {
    /// The reason why an entry is omitted without an error.
    public enum Omission: Sendable, Hashable {
        /// A symbolic link, which is not followed.
        case link
        /// A device, a socket or a pipe.
        case notAFile
    }

    /// The kind of an event.
    public enum Kind: Sendable, Hashable {
        /// The file is offered. Both sides may hash existing data first, which can take time for a
        /// large file.
        case offered
        /// The transfer begins at this offset, with the bytes before it already present at the
        /// receiver: 0 for a new file, the size for a complete file.
        case began(offset: Int)
        /// The number of bytes that are durable at the receiver.
        case progress(durableBytes: Int)
        /// The upload is in use. It is offered again until ``FileSending/busyTimeout`` has passed.
        case busy
        /// The file is durable at the receiver.
        case completed
        /// The entry was omitted.
        case leftOut(Omission)
        /// The file was not sent. The other files continue.
        case failed(TransferError)
    }

    /// The offered name: the path relative to the parent of the given path. It is not sanitized for
    /// display.
    public var name: String
    /// The size in bytes when the file was examined.
    public var size: Int
    /// The kind of the event.
    public var kind: Kind
}

/// The totals of a send operation.
public struct SentFiles: Sendable, Hashable {
    /// The number of files and empty folders that are durable at the receiver.
    public var completed = 0
    /// The size of the completed files in bytes, including bytes that the receiver already had.
    public var completedBytes = 0
    /// The number of files that could not be sent.
    public var failed = 0
    /// The number of omitted links, devices and other entries.
    public var leftOut = 0
}
