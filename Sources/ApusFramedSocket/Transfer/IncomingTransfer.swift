import ApusFramedProtocol
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Performs the actions of ``TransferReceiver``. Confined to its event loop. Disk work runs on the
/// thread pool in order; work that arrives during a job is combined into the next one. Only syncs
/// run concurrently with writes.
///
/// A small file shares its jobs with the other small files of the connection. A large file has its
/// own jobs.
final class IncomingTransfer {
    private var machine: TransferReceiver
    private let receiving: FileReceiving
    private let connection: ObjectIdentifier
    private let session: UInt64
    private let eventLoop: any EventLoop
    private let disk: DiskQueue
    private let answer: (FrameHead) -> Void
    private var ended: (() -> Void)?
    private var gatherer: TransferChunk.Assembler
    private var part: PartFile?
    /// Whether the transfer has a lease.
    private var hasLease = false
    /// The work that was not submitted yet.
    private var queue: [DiskWork] = []
    private var isBusy = false
    /// The backlog of a large file, used instead of ``queue``.
    private let backlog: DiskBacklog?
    /// The minimum size of a large file. Unit: bytes.
    static let largeBytes = 1 << 20
    private var isSyncing = false
    /// The number of bytes that are written.
    private var written = 0

    init(
        machine: TransferReceiver, receiving: FileReceiving, connection: ObjectIdentifier, session: UInt64, eventLoop: any EventLoop,
        disk: DiskQueue, backlog: DiskBacklog?, copies: Bool,
        answer: @escaping (FrameHead) -> Void, ended: @escaping () -> Void
    ) {
        self.machine = machine
        self.receiving = receiving
        self.connection = connection
        self.session = session
        self.eventLoop = eventLoop
        self.disk = disk
        self.backlog = backlog
        self.answer = answer
        self.ended = ended
        self.gatherer = TransferChunk.Assembler(copies: copies)
    }

    private var now: Duration { Duration(self.eventLoop.now - NIODeadline.uptimeNanoseconds(0)) }

    func start(at now: Duration) { self.perform(self.machine.start(at: now)) }
    func receivedHead(_ head: FrameHead, at now: Duration) { self.perform(self.machine.receivedHead(head, at: now)) }
    func cancel(at now: Duration) { self.perform(self.machine.cancel(at: now)) }
    func ticked(at now: Duration) { self.perform(self.machine.ticked(at: now)) }
    func connectionEnded() { self.perform(self.machine.connectionEnded()) }

    // MARK: Chunks

    func receivedPiece(_ bytes: ByteBuffer) {
        do throws(TransferError) {
            try self.gatherer.receivedPiece(bytes)
        } catch {
            self.perform(self.machine.receivedNoChunk(error))
        }
    }

    func receivedEnd(at now: Duration) {
        guard self.gatherer.isUsed else { return }  // a frame without a body
        do throws(TransferError) {
            let chunk = try self.gatherer.ended()
            switch self.machine.receivedChunk(offset: chunk.offset, count: chunk.count, isIntact: chunk.isIntact, at: now) {
            case .drop(let actions): self.perform(actions)
            case .take(let sha256): self.take(chunk.pieces, sha256)
            case .write: if let part = self.part { self.enqueue(.append(chunk.pieces, count: chunk.count, to: part)) }
            }
        } catch {
            self.perform(self.machine.receivedNoChunk(error))
        }
    }

    // MARK: Actions

    private func perform(_ actions: [TransferReceiver.Action]) {
        for action in actions {
            switch action {
            case .send(let head): self.answer(head)
            case .take(let sha256): self.take([], sha256)
            case .prepare(let offer):
                self.enqueue(
                    .prepare(
                        offer, in: self.receiving.folder, session: self.session, hasLease: self.hasLease,
                        recognizesFinished: self.receiving.recognizesFinished))
            case .compare(let shown): self.enqueue(.compare(self.machine.offer, shown, self.part, in: self.receiving.folder))
            case .sync(let offset): self.sync(upTo: offset)
            case .finish(let sha256):
                guard let part = self.part else { continue }
                self.enqueue(
                    .finish(
                        part, as: self.machine.offer, in: self.receiving.folder, sha256: sha256,
                        keepsAttributes: self.receiving.keepsAttributes))
            case .discard: if let part = self.part { self.enqueue(.discard(part, in: self.receiving.folder)) }
            case .end(let outcome): self.end(outcome)
            }
        }
    }

    private func notify(_ kind: ReceivedFileEvent.Kind) {
        self.receiving.onEvent(
            ReceivedFileEvent(
                connection: self.connection, stream: self.machine.stream, offeredName: self.machine.offer.name,
                size: self.machine.offer.size, kind: kind))
    }

    private func end(_ outcome: TransferOutcome) {
        if case .failed(let error) = outcome {
            self.notify(.failed(error))
            self.discardIfEmpty()
        }
        self.ended.take()?()
        self.releaseWhenIdle()
    }

