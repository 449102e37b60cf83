import NIOCore
import Testing

@testable import ApusWebSocket

@Suite struct WebSocketBuffersTests {
    private func buffer(_ bytes: Int) -> ByteBuffer { ByteBufferAllocator().buffer(capacity: bytes) }

    @Test func aWrittenBufferIsReused() {
        let buffers = WebSocketBuffers(isShared: true)
        var written = self.buffer(2048)
        written.writeInteger(1)
        buffers.giveBack(written)
        written = ByteBuffer()
        let taken = buffers.takeBuffer(minimumBytes: 100)
        #expect(taken.readableBytes == 0)
        #expect(taken.capacity == 2048)  // a new buffer has 1024
    }

    @Test func aBufferHeldByTheTransportIsNotReused() {
        let buffers = WebSocketBuffers(isShared: true)
        var written = self.buffer(2048)
        written.writeInteger(1)
        buffers.giveBack(written)
        var taken = buffers.takeBuffer(minimumBytes: 100)
        taken.writeInteger(2)
        #expect(written == ByteBuffer(integer: 1))
    }

    /// A peer that does not read keeps the buffers of its responses in use.
    @Test func aSmallAnswerUsesNoLargeBuffer() {
        let buffers = WebSocketBuffers(isShared: true)
        buffers.giveBack(self.buffer(128 << 10))
        #expect(buffers.takeBuffer(minimumBytes: 7).capacity <= 8 << 10)
        buffers.giveBack(self.buffer(128 << 10))
        #expect(buffers.takeBuffer(minimumBytes: 20 << 10).capacity == 128 << 10)
    }
}
