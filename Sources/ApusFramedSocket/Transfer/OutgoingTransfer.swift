import ApusEventLoop
import ApusFramedProtocol
import DequeModule
import NIOConcurrencyHelpers
import NIOCore

/// Performs the actions of ``TransferSender``. Confined to its event loop. The file is read on the
/// thread pool in batches of chunks, while earlier batches are sent.
final class OutgoingTransfer {
    /// The maximum number of batches that wait in the transport. Control frames are sent after
    /// them.
    private static let maximumWrites = 2
    /// The number of batches that are being read or wait for the transport, if the file is read
    /// ahead.
    private static let maximumReads = 3
    /// The size of a batch. Reporting a batch to the event loop takes as long as reading 100 KiB.
    private static let batchBytes = 512 << 10

    /// Chunks that are read and framed in one job.
    private struct Batch {
        var chunks: [(offset: Int, count: Int)] = []
        var bytes = 0
        /// Whether these are the last chunks, and the hash of the file must follow.
        var isLast = false
        /// The number of resends when the batch was created.
        var resends = 0
    }

    private struct ReadBatch {
        var batch: Batch
        var buffer: FrameBuffer
        /// The hash of the file, only with the last batch.
        var hash: String?
    }

    private let file: SourceFile
    private var machine: TransferSender
    private let rate: OutgoingRate?
    private let eventLoop: any EventLoop
    private let readsAhead: () -> Bool
    private let write: ([ByteBuffer]) -> EventLoopFuture<Void>?
    private let progress: ((FramedProgress) -> Void)?
    private var ended: ((TransferOutcome) -> Void)?
    /// The queue is serial, because each batch continues the hash of the file.
    private let queue = SerialDiskQueue()
    private var reads = 0
    /// The batches that were read and wait for the transport.
    private var ready = Deque<ReadBatch>()
    private var writes = 0
    /// The number of resends when the last batch was created.
    private var lastBatch: Int?
    /// Buffers for reuse.
    private var spare: [FrameBuffer] = []
    /// Whether the rate limit delays the next chunk.
    private var isPausing = false

    init(
        file: SourceFile, machine: TransferSender, rate: OutgoingRate?, eventLoop: any EventLoop, readsAhead: @escaping () -> Bool,
        write: @escaping ([ByteBuffer]) -> EventLoopFuture<Void>?,
        progress: ((FramedProgress) -> Void)?, ended: @escaping (TransferOutcome) -> Void
    ) {
        self.file = file
        self.machine = machine
        self.rate = rate
        self.eventLoop = eventLoop
        self.readsAhead = readsAhead
        self.write = write
        self.progress = progress
        self.ended = ended
    }

    private var now: Duration { Duration(self.eventLoop.now - NIODeadline.uptimeNanoseconds(0)) }

    func start(at now: Duration) { self.perform(self.machine.start(at: now)) }
    /// Starts like ``start(at:)``, but the caller writes the offer together with the file.
    func startWhole(at now: Duration) { self.machine.startWhole(at: now) }
    func receivedHead(_ head: FrameHead, at now: Duration) { self.perform(self.machine.receivedHead(head, at: now)) }
    func cancel(at now: Duration) { self.perform(self.machine.cancel(at: now)) }
    func ticked(at now: Duration) { self.perform(self.machine.ticked(at: now)) }
    func connectionEnded() { self.perform(self.machine.connectionEnded()) }

    private func perform(_ actions: [TransferSender.Action]) {
        for action in actions {
            switch action {
            case .send(let head): _ = self.write(FrameBytes.of(head))
            case .hashPrefix(let length):
                self.onPool({ try $0.hashPrefix(length) }) { transfer, hash in
                    transfer.perform(transfer.machine.prefixHashed(hash, at: transfer.now))
                }
            case .progress(let durable): self.progress?(FramedProgress(sentBytes: durable, totalBytes: self.machine.offer.size))
            case .end(let outcome): self.ended.take()?(outcome)
            }
        }
        self.pump()
    }

    // MARK: Chunks

