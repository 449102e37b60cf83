import ApusFramedProtocol
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Carries out what ``TransferReceiver`` says. Confined to its event loop; the disk is worked on by the pool's threads, one piece of work at a time
/// and in order.
final class IncomingTransfer {
    private var machine: TransferReceiver
    private let receiving: FileReceiving
    private let connection: ObjectIdentifier
    private let session: UInt64
    private let eventLoop: any EventLoop
    private let write: ([ByteBuffer]) -> EventLoopFuture<Void>?
    private var ended: (() -> Void)?
    private var gatherer = TransferChunk.Gatherer()
    private var part: PartFile?
    /// Whether the ledger knows us.
    private var hasLease = false
    /// The last piece of work for the disk.
    private var tail: EventLoopFuture<Void>

    init(
        machine: TransferReceiver, receiving: FileReceiving, connection: ObjectIdentifier, session: UInt64, eventLoop: any EventLoop,
        write: @escaping ([ByteBuffer]) -> EventLoopFuture<Void>?, ended: @escaping () -> Void
    ) {
        self.machine = machine
        self.receiving = receiving
        self.connection = connection
        self.session = session
        self.eventLoop = eventLoop
        self.write = write
        self.ended = ended
        self.tail = eventLoop.makeSucceededVoidFuture()
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
            case .write:
                let end = chunk.offset + chunk.count
                self.onPart({ try $0.append(chunk.pieces) }) { transfer, _ in
                    transfer.receiving.folder.ledger.withLockedValue { $0.wrote(chunk.count, of: transfer.machine.offer.partName) }
                    return transfer.machine.written(upTo: end)
                }
            }
        } catch {
            self.perform(self.machine.receivedNoChunk(error))
        }
    }

    // MARK: Actions

    private func perform(_ actions: [TransferReceiver.Action]) {
        for action in actions {
            switch action {
            case .send(let head): _ = self.write(FrameBytes.of(head))
            case .prepare(let offer): self.prepare(offer)
            case .sync(let offset):
                self.onPart({ try $0.sync() }, onFailure: { $0.discard() }) { transfer, _ in
                    let actions = transfer.machine.synced(upTo: offset, at: transfer.now)
                    if !actions.isEmpty { transfer.tell(.progress(durableBytes: offset)) }
                    return actions
                }
            case .verify(let sha256):
                self.onPart({ $0.hash == sha256 }) { transfer, isEqual in transfer.machine.verified(isEqual) }
            case .discard: self.discard()
            case .publish: self.publish()
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

    private func prepare(_ offer: TransferOffer) {
        let folder = self.receiving.folder
        let (session, hasLease, old, recognizesFinished) = (self.session, self.hasLease, self.part, self.receiving.recognizesFinished)
        self.part = nil
        self.onPool({
            if let old, old.finishedName == nil {
                try old.empty()  // ours already: the sender begins anew
                return old
            }
            if !hasLease { try folder.admit(offer, session: session) }
            do {
                if recognizesFinished, let finished = try folder.openFinished(offer) { return finished }
                return try folder.openPart(offer)
            } catch {
                if !hasLease { folder.ledger.withLockedValue { $0.released(offer.partName) } }
                throw error
            }
        }) { (transfer, part: PartFile) in
            transfer.hasLease = true
            transfer.part = part
            guard !transfer.machine.hasEnded else {
                transfer.release()
                return []
            }
            transfer.tell(.began(offset: part.size))
            return transfer.machine.accept(from: part.size, hash: part.hash, at: transfer.now)
        }
    }

    private func publish() {
        let (folder, offer, keepsAttributes) = (self.receiving.folder, self.machine.offer, self.receiving.keepsAttributes)
        self.onPart({ try folder.publish($0, as: offer, keepsAttributes: keepsAttributes) }) { transfer, name in
            defer { transfer.tell(.completed(name: name)) }
            return transfer.machine.published()
        }
    }

    /// What is there is worth nothing: a disk that failed to sync it may read it back as if it were there.
    private func discard() {
        let folder = self.receiving.folder
        self.onPart({ folder.discard($0) }) { _, _ in [] }
    }

    private func end(_ outcome: TransferOutcome) {
        if case .failed(let error) = outcome { self.tell(.failed(error)) }
        // Behind the work that is under way: nobody else may write to the file before.
        self.tail.assumeIsolated().whenComplete { _ in self.release() }
        self.ended.take()?()
    }

    private func release() {
        // Not when the last reference goes: the pool's thread may hold one for a moment, and the next sender would find the file locked.
        self.part.take()?.unlock()
        guard self.hasLease else { return }
        self.hasLease = false
        self.receiving.folder.ledger.withLockedValue { $0.released(self.machine.offer.partName) }
    }

    // MARK: The disk

    private func onPart<Result: Sendable>(
        _ work: @escaping @Sendable (PartFile) throws -> Result, onFailure: @escaping (IncomingTransfer) -> Void = { _ in },
        then: @escaping (IncomingTransfer, Result) -> [TransferReceiver.Action]
    ) {
        guard let part = self.part else { return }
        self.onPool({ try work(part) }, onFailure: onFailure, then: then)
    }

    private func onPool<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result, onFailure: @escaping (IncomingTransfer) -> Void = { _ in },
        then: @escaping (IncomingTransfer, Result) -> [TransferReceiver.Action]
    ) {
        let done = self.eventLoop.makePromise(of: Void.self)
        let eventLoop = self.eventLoop
        let before = self.tail
        self.tail = done.futureResult
        before.assumeIsolated().whenComplete { _ in
            NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop, work).assumeIsolated().whenComplete { result in
                switch result {
                case .success(let value): self.perform(then(self, value))
                case .failure(let error):
                    onFailure(self)
                    self.perform(self.machine.fail(error as? TransferError ?? TransferError(.storage, message: "the disk failed")))
                }
                done.succeed()
            }
        }
    }
}

@available(*, unavailable)
extension IncomingTransfer: Sendable {}
