import ApusFramedProtocol
import NIOCore

extension FramedConnection {
    /// Sends a file to a peer that takes files (``FramedConnectionConfiguration/receiving``), and waits until it stands on its disk under its
    /// name, synced and checked by its SHA-256.
    ///
    /// Several may be sent at a time, beside messages; they take turns by chunks. When the connection breaks, send the file again over the next one:
    /// it goes on where the receiver's disk has it. In memory there are at most five pieces of 512 KiB of
    /// each, three when more than four are under way.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - name: The name it is offered by, with slashes for folders. Default: the file's own.
    ///   - keepsAttributes: Whether permissions and the time of the last change are told. Default: `false`.
    ///   - progress: Hears how much of it is on the receiver's disk.
    /// - Throws: ``TransferError``; what the connection ended with, a ``FramedError``; `CancellationError` when the task was cancelled: the
    ///   receiver is told, the connection stays, and what has arrived can be gone on with.
    public func send(
        file path: String, as name: String? = nil, keepsAttributes: Bool = false, progress: ProgressHandler? = nil
    ) async throws {
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        let source = OutgoingSource(path: path, name: try SafeFileName(name ?? last), keepsAttributes: keepsAttributes)
        try await self.send(source, progress: progress)
    }

    private func send(_ source: OutgoingSource, progress: ProgressHandler?) async throws {
        let canceller = TransferCanceller()
        do {
            try await withTaskCancellationHandler {
                try await self.eventLoop.flatSubmit { () -> EventLoopFuture<Void> in
                    let promise = self.eventLoop.makePromise(of: Void.self)
                    do {
                        guard !canceller.isCancelled else { throw CancellationError() }
                        guard self.handler != nil, let transfers = self.transfers else {
                            throw self.closure?.error ?? FramedError(.closed, message: "the connection is closed")
                        }
                        transfers.open(source) { opened in
                            do {
                                guard !canceller.isCancelled else { throw CancellationError() }
                                let opened = try opened.get()
                                guard self.peerTakesFiles else {
                                    throw TransferError(.notSupported, message: "the peer takes no files")
                                }
                                let stream = try transfers.send(opened, progress: progress) { promise.completeWith($0) }
                                transfers.writeWholeFiles()
                                canceller.cancel = { transfers.cancel(stream) }
                            } catch {
                                promise.fail(error)
                            }
                        }
                    } catch {
                        promise.fail(error)
                    }
                    return promise.futureResult
                }.get()
            } onCancel: {
                self.onLoop { _ in
                    canceller.isCancelled = true
                    canceller.cancel?()
                }
            }
        } catch let error as TransferError where error.code == .cancelled && Task.isCancelled {
            throw CancellationError()
        }
    }

    /// Gives up every file that is being sent or received. The peer is told, what has arrived can be gone on with, the connection stays.
    public func cancelTransfers() {
        self.onLoop { $0.transfers?.cancelAll() }
    }
}

/// What is to be opened and offered.
struct OutgoingSource: Sendable {
    var path: String
    var name: SafeFileName
    var isFolder = false
    var followsLinks = true
    var keepsAttributes = false

    /// Blocks.
    ///
    /// - Parameter whole: Whether a small one goes with its offer.
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
    /// The offer with the file behind it, when it is small.
    var frame: WholeFrame?
}

/// Is taken once and then gone: it is not copied to get its stream, and not kept until its file is complete.
final class WholeFrame: @unchecked Sendable {
    // Unchecked because: made by one thread of the pool, and then the event loop's.

    private var bytes: ByteBuffer?

    init(_ offer: TransferOffer, _ bytes: [UInt8]) throws {
        self.bytes = try WholeFile.frame(offer, bytes)
    }

    func take(for stream: UInt16) -> ByteBuffer? {
        guard var bytes = self.bytes.take() else { return nil }
        WholeFile.setStream(stream, of: &bytes)
        return bytes
    }
}

final class TransferCanceller: @unchecked Sendable {
    // Unchecked because: touched on the event loop only.

    var isCancelled = false
    /// Gives up what is under way.
    var cancel: (() -> Void)?
}
