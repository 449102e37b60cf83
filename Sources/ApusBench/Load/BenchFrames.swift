import NIOCore

/// The frames of all messages, encoded once.
struct BenchFrames: Sendable {
    /// Copies of the one frame, one behind the other; empty where every place has its own.
    private let batch: ByteBuffer
    private let length: Int
    /// How many copies there are: less of large ones.
    let batchCount: Int
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

    /// `count` frames, not copied; at most ``batchCount``.
    func several(_ count: Int) -> ByteBuffer { self.batch.getSlice(at: 0, length: count * self.length) ?? self.batch }

    func append(place: Int, to buffer: inout ByteBuffer) { buffer.writeImmutableBuffer(self.places[place]) }
}
