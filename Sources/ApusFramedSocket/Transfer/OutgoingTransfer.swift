import ApusFramedProtocol
import NIOCore
import NIOPosix

/// Carries out what ``TransferSender`` says. Confined to its event loop; the file is read on the pool's threads, one read at a time.
final class OutgoingTransfer {
    /// Chunks that the transport has not taken: one on its way while the next is read.
    private static let maximumWrites = 2

    private let file: SourceFile
    private var machine: TransferSender
    private let rate: OutgoingRate?
    private let eventLoop: any EventLoop
    private let write: ([ByteBuffer]) -> EventLoopFuture<Void>?
    private let progress: (@Sendable (FramedProgress) -> Void)?
    private var ended: ((TransferOutcome) -> Void)?
    private var isReading = false
    private var writes = 0
    /// Whether the rate makes us wait.
    private var isPausing = false

    init(
        file: SourceFile, machine: TransferSender, rate: OutgoingRate?, eventLoop: any EventLoop,
        write: @escaping ([ByteBuffer]) -> EventLoopFuture<Void>?,
        progress: (@Sendable (FramedProgress) -> Void)?, ended: @escaping (TransferOutcome) -> Void
    ) {
        self.file = file
        self.machine = machine
        self.rate = rate
        self.eventLoop = eventLoop
        self.write = write
        self.progress = progress
        self.ended = ended
    }

    private var now: Duration { Duration(self.eventLoop.now - NIODeadline.uptimeNanoseconds(0)) }

    func start(at now: Duration) { self.perform(self.machine.start(at: now)) }
    func received(_ head: FrameHead, at now: Duration) { self.perform(self.machine.received(head, at: now)) }
    func cancel(at now: Duration) { self.perform(self.machine.cancel(at: now)) }
    func ticked(at now: Duration) { self.perform(self.machine.ticked(at: now)) }
    func connectionEnded() { self.perform(self.machine.connectionEnded()) }

    private func perform(_ actions: [TransferSender.Action]) {
        for action in actions {
            switch action {
            case .send(let head): _ = self.write(FrameBytes.of(head))
            case .hashPrefix(let length):
                self.onPool({ try $0.hashPrefix(length) }) { transfer, hash in transfer.machine.prefixHashed(hash, at: transfer.now) }
            case .progress(let durable): self.progress?(FramedProgress(sentBytes: durable, totalBytes: self.machine.offer.size))
            case .end(let outcome): self.ended.take()?(outcome)
            }
        }
        self.pump()
    }

    /// Sends what there is room for.
    private func pump() {
        guard !self.isReading, self.writes < Self.maximumWrites, !self.isPausing else { return }
        if let pause = self.rate?.limit.pause(at: self.now) {
            self.isPausing = true
            self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(pause)) {
                self.isPausing = false
                self.pump()
            }
            return
        }
        switch self.machine.next() {
        case .wait: break
        case .hash:
            self.onPool({ try $0.wholeHash() }) { transfer, hash in transfer.machine.hashed(hash, at: transfer.now) }
        case .chunk(let offset, let count):
            self.rate?.limit.sent(count)
            let resends = self.machine.resends
            self.onPool({ file in
                let bytes = try file.read(at: offset, count: count)
                return (TransferChunk.prefix(offset: offset, bytes: bytes), bytes)
            }) { transfer, chunk in
                // What was read before the receiver asked for something again would come after our word that we went back.
                if transfer.machine.resends == resends { transfer.send(chunk.0, chunk.1) }
                return []
            }
        }
    }

    private func send(_ prefix: ByteBuffer, _ bytes: ByteBuffer) {
        guard !self.machine.hasEnded else { return }
        let head = FrameHead(.data, stream: self.machine.stream, bodyLength: prefix.readableBytes + bytes.readableBytes)
        var buffers = FrameBytes.of(head)
        buffers[0].writeImmutableBuffer(prefix)
        buffers.append(bytes)
        guard let written = self.write(buffers) else { return }
        self.writes += 1
        written.assumeIsolated().whenComplete { _ in
            self.writes -= 1
            self.pump()
        }
    }

    private func onPool<Result: Sendable>(
        _ work: @escaping @Sendable (SourceFile) throws -> Result, then: @escaping (OutgoingTransfer, Result) -> [TransferSender.Action]
    ) {
        self.isReading = true
        let file = self.file
        NIOThreadPool.singleton.runIfActive(eventLoop: self.eventLoop) { try work(file) }.assumeIsolated().whenComplete { result in
            self.isReading = false
            switch result {
            case .success(let value): self.perform(then(self, value))
            case .failure(let error):
                let error = error as? TransferError ?? TransferError(.source, message: "the file cannot be read")
                self.perform(self.machine.sourceFailed(error))
            }
        }
    }
}

@available(*, unavailable)
extension OutgoingTransfer: Sendable {}

/// The rate that the transfers of a connection share. Confined to its event loop.
final class OutgoingRate {
    var limit: TransferRate

    init(bytesPerSecond: Int) {
        self.limit = TransferRate(bytesPerSecond: bytesPerSecond)
    }
}

@available(*, unavailable)
extension OutgoingRate: Sendable {}
