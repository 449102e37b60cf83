import ApusFramedProtocol
import NIOConcurrencyHelpers
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
        let tree = SharedFileTree(FileTree(paths, as: name))
        let sum = NIOLockedValueBox(SentFiles())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<min(max(sending.filesAtATime, 1), 16) {
                group.addTask {
                    while let entry = try await tree.next() {
                        if sending.skips(entry.name) { continue }
                        let kind = try await self.send(entry, sending)
                        sum.withLockedValue { $0.count(kind, of: entry) }
                        sending.onEvent(SentFileEvent(name: entry.name, size: entry.size, kind: kind))
                    }
                }
            }
            try await group.waitForAll()
        }
        return sum.withLockedValue { $0 }
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

    /// Answers how it ended; throws what ends everything.
    private func send(_ entry: FileTree.Entry, _ sending: FileSending) async throws -> SentFileEvent.Kind {
        let source: OutgoingSource
        do throws(TransferError) {
            switch entry {
            case .leftOut(_, let why): return .leftOut(why)
            case .failed(_, let error): return .failed(error)
            case .file, .emptyFolder:
                guard let name = entry.source(keepsAttributes: sending.keepsAttributes) else { return .leftOut(.notAFile) }
                source = try name.get()
            }
        } catch {
            return .failed(error)
        }
        let patience = ContinuousClock.now + sending.busyPatience
        let hasBegun = NIOLockedValueBox(false)
        sending.onEvent(SentFileEvent(name: entry.name, size: entry.size, kind: .offered))
        while true {
            do {
                try await self.send(source) { progress in
                    let isFirst = hasBegun.withLockedValue { hasBegun in
                        defer { hasBegun = true }
                        return !hasBegun
                    }
                    sending.onEvent(
                        SentFileEvent(
                            name: entry.name, size: progress.totalBytes,
                            kind: isFirst ? .began(offset: progress.sentBytes) : .progress(durableBytes: progress.sentBytes)))
                }
                return .completed
            } catch let error as TransferError {
                guard error.code == .busy, ContinuousClock.now < patience, self.closure == nil else { return .failed(error) }
                sending.onEvent(SentFileEvent(name: entry.name, size: entry.size, kind: .busy))
                try await Task.sleep(for: .seconds(1))
            }
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
        case .file(_, _, let size, _): size
        case .emptyFolder, .leftOut, .failed: 0
        }
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
    fileprivate mutating func count(_ kind: SentFileEvent.Kind, of entry: FileTree.Entry) {
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
