import ApusWebSocketProtocol
import NIOCore

/// What the connections of one event loop share, so that a busy one allocates nothing for a read and an idle one keeps no buffer.
///
/// Confined to its event loop.
package final class WebSocketBuffers {
    private static let firstBytes = 1 << 10
    private static let receiveBytes = 64 << 10

    /// Where reads are decoded. Unchecked: touched within single statements only, never while a delegate is called.
    @exclusivity(unchecked) var space = WebSocketFrameSpace()
    /// What was written out last: free again when the kernel took all of it.
    @exclusivity(unchecked) private var spare = ByteBuffer()

    /// Who is flushed when the turn ends.
    @exclusivity(unchecked) private var waiting: [WebSocketHandler] = []
    /// Kept between turns for its storage only.
    private var flushing: [WebSocketHandler] = []
    /// What the kernel's bytes are read into.
    @exclusivity(unchecked) private var received = ByteBuffer()
    /// What was joined last, until the turn ends.
    @exclusivity(unchecked) private var joint: Joint?
    private let maximumSpareBytes: Int

    /// - Parameter maximumSpareBytes: A larger buffer is not kept after its write. Default: 4 KiB, for one connection that stands alone; those
    ///   of an event loop can well share a large one.
    package init(maximumSpareBytes: Int = 4 << 10) {
        self.maximumSpareBytes = maximumSpareBytes
    }

    /// An empty buffer for what is sent in one turn.
    func takeBuffer(minimumBytes: Int) -> ByteBuffer {
        // Nobody else holds it, unless the transport has not taken all. One that is too small would be moved to grow.
        if self.spare.capacity >= minimumBytes, let spare = Self.take(&self.spare) { return spare }
        return ByteBufferAllocator().buffer(capacity: max(Self.firstBytes, minimumBytes))
    }

    private static func take(_ place: inout ByteBuffer) -> ByteBuffer? {
        var buffer = ByteBuffer()
        swap(&buffer, &place)
        let isFree = buffer.modifyIfUniquelyOwned { buffer in
            buffer.clear()
            return buffer.capacity > 0
        }
        return isFree == true ? buffer : nil
    }

    /// A buffer was given to the transport.
    func giveBack(_ buffer: consuming ByteBuffer) {
        guard buffer.capacity <= self.maximumSpareBytes else { return }
        self.spare = buffer
    }
}

// MARK: Flushing

extension WebSocketBuffers {
    /// More of them are not kept room for.
    private static let maximumSpareHandlers = 4096

    /// Flushes a connection at the end of this turn; it asks once a turn. One task does it for all connections, whoever many were written to.
    func flushLater(_ handler: WebSocketHandler, on eventLoop: any EventLoop) {
        self.waiting.append(handler)
        guard self.waiting.count == 1 else { return }
        eventLoop.assumeIsolated().execute { self.flush() }
    }

    private func flush() {
        // Who is flushed may write again, and then waits for the next turn.
        var handlers: [WebSocketHandler] = []
        self.joint = nil
        swap(&handlers, &self.flushing)
        swap(&handlers, &self.waiting)
        for handler in handlers { handler.turnEnded() }
        handlers.removeAll(keepingCapacity: handlers.capacity <= Self.maximumSpareHandlers)
        swap(&handlers, &self.flushing)
    }
}

// MARK: Broadcasts

extension WebSocketBuffers {
    /// A larger whole is not kept.
    private static let maximumJointBytes = 64 << 10

    /// Two buffers and both behind each other.
    private struct Joint {
        let first: ByteBuffer
        let second: ByteBuffer
        let whole: ByteBuffer
    }

    /// Both behind each other.
    ///
    /// What a turn broadcasts is joined once for all connections that had the same before, and they share it: no buffer is made and filled for each.
    func join(_ first: ByteBuffer, _ second: ByteBuffer) -> ByteBuffer {
        if let joint, Self.areSame(joint.first, first), Self.areSame(joint.second, second) { return joint.whole }
        var whole = ByteBufferAllocator().buffer(capacity: first.readableBytes + second.readableBytes)
        whole.writeImmutableBuffer(first)
        whole.writeImmutableBuffer(second)
        if whole.readableBytes <= Self.maximumJointBytes { self.joint = Joint(first: first, second: second, whole: whole) }
        return whole
    }

    /// Whether both are the same memory. As long as somebody holds it, nobody changes it.
    private static func areSame(_ one: ByteBuffer, _ other: ByteBuffer) -> Bool {
        one.withUnsafeReadableBytes { one in
            other.withUnsafeReadableBytes { one.baseAddress == $0.baseAddress && one.count == $0.count }
        }
    }
}

// MARK: Reading

extension WebSocketBuffers {
    /// Has a channel read into the event loop's one buffer. Otherwise each channel keeps one of its own, which a connection that says nothing
    /// holds for nothing: 2 KiB of 8.6.
    ///
    /// On the event loop, and only where the ``WebSocketHandler`` is the first to see what was read: it gives the buffer back.
    func receive(on channel: any Channel) {
        // One read a turn: the buffer is in use until its bytes are dealt with, and it is large. Fails when the channel is gone.
        try? channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try? channel.syncOptions?.setOption(.recvAllocator, value: ReceiveAllocator(buffers: self))
    }

    /// What was read is dealt with, and nobody refers to it.
    func giveBackReceived(_ buffer: consuming ByteBuffer) {
        // What the decoder of HTTP had read too much is no such buffer.
        if buffer.capacity >= Self.receiveBytes { self.received = buffer }
    }

    /// Has a channel begin with a small buffer: it keeps the first one, also when its handler shares the event loop's later. The head of a program
    /// fits into it, that of a browser takes some more reads.
    static func receiveHandshake(on channel: any Channel) {
        try? channel.syncOptions?.setOption(.recvAllocator, value: HandshakeAllocator())  // fails when the channel is gone
    }

    /// Has a channel read as one of HTTP does.
    static func receiveRequests(on channel: any Channel) {
        let allocator = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 64 << 10)
        try? channel.syncOptions?.setOption(.recvAllocator, value: allocator)
    }

    private struct HandshakeAllocator: RecvByteBufferAllocator {
        private static let bytes = 256

        func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { allocator.buffer(capacity: Self.bytes) }
        func nextBufferSize() -> Int? { Self.bytes }
        mutating func record(actualReadBytes: Int) -> Bool { false }
    }

    /// `@unchecked Sendable`: a channel asks on its event loop only.
    private struct ReceiveAllocator: RecvByteBufferAllocator, @unchecked Sendable {
        let buffers: WebSocketBuffers

        func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
            WebSocketBuffers.take(&self.buffers.received) ?? allocator.buffer(capacity: WebSocketBuffers.receiveBytes)
        }

        /// `nil`, and growth: the channel then asks for a buffer each time and keeps none.
        func nextBufferSize() -> Int? { nil }
        mutating func record(actualReadBytes: Int) -> Bool { true }
    }
}

@available(*, unavailable)
extension WebSocketBuffers: Sendable {}
