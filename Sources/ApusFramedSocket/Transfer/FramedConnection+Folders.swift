import ApusFramedProtocol
import NIOCore
import NIOPosix

extension FramedConnection {
    /// Sends a folder and everything below it; see ``send(files:as:_:)``.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - name: What stands for its name at the receiver. Default: its own.
    ///   - sending: How.
    @discardableResult
    public func send(folder path: String, as name: String? = nil, _ sending: FileSending = .init()) async throws -> SentFiles {
        try await self.send(files: [path], as: name, sending)
    }

    /// Sends files, and folders with everything below them, several at a time.
    ///
    /// A file that cannot be read, or is not taken, is reported to ``FileSending/onEvent`` and counted, and the others go on. Links are followed
    /// where they are named themselves and left out below. When the connection breaks, send the same over the next one: files go on where
    /// the receiver's disk has them, and those it has are compared and not sent where it recognizes them
    /// (``FileReceiving/recognizesFinished``).
    ///
    /// - Parameters:
    ///   - paths: What to send. The last component of each is what the names at the receiver begin with.
    ///   - name: What stands for that component, when there is one path.
    ///   - sending: How.
    /// - Returns: How many were sent and how many not.
    /// - Throws: What ended the connection, a ``FramedError``; `CancellationError` when the task was cancelled, and then the receiver has been
    ///   told.
    @discardableResult
    public func send(files paths: [String], as name: String? = nil, _ sending: FileSending = .init()) async throws -> SentFiles {
        guard name == nil || paths.count == 1 else { throw FramedError(.invalidUse, message: "one name for \(paths.count) paths") }
        let canceller = TransferCanceller()
        return try await withTaskCancellationHandler {
            try await self.eventLoop.flatSubmit { () -> EventLoopFuture<SentFiles> in
                guard !canceller.isCancelled else { return self.eventLoop.makeFailedFuture(CancellationError()) }
                guard self.handler != nil, let transfers = self.transfers else {
                    return self.eventLoop.makeFailedFuture(
                        self.closure?.error ?? FramedError(.closed, message: "the connection is closed"))
                }
                let tree = FileTree(paths, as: name, looksAtFiles: !transfers.sendsWholeFiles)
                let files = OutgoingFiles(tree, sending, over: self, transfers)
                canceller.cancel = { files.cancel() }
                return files.run()
            }.get()
        } onCancel: {
            self.onLoop { _ in
                canceller.isCancelled = true
                canceller.cancel?()
            }
        }
    }

    /// Counts what would be sent, without sending it.
    ///
    /// - Returns: Files and empty folders, and their bytes.
    public static func count(files paths: [String]) async throws -> (files: Int, bytes: Int) {
        try await NIOThreadPool.singleton.runIfActive {
            var (files, bytes) = (0, 0)
            for entry in FileTree(paths) where entry.source(keepsAttributes: false) != nil {
                files += 1
                let (sum, overflow) = bytes.addingReportingOverflow(entry.size)
                bytes = overflow ? .max : sum
            }
            return (files, bytes)
        }
    }
}

extension FileTree.Entry {
    var name: String {
        switch self {
        case .file(_, let name, _, _), .emptyFolder(_, let name), .leftOut(let name, _), .failed(let name, _): name
        }
    }

    var size: Int {
        switch self {
        case .file(_, _, let size, _): size ?? 0
        case .emptyFolder, .leftOut, .failed: 0
        }
    }

    /// With the size that it had when it was opened.
    func opened(_ size: Int) -> Self {
        guard case .file(let path, let name, _, let followsLinks) = self else { return self }
        return .file(path: path, name: name, size: size, followsLinks: followsLinks)
    }

    /// What is to be opened; `nil` for what is not sent, a failure for a name that cannot be.
    func source(keepsAttributes: Bool) -> Result<OutgoingSource, TransferError>? {
        do throws(TransferError) {
            switch self {
            case .file(let path, let name, _, let followsLinks):
                return .success(
                    OutgoingSource(path: path, name: try SafeFileName(name), followsLinks: followsLinks, keepsAttributes: keepsAttributes))
            case .emptyFolder(let path, let name):
                return .success(OutgoingSource(path: path, name: try SafeFileName(name), isFolder: true, followsLinks: false))
            case .leftOut, .failed: return nil
            }
        } catch {
            return .failure(error)
        }
    }
}

extension SentFiles {
    mutating func count(_ kind: SentFileEvent.Kind, of entry: FileTree.Entry) {
        switch kind {
        case .completed:
            self.completed += 1
            self.completedBytes += entry.size
        case .leftOut: self.leftOut += 1
        case .failed: self.failed += 1
        case .offered, .began, .progress, .busy: break
        }
    }
}
