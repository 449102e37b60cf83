import ApusEventLoop
import ApusFramedProtocol
import NIOCore
import NIOPosix

extension FramedConnection {
    /// Sends a folder and everything below it; see ``send(files:as:_:)``.
    ///
    /// - Parameters:
    ///   - path: The path of the folder.
    ///   - name: Replaces the name of the folder at the receiver. Default: the name of the folder.
    ///   - sending: The configuration.
    @discardableResult
    public func send(folder path: String, as name: String? = nil, _ sending: FileSending = .init()) async throws -> SentFiles {
        try await self.send(files: [path], as: name, sending)
    }

    /// Sends files, and folders with everything below them. Several files are sent concurrently.
    ///
    /// A file that cannot be read or is rejected is reported to ``FileSending/onEvent`` and
    /// counted, and the others continue. Links are followed if they are given as a path, and
    /// omitted within folders. If the connection breaks, send the same paths over the next one:
    /// unfinished files resume. A receiver with ``FileReceiving/recognizesFinished`` compares
    /// finished files instead of receiving them again.
    ///
    /// - Parameters:
    ///   - paths: The paths of the files and folders. The names at the receiver begin with the last
    ///     component of the path.
    ///   - name: Replaces the last component of the path; only for a single path.
    ///   - sending: The configuration.
    /// - Returns: The numbers of sent, failed and omitted files.
    /// - Throws: The `FramedError` that ended the connection; `FramedError.Code.invalidUse` for a
    ///   `name` with several paths; `CancellationError` when the task was cancelled. The receiver
    ///   is notified of a cancellation.
    @discardableResult
    public func send(files paths: [String], as name: String? = nil, _ sending: FileSending = .init()) async throws -> SentFiles {
        guard name == nil || paths.count == 1 else {
            throw FramedError(.invalidUse, message: "`name` requires a single path, not \(paths.count)")
        }
        return try await withLoopOperation(on: self.eventLoop) { operation in
            guard self.handler != nil, let transfers = self.transfers else {
                return operation.fail(self.closure?.error ?? FramedError(.closed, message: "the connection is closed"))
            }
            let tree = FileTree(paths, as: name, readsSizes: !transfers.sendsWholeFiles)
            let files = OutgoingFiles(tree, sending, over: self, transfers)
            operation.whenCancelled { files.cancel() }
            files.run().assumeIsolated().whenComplete { operation.end(with: $0) }
        }
    }

    /// Counts the files that would be sent, without sending them.
    ///
    /// - Returns: The number of files and empty folders, and their total size in bytes.
    /// - Throws: `CancellationError` if the task is cancelled before a thread is free.
    public static func count(files paths: [String]) async throws(CancellationError) -> (files: Int, bytes: Int) {
        do {
            return try await NIOThreadPool.singleton.runIfActive {
                var (files, bytes) = (0, 0)
                for entry in FileTree(paths) where entry.source(keepsAttributes: false) != nil {
                    files += 1
                    let (sum, overflow) = bytes.addingReportingOverflow(entry.size)
                    bytes = overflow ? .max : sum
                }
                return (files, bytes)
            }
        } catch {
            throw CancellationError()  // the shared thread pool is never shut down
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

    /// Returns a copy with the size that the file had when it was opened.
    func opened(_ size: Int) -> Self {
        guard case .file(let path, let name, _, let followsLinks) = self else { return self }
        return .file(path: path, name: name, size: size, followsLinks: followsLinks)
    }

    /// Returns the source to open, `nil` for an omitted entry, or an error for an invalid name.
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
