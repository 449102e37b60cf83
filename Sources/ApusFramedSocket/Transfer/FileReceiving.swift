public import ApusFramedProtocol

/// What a connection does with the files its peer sends.
public struct FileReceiving: Sendable {
    /// Where they go. One folder may serve any number of connections.
    public var folder: ReceivingFolder
    /// Whether permissions and the time of the last change are taken over, where the sender tells them. Default: `false`.
    public var keepsAttributes: Bool
    /// Whether a file that stands below the folder already, under the offered name, is compared with the sender's and, when it is the
    /// same, not sent again. It is left as it is, with its permissions and its times.
    ///
    /// Default: `false`, it is sent again and gets a number. The sender shows the SHA-256 of its file first, and hears only whether that
    /// is the hash of the file that is there: it learns that the name is taken, and may guess at what the file holds.
    public var recognizesFinished = false
    /// Whether names are taken of which a component begins with a dot. Default: `false`. In a home folder `.ssh/authorized_keys` and
    /// `.bashrc` are such names.
    public var allowsHiddenNames = false
    /// Says why a file is not taken; `nil`: it is. Asked on the connection's event loop, before anything of the file is looked at or made.
    ///
    /// Default: takes all. The error's message goes to the sender; ``TransferError/Code/refused`` is the code for this.
    public var refuses: @Sendable (_ connection: FramedConnection, _ name: SafeFileName, _ size: Int) -> TransferError? = { _, _, _ in nil }
    /// Hears of every file that begins, grows and ends, on the connection's event loop. It must not block.
    public var onEvent: @Sendable (ReceivedFileEvent) -> Void

    /// What the disk's work needs to know of it.
    struct Habits: Sendable {
        var keepsAttributes: Bool
        var recognizesFinished: Bool
    }

    var habits: Habits { Habits(keepsAttributes: self.keepsAttributes, recognizesFinished: self.recognizesFinished) }

    /// Files go into a folder.
    public init(
        into folder: ReceivingFolder, keepsAttributes: Bool = false, onEvent: @escaping @Sendable (ReceivedFileEvent) -> Void = { _ in }
    ) {
        self.folder = folder
        self.keepsAttributes = keepsAttributes
        self.onEvent = onEvent
    }
}

/// What becomes of a file that is received.
public struct ReceivedFileEvent: Sendable, Hashable {
    /// What has happened.
    public enum Kind: Sendable, Hashable {
        /// It goes on from so many bytes, which are there already; 0 for a new one.
        case began(offset: Int)
        /// So many bytes of it are on the disk.
        case progress(durableBytes: Int)
        /// It stands below the folder, synced and checked, under this name.
        case completed(name: String)
        /// It will not come over this connection. What is there stays for the next attempt, unless it was wrong.
        case failed(TransferError)
    }

    /// The connection it comes over.
    public var connection: ObjectIdentifier
    /// Tells the files that come over one connection at the same time apart.
    public var stream: UInt16
    /// The name the sender gave it. Safe to show and to join to a path, but the file may get another.
    public var offeredName: SafeFileName
    /// Its bytes.
    public var size: Int
    /// What has happened.
    public var kind: Kind
}