    /// Reads batches until the limit of reads ahead, of writes in flight or of the rate is reached.
    private func pump() {
        while self.reads + self.ready.count < (self.readsAhead() ? Self.maximumReads : 1), self.writes < Self.maximumWrites, !self.isPausing
        {
            if let pause = self.rate?.limit.pause(at: self.now) {
                self.isPausing = true
                self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(pause)) {
                    self.isPausing = false
                    self.pump()
                }
                return
            }
            let batch = self.nextBatch()
            guard !batch.chunks.isEmpty || batch.isLast else { return }
            self.rate?.limit.sent(batch.bytes)
            self.read(batch)
        }
    }

    private func read(_ batch: Batch) {
        let buffer = self.spare.popLast() ?? FrameBuffer()
        let stream = self.machine.stream
        if batch.isLast { self.lastBatch = batch.resends }
        if let small = self.file.small {
            // The file is in memory.
            for (offset, count) in batch.chunks { buffer.append(small.bytes[offset..<offset + count], at: offset, stream: stream) }
            self.ready.append(ReadBatch(batch: batch, buffer: buffer, hash: small.hash))
            return self.send()
        }
        self.reads += 1
        self.onPool({ file in
            try buffer.read(batch.chunks, of: file, stream: stream)
            return batch.isLast ? try file.wholeHash() : nil
        }) { transfer, hash in
            transfer.reads -= 1
            transfer.ready.append(ReadBatch(batch: batch, buffer: buffer, hash: hash))
            transfer.send()
            transfer.pump()
        }
    }

    private func nextBatch() -> Batch {
        var batch = Batch()
        // With a rate limit, one chunk at a time keeps the rate even.
        while batch.bytes < (self.rate == nil ? Self.batchBytes : 1), case .chunk(let offset, let count) = self.machine.next() {
            batch.chunks.append((offset, count))
            batch.bytes += count
        }
        batch.resends = self.machine.resends
        batch.isLast = self.machine.awaitsHash && self.lastBatch != batch.resends
        return batch
    }

    /// Sends the batches that were read, up to the maximum number of writes in flight.
    private func send() {
        while self.writes < Self.maximumWrites, let next = self.ready.popFirst() {
            self.send(next.batch, next.buffer, hash: next.hash)
        }
    }

    private func send(_ batch: Batch, _ buffer: FrameBuffer, hash: String?) {
        // Discard batches from before a resend request: the receiver would mistake them for the
        // resent bytes.
        guard !self.machine.hasEnded, batch.resends == self.machine.resends else { return self.reuse(buffer) }
        if !batch.chunks.isEmpty, let written = self.write([buffer.bytes]) {
            self.writes += 1
            written.assumeIsolated().whenComplete { _ in
                self.writes -= 1
                self.reuse(buffer)
                self.send()
                self.pump()
            }
        }
        if let hash, batch.isLast { self.perform(self.machine.hashed(hash, at: self.now)) }
    }

    private func reuse(_ buffer: FrameBuffer) {
        buffer.clear()
        if self.spare.count < Self.maximumReads + Self.maximumWrites { self.spare.append(buffer) }
    }

    private func onPool<Result: Sendable>(
        _ work: @escaping @Sendable (SourceFile) throws -> Result, then: @escaping (OutgoingTransfer, Result) -> Void
    ) {
        let file = self.file
        self.queue.run(on: self.eventLoop) { try work(file) }.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let value): then(self, value)
            case .failure(let error):
                let error = error as? TransferError ?? TransferError(.source, message: "the file cannot be read")
                self.perform(self.machine.sourceFailed(error))
            }
        }
    }
}

@available(*, unavailable)
extension OutgoingTransfer: Sendable {}

/// The rate limit that the transfers of a connection share. Confined to its event loop.
final class OutgoingRate {
    var limit: TransferRate

    init(bytesPerSecond: Int) {
        self.limit = TransferRate(bytesPerSecond: bytesPerSecond)
    }
}

@available(*, unavailable)
extension OutgoingRate: Sendable {}

/// The frames of a batch, in reused memory. The system would have to clear the pages of a new
/// buffer of 512 KiB for each batch.
///
/// Used alternately by the event loop and by the pool job that fills it, so no thread waits for the
/// lock.
private struct FrameBuffer: Sendable {
    private let storage = NIOLockedValueBox(ByteBuffer())

    var bytes: ByteBuffer { self.storage.withLockedValue { $0 } }

    func clear() {
        self.storage.withLockedValue { $0.clear() }
    }

    func append(_ chunk: ArraySlice<UInt8>, at offset: Int, stream: UInt16) {
        self.storage.withLockedValue { bytes in
            try? TransferChunk.writeFrame(stream: stream, offset: offset, count: chunk.count, into: &bytes) { $0.copyBytes(from: chunk) }
        }
    }

    func read(_ chunks: [(offset: Int, count: Int)], of file: SourceFile, stream: UInt16) throws(TransferError) {
        try self.storage.withLock { bytes throws(TransferError) in
            bytes.reserveCapacity(chunks.reduce(0) { $0 + $1.count + TransferChunk.overhead })
            for (offset, count) in chunks {
                try TransferChunk.writeFrame(stream: stream, offset: offset, count: count, into: &bytes) { memory throws(TransferError) in
                    try file.read(into: memory, at: offset)
                }
            }
        }
    }
}
