import ApusFramedProtocol
import NIOCore

extension FramedConnection {
    /// Sends a file to a peer that takes files (``FramedConnectionConfiguration/receiving``), and waits until it stands on its disk under its
    /// name, synced and checked by its SHA-256.
    ///
    /// Several may be sent at a time, beside messages; they take turns by chunks. When the connection breaks, send the file again over the next one:
    /// it goes on where the receiver's disk has it. In memory there are at most three pieces of 512 KiB of each.
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

    func send(_ source: OutgoingSource, progress: ProgressHandler?) async throws {
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
                                let (file, offer) = try opened.get()
                                guard self.peerTakesFiles else {
                                    throw TransferError(.notSupported, message: "the peer takes no files")
                                }
                                canceller.stream = try transfers.send(file, offer, progress: progress) { promise.completeWith($0) }
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
                self.onLoop { connection in
                    canceller.isCancelled = true
                    if let stream = canceller.stream { connection.transfers?.cancel(stream) }
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
    func open() throws(TransferError) -> (SourceFile, TransferOffer) {
        let file =
            try self.isFolder
            ? SourceFile(emptyFolder: self.path, name: self.name.description)
            : SourceFile(path: self.path, name: self.name.description, followsLinks: self.followsLinks)
        let keeps = self.keepsAttributes && !self.isFolder
        let offer = try TransferOffer(
            id: file.id, name: self.name, size: file.status.size, modified: keeps ? file.status.modified : nil,
            permissions: keeps ? file.status.permissions : nil, isFolder: self.isFolder)
        return (file, offer)
    }
}

/// Touched on the event loop only.
private final class TransferCanceller: @unchecked Sendable {
    var stream: UInt16?
    var isCancelled = false
}
