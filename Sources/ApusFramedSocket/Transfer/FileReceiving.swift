public import ApusFramedProtocol

/// What a connection does with the files its peer sends.
public struct FileReceiving: Sendable {
    /// Where they go. One folder may serve any number of connections.
    public var folder: ReceivingFolder
    /// Whether permissions and the time of the last change are taken over, where the sender tells them. Default: `false`.
    public var keepsAttributes: Bool
    /// Hears of every file that begins, grows and ends, on the connection's event loop. It must not block.
    public var onEvent: @Sendable (ReceivedFileEvent) -> Void

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

    /// The name the sender gave it. Safe to show and to join to a path, but the file may get another.
    public var offeredName: SafeFileName
    /// Its bytes.
    public var size: Int
    /// What has happened.
    public var kind: Kind
}
