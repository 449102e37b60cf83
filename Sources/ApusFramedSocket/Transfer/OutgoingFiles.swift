import ApusFramedProtocol
import NIOCore
import NIOPosix

/// Sends the files of a list over one connection, several at a time. Confined to its event loop; it
/// creates no task per file.
final class OutgoingFiles {
    private let connection: FramedConnection
    private let transfers: FramedTransfers
    private let list: OutgoingList
    private let sending: FileSending
    private let wholes: Int
    private var queue: TransferQueue<OutgoingList.File>
    private var streams: Set<UInt16> = []
    private var sent = SentFiles()
    /// The error that ends the operation early.
    private var ending: (any Error)?
    private var willPump = false
    private let done: EventLoopPromise<SentFiles>

    /// The interval at which a busy upload is offered again.
    private static let busyPause = TimeAmount.seconds(1)

    init(_ tree: FileTree, _ sending: FileSending, over connection: FramedConnection, _ transfers: FramedTransfers) {
        let others = min(max(sending.maximumConcurrentFiles, 1), 16)
        self.connection = connection
        self.transfers = transfers
        self.sending = sending
        self.wholes = min(others * 16, WholeFile.maximumConcurrent)
        self.queue = TransferQueue(wholes: self.wholes, others: others)
        self.list = OutgoingList(tree, sending, sendsWholeFiles: transfers.sendsWholeFiles)
        self.done = connection.eventLoop.makePromise()
    }

    /// Sends all files. On failure, the future fails after the last active transfer has ended.
    func run() -> EventLoopFuture<SentFiles> {
        self.pump()
        return self.done.futureResult
    }

    /// Cancels the active transfers; the receiver is notified.
    func cancel() { self.end(because: CancellationError()) }

    private func end(because error: any Error) {
        guard self.ending == nil else { return }
        self.ending = error
        self.queue.stop()
        for stream in self.streams { self.transfers.cancel(stream) }
        self.pumpLater()
    }

    // MARK: The list

    private func pump() {
        while true {
            switch self.queue.next() {
            case .fetch: self.fetch()
            case .begin(let file): self.begin(file)
            case .wait: return self.transfers.writeWholeFiles()
            case .finish:
                if let ending = self.ending { self.done.fail(ending) } else { self.done.succeed(self.sent) }
                return
            }
        }
    }

    /// Schedules `pump` for the next turn of the event loop, after all frames of the current read.
    private func pumpLater() {
        guard !self.willPump else { return }
        self.willPump = true
        self.connection.eventLoop.assumeIsolated().execute {
            self.willPump = false
            self.pump()
        }
    }

    private func fetch() {
        let (list, wholes) = (self.list, self.wholes)
        NIOThreadPool.singleton.runIfActive(eventLoop: self.connection.eventLoop) { list.read(wholes: wholes) }.assumeIsolated()
            .whenComplete { result in
                switch result {
                case .success(let piece):
                    self.queue.fetched(wholes: piece.wholes, others: piece.others, isLast: piece.isLast)
                    if self.ending == nil { for (entry, kind) in piece.ended { self.notify(entry, kind) } }
                case .failure(let error):
                    self.queue.fetched(wholes: [], others: [], isLast: true)
                    self.end(because: error)
                }
                self.pump()
            }
    }

    private func notify(_ entry: FileTree.Entry, _ kind: SentFileEvent.Kind) {
        self.sent.count(kind, of: entry)
        self.sending.onEvent(SentFileEvent(name: entry.name, size: entry.size, kind: kind))
    }

    // MARK: One file

    private func begin(_ file: OutgoingList.File) {
        self.notify(file.entry, .offered)
        if let opened = file.opened { self.offer(opened, file, deadline: nil) } else { self.open(file, deadline: nil) }
    }

    /// Opens a file and offers it.
    ///
    /// - Parameter deadline: The deadline for offering the file again; `nil` if the upload was not
    ///   busy yet.
    private func open(_ file: OutgoingList.File, deadline: NIODeadline?) {
        self.transfers.open(file.source) { result in
            switch result {
            case .success(let opened): self.offer(opened, file, deadline: deadline)
            case .failure(let error): self.ended(file, .failure(error), deadline: deadline)
            }
        }
    }

    private func offer(_ opened: OpenedFile, _ file: OutgoingList.File, deadline: NIODeadline?) {
        if let ending = self.ending ?? self.transfers.ending { return self.ended(file, .failure(ending), deadline: deadline) }
        do throws(TransferError) {
            guard self.connection.peerAcceptsFiles else { throw TransferError(.notSupported, message: "the peer does not accept files") }
            var stream: UInt16?
            var hasBegun = false
            let new = try self.transfers.send(opened) { progress in
                let kind: SentFileEvent.Kind =
                    hasBegun ? .progress(durableBytes: progress.sentBytes) : .began(offset: progress.sentBytes)
                hasBegun = true
                self.sending.onEvent(SentFileEvent(name: file.entry.name, size: progress.totalBytes, kind: kind))
            } ended: { result in
                if let stream { self.streams.remove(stream) }
                self.ended(file, result, deadline: deadline)
            }
            stream = new
            self.streams.insert(new)
        } catch {
            self.ended(file, .failure(error), deadline: deadline)
        }
    }

    private func ended(_ file: OutgoingList.File, _ result: Result<Void, any Error>, deadline: NIODeadline?) {
        defer { self.pumpLater() }
        switch result {
        case .success: self.notify(file.entry, .completed)
        case .failure(let error as TransferError):
            guard self.ending == nil else { break }
            guard error.code != .busy || !self.offerAgain(file, deadline: deadline) else { return }
            self.notify(file.entry, .failed(error))
        case .failure(let error): self.end(because: error)
        }
        self.queue.ended(isWhole: file.isWhole)
    }

    /// Schedules another offer. Returns `false` when the deadline has passed or the transfers end.
    private func offerAgain(_ file: OutgoingList.File, deadline: NIODeadline?) -> Bool {
        let now = self.connection.eventLoop.now
        let deadline = deadline ?? now + TimeAmount(self.sending.busyTimeout)
        guard now < deadline, self.transfers.ending == nil else { return false }
        self.notify(file.entry, .busy)
        self.connection.eventLoop.assumeIsolated().scheduleTask(in: Self.busyPause) {
            guard self.ending == nil else { return self.ended(file, .failure(CancellationError()), deadline: deadline) }
            self.open(file, deadline: deadline)
        }
        return true
    }
}

@available(*, unavailable)
extension OutgoingFiles: Sendable {}
