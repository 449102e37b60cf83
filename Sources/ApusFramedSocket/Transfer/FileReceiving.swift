public import ApusFramedProtocol

/// The configuration for files that the peer sends.
public struct FileReceiving: Sendable {
    /// The folder for the files. Any number of connections can share one.
    public var folder: ReceivingFolder
    /// Whether permissions and the modification time are applied when the sender provides them.
    /// Default: `false`.
    public var keepsAttributes: Bool
    /// Whether an existing file with the offered name is compared with the sender's file. When both
    /// are the same, the file is not sent again. The existing file, its permissions and its times
    /// remain unchanged.
    ///
    /// Default: `false`; the file is sent again and stored under a numbered name. With `true`, the
    /// sender presents the SHA-256 of its file and receives only the result of the comparison. The
    /// sender can thereby detect that the name exists, and test guesses of the content.
    public var recognizesFinished = false
    /// Whether names with a component that begins with a dot are accepted. Default: `false`.
    /// Examples in a home folder are `.ssh/authorized_keys` and `.bashrc`.
    public var allowsHiddenNames = false
    /// Returns the reason why a file is rejected, or `nil` to accept it. Called on the connection's
    /// event loop, before any access to the disk.
    ///
    /// Default: accepts all files. The sender receives the message of the error. Use the code
    /// `TransferError.Code.refused`.
    public var refuses: @Sendable (_ connection: FramedConnection, _ name: SafeFileName, _ size: Int) -> TransferError? = { _, _, _ in nil }
    /// Receives an event when a file begins, makes progress, and ends. Called on the connection's
    /// event loop; it must not block.
    public var onEvent: @Sendable (ReceivedFileEvent) -> Void

    /// The options that the disk work needs.
    struct Habits: Sendable {
        var keepsAttributes: Bool
        var recognizesFinished: Bool
    }

    var habits: Habits { Habits(keepsAttributes: self.keepsAttributes, recognizesFinished: self.recognizesFinished) }

    /// Creates a configuration that stores files in `folder`.
    public init(
        into folder: ReceivingFolder, keepsAttributes: Bool = false, onEvent: @escaping @Sendable (ReceivedFileEvent) -> Void = { _ in }
    ) {
        self.folder = folder
        self.keepsAttributes = keepsAttributes
        self.onEvent = onEvent
    }
}

/// An event of a file that is received.
public struct ReceivedFileEvent: Sendable, Hashable {
    /// The kind of an event.
    public enum Kind: Sendable, Hashable {
        /// The transfer begins at this offset, with the bytes before it already present; 0 for a
        /// new file.
        case began(offset: Int)
        /// The number of bytes that are durable.
        case progress(durableBytes: Int)
        /// The file is stored below the folder under this name, synced and verified.
        case completed(name: String)
        /// The transfer failed. Received bytes are kept for the next attempt, unless they differ
        /// from the sender's file.
        case failed(TransferError)
    }

    /// The identity of the ``FramedConnection`` of the transfer.
    public var connection: ObjectIdentifier
    /// The identifier of the transfer, unique among the concurrent transfers of the connection.
    public var stream: UInt16
    /// The name that the sender offered. It is safe to display and to append to a path, but the
    /// file may be stored under another name.
    public var offeredName: SafeFileName
    /// The size of the file in bytes.
    public var size: Int
    /// The kind of the event.
    public var kind: Kind
}
