public import ApusFramedProtocol

/// How files and folders are sent: ``FramedConnection/send(files:as:_:)``.
public struct FileSending: Sendable {
    /// Whether permissions and the time of the last change of files are told. Default: `false`. Folders have the receiver's.
    public var keepsAttributes = false
    /// Files under way at a time, 1…16. Default: 4. A receiver takes ``TransferLimits/transfersOfSession``. Of files of at most 16 KiB, which go
    /// with their offers, sixteen times as many are, at most 64.
    public var filesAtATime = 4
    /// How long a file is offered again whose upload has another sender: mostly ourselves, over a connection of which the receiver does not know
    /// that it is dead. Default: 60 seconds, longer than a receiver with the defaults takes to notice.
    public var busyPatience: Duration = .seconds(60)
    /// Leaves files out without a word: what was sent over an earlier connection, for instance. Gets the name, on any thread. Default: none.
    public var skips: @Sendable (String) -> Bool = { _ in false }
    /// Hears of every file, on any thread. It must not block.
    public var onEvent: @Sendable (SentFileEvent) -> Void

    /// The defaults.
    public init(onEvent: @escaping @Sendable (SentFileEvent) -> Void = { _ in }) {
        self.onEvent = onEvent
    }
}

/// What becomes of a file that is sent.
public struct SentFileEvent: Sendable, Hashable {
    /// Why something is not sent that is no error.
    public enum Omission: Sendable, Hashable {
        /// A symbolic link: they are not followed.
        case link
        /// A device, a socket or a pipe.
        case notAFile
    }

    /// What has happened.
    public enum Kind: Sendable, Hashable {
        /// It is offered. Both sides hash what the receiver has of it, which takes its time with a large file.
        case offered
        /// The receiver goes on from so many bytes, which it has already; 0 for a new file, its size for one it has.
        case began(offset: Int)
        /// So many bytes of it are on the receiver's disk.
        case progress(durableBytes: Int)
        /// Another sender is at it; it is offered again until ``FileSending/busyPatience`` is over.
        case busy
        /// It stands on the receiver's disk.
        case completed
        /// It was not to be sent.
        case leftOut(Omission)
        /// It was not sent, and the others go on.
        case failed(TransferError)
    }

    /// The name it is offered by: the path from the folder that was named on. Not made safe for showing.
    public var name: String
    /// Its bytes when it was looked at.
    public var size: Int
    /// What has happened.
    public var kind: Kind
}

/// What was sent.
public struct SentFiles: Sendable, Hashable {
    /// Files and empty folders that stand on the receiver's disk.
    public var completed = 0
    /// Their bytes, those the receiver had before included.
    public var completedBytes = 0
    /// What could not be sent.
    public var failed = 0
    /// Links, devices and the like.
    public var leftOut = 0
}
