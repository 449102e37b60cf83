import NIOCore

/// What decoding needs for a moment: where the frames of one read lie, and the bytes of their payloads.
///
/// One serves all connections of an event loop, so that a busy one allocates nothing and an idle one keeps nothing.
package struct DecodeScratch {
    /// A larger buffer is let go of, unless all in it is copied: a message somebody keeps would keep it alive, however small it is.
    private static let maximumSpareBytes = 8 << 10

    private var batch = WebSocketFrameBatch()
    private var payloads = ByteBuffer()
    private var payloadBytes = 0

    /// An empty space.
    package init() {}

    /// The frames found since ``begin()``.
    var frameCount: Int { self.batch.places.count }

    mutating func begin() {
        self.batch.clear()
        self.payloadBytes = 0
    }

    mutating func found(_ place: WebSocketFrameBatch.Place) {
        self.batch.places.append(place)
        self.payloadBytes &+= place.length
    }

    /// The frames are parts of what was read: nothing was masked.
    mutating func cut(_ buffer: ByteBuffer) {
        self.batch.bytes = buffer
    }

    /// The payloads are unmasked into a buffer of their own. What was read belongs to the channel as well: to change it would copy it.
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

    /// Takes the frames out, for as long as they are worked on: what they lead to may lead to another read.
    package mutating func takeBatch() -> WebSocketFrameBatch {
        var batch = WebSocketFrameBatch()
        swap(&batch, &self.batch)
        return batch
    }

    /// The frames were worked on: their storage can be used again. By reference: a copy would share the storage, and clearing it make a new one.
    package mutating func giveBack(_ batch: inout WebSocketFrameBatch) {
        batch.clear()
        swap(&batch, &self.batch)
    }
}
