import NIOCore

/// The reusable storage for decoding one read: the positions of the frames and their unmasked
/// payloads.
///
/// Shared by all connections of an event loop, so that decoding allocates nothing and an idle
/// connection holds nothing.
package struct DecodeScratch {
    /// The maximum capacity to keep, unless all payloads in it are copied: otherwise a small
    /// message kept by the application would keep a large buffer alive.
    private static let maximumSpareBytes = 8 << 10

    private var batch = WebSocketFrameBatch()
    private var payloads = ByteBuffer()
    private var payloadBytes = 0

    /// Creates empty storage.
    package init() {}

    /// The number of frames found since ``begin()``.
    var frameCount: Int { self.batch.places.count }

    mutating func begin() {
        self.batch.clear()
        self.payloadBytes = 0
    }

    mutating func found(_ place: WebSocketFrameBatch.Place) {
        self.batch.places.append(place)
        self.payloadBytes &+= place.length
    }

    /// Uses slices of the read buffer as payloads, which are not masked.
    mutating func cut(_ buffer: ByteBuffer) {
        self.batch.bytes = buffer
    }

    /// Unmasks the payloads into a separate buffer. The channel shares the read buffer, so that
    /// unmasking in place would copy it.
    mutating func unmask(_ buffer: ByteBuffer) {
        guard !self.batch.places.isEmpty else { return }
        let bytes = self.payloadBytes
        let isEnough = self.payloads.modifyIfUniquelyOwned { payloads in
            payloads.clear()
            return payloads.capacity >= bytes
        }
        if isEnough != true { self.payloads = ByteBufferAllocator().buffer(capacity: max(bytes, 256)) }
        buffer.withUnsafeReadableBytes { source in
            _ = self.payloads.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes) { self.batch.unmask(source, to: $0) }
        }
        self.batch.bytes = self.payloads
        if self.payloads.capacity > Self.maximumSpareBytes, !self.batch.places.allSatisfy(\.isPiece) { self.payloads = ByteBuffer() }
    }

    /// Removes and returns the frames. Handling them may cause another read, which uses this
    /// storage again.
    package mutating func takeBatch() -> WebSocketFrameBatch {
        var batch = WebSocketFrameBatch()
        swap(&batch, &self.batch)
        return batch
    }

    /// Returns the storage of handled frames for reuse. `inout`, because clearing a copy would
    /// allocate new storage.
    package mutating func giveBack(_ batch: inout WebSocketFrameBatch) {
        batch.clear()
        swap(&batch, &self.batch)
    }
}
