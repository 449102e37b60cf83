import ApusEventLoop
import ApusFramedProtocol
import NIOConcurrencyHelpers
import NIOCore

extension FramedConnection {
    /// Sends a file to a peer that accepts files (``FramedConnectionConfiguration/receiving``).
    /// Returns when the receiver has stored the file durably under its name and verified its
    /// SHA-256.
    ///
    /// Several files and messages can be sent concurrently; files alternate by chunks. If the
    /// connection breaks, send the file again over the next connection: the transfer resumes after
    /// the receiver's durable bytes. Up to five pieces of 512 KiB are in memory per file, three if
    /// more than four files are sent.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - name: The offered name, with slashes between folders. Default: the name of the file.
    ///   - keepsAttributes: Whether the permissions and the modification time are sent. Default:
    ///     `false`.
    ///   - progress: Receives the number of bytes that are durable at the receiver.
    /// - Throws: `TransferError`; the `FramedError` that ended the connection;
    ///   `CancellationError` when the task was cancelled. A cancellation is sent to the receiver.
    ///   The connection stays open and the transfer can be resumed.
    public func send(
        file path: String, as name: String? = nil, keepsAttributes: Bool = false, progress: ProgressHandler? = nil
    ) async throws {
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        let source = OutgoingSource(path: path, name: try SafeFileName(name ?? last), keepsAttributes: keepsAttributes)
        try await self.send(source, progress: progress)
    }

    private func send(_ source: OutgoingSource, progress: ProgressHandler?) async throws {
        do {
            try await withLoopOperation(on: self.eventLoop) { self.send(source, progress: progress, $0) }
        } catch let error as TransferError where error.code == .cancelled && Task.isCancelled {
            throw CancellationError()
        }
    }

    private func send(_ source: OutgoingSource, progress: ProgressHandler?, _ operation: LoopOperation<Void>) {
        guard self.handler != nil, let transfers = self.transfers else {
            return operation.fail(self.closure?.error ?? FramedError(.closed, message: "the connection is closed"))
        }
        transfers.open(source) { opened in
            guard operation.isRunning else { return }  // cancelled since the submission
            do {
                let opened = try opened.get()
                guard self.peerAcceptsFiles else { throw TransferError(.notSupported, message: "the peer does not accept files") }
                let stream = try transfers.send(opened, progress: progress) { operation.end(with: $0) }
                transfers.writeWholeFiles()
                operation.whenCancelled { transfers.cancel(stream) }
            } catch {
                operation.fail(error)
            }
        }
    }

    /// Cancels all files that are being sent or received. The peer is notified, the transfers can
    /// be resumed, and the connection stays open.
    public func cancelTransfers() {
        self.eventLoop.runOnLoop { self.transfers?.cancelAll() }
    }
}

/// A file or empty folder to open and offer.
struct OutgoingSource: Sendable {
    var path: String
    var name: SafeFileName
    var isFolder = false
    var followsLinks = true
    var keepsAttributes = false

    /// Opens the file and makes its offer. Blocks.
    ///
    /// - Parameter whole: Whether a small file is sent with its offer.
    func open(whole: Bool) throws(TransferError) -> OpenedFile {
        let file =
            try self.isFolder
            ? SourceFile(emptyFolder: self.path, name: self.name.description)
            : SourceFile(path: self.path, name: self.name.description, followsLinks: self.followsLinks)
        let keeps = self.keepsAttributes && !self.isFolder
        let small = whole ? file.small : nil
        let offer = try TransferOffer(
            id: file.id, name: self.name, size: file.status.size, modified: keeps ? file.status.modified : nil,
            permissions: keeps ? file.status.permissions : nil, isFolder: self.isFolder, wholeHash: small?.hash)
        return OpenedFile(file: file, offer: offer, frame: small.flatMap { try? WholeFrame(offer, $0.bytes) })
    }
}

/// A file that is ready to be offered.
struct OpenedFile: Sendable {
    var file: SourceFile
    var offer: TransferOffer
    /// The offer frame including the file, if the file is small.
    var frame: WholeFrame?
}

/// An offer frame that can be taken once. It avoids a copy when the stream is set, and releases the
/// memory as soon as the frame is written.
struct WholeFrame: Sendable {
    private let bytes: NIOLockedValueBox<ByteBuffer?>

    init(_ offer: TransferOffer, _ bytes: [UInt8]) throws {
        self.bytes = NIOLockedValueBox(try WholeFile.frame(offer, bytes))
    }

    func take(for stream: UInt16) -> ByteBuffer? {
        guard var bytes = self.bytes.withLockedValue({ $0.take() }) else { return nil }
        WholeFile.setStream(stream, of: &bytes)
        return bytes
    }
}
