import ApusFramedProtocol
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Carries out what ``TransferReceiver`` says. Confined to its event loop; the disk is worked on by the pool's threads, in order, and what has come
/// while they were at work is done in one go. Only syncing goes on beside writing.
///
/// A small file shares its visits to the disk with the others of the connection, a large one has its own.
final class IncomingTransfer {
    private var machine: TransferReceiver
    private let receiving: FileReceiving
    private let connection: ObjectIdentifier
    private let session: UInt64
    private let eventLoop: any EventLoop
    private let disk: DiskQueue
    private let answer: (FrameHead) -> Void
    private var ended: (() -> Void)?
    private var gatherer: TransferChunk.Gatherer
    private var part: PartFile?
    /// Whether the ledger knows us.
    private var hasLease = false
    /// What the disk has not begun.
    private var queue: [DiskWork] = []
    private var isAtWork = false
    /// Instead of the queue, for a large file.
    private let backlog: DiskBacklog?
    /// A file of so many bytes is large.
    static let largeBytes = 1 << 20
    private var isSyncing = false
    /// Written, as far as the disk has said.
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
        self.gatherer = TransferChunk.Gatherer(copies: copies)
    }

    private var now: Duration { Duration(self.eventLoop.now - NIODeadline.uptimeNanoseconds(0)) }

    func start(at now: Duration) { self.perform(self.machine.start(at: now)) }
    func received(_ head: FrameHead, at now: Duration) { self.perform(self.machine.received(head, at: now)) }
    func cancel(at now: Duration) { self.perform(self.machine.cancel(at: now)) }
    func ticked(at now: Duration) { self.perform(self.machine.ticked(at: now)) }
    func connectionEnded() { self.perform(self.machine.connectionEnded()) }

    // MARK: Chunks

    func receivedPiece(_ bytes: ByteBuffer) {
        do throws(TransferError) {
            try self.gatherer.received(bytes)
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

    private func tell(_ kind: ReceivedFileEvent.Kind) {
        self.receiving.onEvent(
            ReceivedFileEvent(
                connection: self.connection, stream: self.machine.stream, offeredName: self.machine.offer.name,
                size: self.machine.offer.size, kind: kind))
    }

    private func end(_ outcome: TransferOutcome) {
        if case .failed(let error) = outcome {
            self.tell(.failed(error))
            self.discardIfEmpty()
        }
        self.ended.take()?()
        self.releaseWhenIdle()
    }

    /// Of a transfer that ended before anything came nothing stays.
    private func discardIfEmpty() {
        guard self.written == 0, let part = self.part, part.finishedName == nil else { return }
        self.enqueue(.discardIfEmpty(part, in: self.receiving.folder))
    }

    /// The disk has the file up to here: from now on it is told of.
    private func began(at offset: Int) {
        self.written = offset
        self.tell(.began(offset: offset))
    }

    /// Behind the work that is under way: nobody else may write to the file before.
    private func releaseWhenIdle() {
        guard self.machine.hasEnded, !self.isAtWork, !self.isSyncing, self.queue.isEmpty, self.backlog?.isEmpty ?? true else { return }
        // Not when the last reference goes: the pool's thread may hold one for a moment, and the next sender would find the file locked.
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
        guard !self.isAtWork else { return }
        self.isAtWork = true
        // After what else has come with the same read.
        self.eventLoop.assumeIsolated().execute { self.work() }
    }

    /// Takes the whole file. Nothing else of it can come before that is done.
    private func take(_ pieces: [ByteBuffer], _ sha256: String) {
        self.queue.append(
            .take(
                self.machine.offer, pieces, sha256: sha256, in: self.receiving.folder, session: self.session, self.receiving.habits))
        self.isAtWork = true
        self.work()
    }

    private func work() {
        let works = self.queue
        self.queue = []
        self.disk.submit(works) { outcome in
            self.performed(outcome)
            if self.queue.isEmpty {
                self.isAtWork = false
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
        self.queue = []  // it stands on what has failed
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
                if name != nil { self.tell(.began(offset: had)) }
                self.perform(self.machine.finished(isEqual: name != nil, had: had))
                if let name { self.tell(.completed(name: name)) }
            case .declined:
                self.hasLease = true
                self.perform(self.machine.declined(at: self.now))
            case .appended(let count): appended += count
            case .finished(let name):
                self.perform(self.machine.finished(isEqual: name != nil))
                if let name { self.tell(.completed(name: name)) }
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
                // What is there is worth nothing: a disk that failed to sync it may read it back as if it were there. Before anybody hears of it.
                folder.discard(part)
                throw error
            }
        }
        synced.assumeIsolated().whenComplete { result in
            self.isSyncing = false
            switch result {
            case .success:
                let actions = self.machine.synced(upTo: offset, at: self.now)
                if !actions.isEmpty { self.tell(.progress(durableBytes: offset)) }
                self.perform(actions)
            case .failure(let error): self.fail(error as? TransferError ?? TransferError(.storage, message: "the disk failed"))
            }
            self.releaseWhenIdle()
        }
    }
}

@available(*, unavailable)
extension IncomingTransfer: Sendable {}