    /// Removes the empty file of a transfer that ended before any data.
    private func discardIfEmpty() {
        guard self.written == 0, let part = self.part, part.finishedName == nil else { return }
        self.enqueue(.discardIfEmpty(part, in: self.receiving.folder))
    }

    /// Reports the offset at which the transfer begins.
    private func began(at offset: Int) {
        self.written = offset
        self.notify(.began(offset: offset))
    }

    /// Releases the lease after the pending work, so that no other transfer writes to the file
    /// earlier.
    private func releaseWhenIdle() {
        guard self.machine.hasEnded, !self.isBusy, !self.isSyncing, self.queue.isEmpty, self.backlog?.isEmpty ?? true else { return }
        // Unlock explicitly. A pool thread may still retain a reference for a moment, and the file
        // would be locked for the next sender.
        self.part.take()?.unlock()
        guard self.hasLease else { return }
        self.hasLease = false
        self.receiving.folder.leases.withLockedValue { $0.released(self.machine.offer.partName) }
    }

    // MARK: The disk

    private func enqueue(_ work: DiskWork) {
        if let backlog = self.backlog {
            return backlog.append(work) { outcome in
                self.performed(outcome)
                self.releaseWhenIdle()
            }
        }
        self.queue.append(work)
        guard !self.isBusy else { return }
        self.isBusy = true
        // The job starts after the other frames of the same read were handled.
        self.eventLoop.assumeIsolated().execute { self.work() }
    }

    /// Stores a whole file. No other frame of the transfer is expected before the file is stored.
    private func take(_ pieces: [ByteBuffer], _ sha256: String) {
        self.queue.append(
            .take(
                self.machine.offer, pieces, sha256: sha256, in: self.receiving.folder, session: self.session, self.receiving.habits))
        self.isBusy = true
        self.work()
    }

    private func work() {
        let works = self.queue
        self.queue = []
        self.disk.submit(works) { outcome in
            self.performed(outcome)
            if self.queue.isEmpty {
                self.isBusy = false
                self.releaseWhenIdle()
            } else {
                self.work()
            }
        }
    }

    private func performed(_ outcome: DiskWork.Outcome) {
        self.report(outcome.reports)
        if let failure = outcome.failure { self.fail(failure) }
    }

    private func fail(_ error: TransferError) {
        self.queue = []  // the remaining work depends on the failed work
        self.backlog?.removeAll()
        self.perform(self.machine.fail(error))
    }

    private func report(_ reports: [DiskWork.Report]) {
        var appended = 0
        for report in reports {
            switch report {
            case .prepared(let part, let offset):
                self.hasLease = true
                self.part = part
                guard !self.machine.hasEnded else {
                    self.discardIfEmpty()
                    continue
                }
                if offset == 0 { self.began(at: 0) }
                self.perform(self.machine.prepared(upTo: offset, at: self.now))
            case .compared(let part, let isEqual):
                self.part = part
                guard !self.machine.hasEnded else {
                    self.discardIfEmpty()
                    continue
                }
                self.began(at: isEqual ? part.size : 0)
                self.perform(self.machine.compared(isEqual: isEqual, at: self.now))
            case .taken(let name, let had):
                self.hasLease = true
                if name != nil { self.notify(.began(offset: had)) }
                self.perform(self.machine.finished(isEqual: name != nil, had: had))
                if let name { self.notify(.completed(name: name)) }
            case .declined:
                self.hasLease = true
                self.perform(self.machine.declined(at: self.now))
            case .appended(let count): appended += count
            case .finished(let name):
                self.perform(self.machine.finished(isEqual: name != nil))
                if let name { self.notify(.completed(name: name)) }
            case .discarded, .opened: break
            }
        }
        guard appended > 0 else { return }
        self.written += appended
        self.receiving.folder.leases.withLockedValue { $0.wrote(appended, of: self.machine.offer.partName) }
        self.perform(self.machine.written(upTo: self.written))
    }

    private func sync(upTo offset: Int) {
        guard let part = self.part else { return }
        self.isSyncing = true
        let folder = self.receiving.folder
        let synced = NIOThreadPool.singleton.runIfActive(eventLoop: self.eventLoop) {
            do {
                try part.sync()
            } catch {
                // After a failed sync, the system may read back data that is not on the disk.
                // Discard the file before the failure is reported.
                folder.discard(part)
                throw error
            }
        }
        synced.assumeIsolated().whenComplete { result in
            self.isSyncing = false
            switch result {
            case .success:
                let actions = self.machine.synced(upTo: offset, at: self.now)
                if !actions.isEmpty { self.notify(.progress(durableBytes: offset)) }
                self.perform(actions)
            case .failure(let error): self.fail(error as? TransferError ?? TransferError(.storage, message: "the file cannot be synced"))
            }
            self.releaseWhenIdle()
        }
    }
}

@available(*, unavailable)
extension IncomingTransfer: Sendable {}
