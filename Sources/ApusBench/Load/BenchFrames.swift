import NIOCore

/// The encoded frames of the messages that a connection sends.
struct BenchFrames: Sendable {
    /// Consecutive copies of the frame that all slots share; empty if each slot has its own frame.
    private let batch: ByteBuffer
    private let length: Int
    /// The number of copies in `batch`, which is lower for large frames.
    let batchCount: Int
    /// The frame of each slot; empty if all slots share one.
    private let places: [ByteBuffer]

    init(_ messages: BenchMessages, inFlight: Int) {
        let first = messages.frames(place: 0)
        self.length = first.readableBytes
        guard !messages.isNumbered else {
            self.places = (0..<max(inFlight, 1)).map(messages.frames(place:))
            self.batch = ByteBuffer()
            self.batchCount = 0
            return
        }
        self.places = []
        self.batchCount = max(1, min(inFlight, BenchMessages.batchCount, (1 << 20) / max(first.readableBytes, 1)))
        var batch = ByteBufferAllocator().buffer(capacity: first.readableBytes * self.batchCount)
        for _ in 0..<self.batchCount { batch.writeImmutableBuffer(first) }
        self.batch = batch
    }

    /// Returns `count` frames without copying them. `count` must not exceed ``batchCount``.
    func several(_ count: Int) -> ByteBuffer { self.batch.getSlice(at: 0, length: count * self.length) ?? self.batch }

    func append(place: Int, to buffer: inout ByteBuffer) { buffer.writeImmutableBuffer(self.places[place]) }
}
