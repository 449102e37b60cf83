package import ApusConnectivity
import ApusWebSocketProtocol
import NIOCore

/// What the connections of one event loop share, so that a busy one allocates nothing for a read and an idle one keeps no buffer.
///
/// Confined to its event loop.
package final class WebSocketBuffers {
    private static let firstBytes = 1 << 10
    private static let smallBytes = 8 << 10
    /// A buffer has room for so many of the first message in it at most.
    private static let maximumMessages = 64
    private static let receiveBytes = 64 << 10

    /// Where reads are decoded. Unchecked: touched within single statements only, never while a delegate is called.
    @exclusivity(unchecked) var space = DecodeScratch()
    /// What was written out: free again when the kernel took all of it.
    @exclusivity(unchecked) private var spares: [ByteBuffer] = []
    @exclusivity(unchecked) private var spareBytes = 0

    /// Who is flushed when the turn ends.
    private let waiting = WebSocketFlushList()
    /// Who was read in this turn, and has answered.
    private let answering = WebSocketFlushList()
    /// What the kernel's bytes are read into.
    @exclusivity(unchecked) private var received = ByteBuffer()
    /// What was joined last, until the turn ends.
    @exclusivity(unchecked) private var sharedBuffer: SharedWriteBuffer?
    /// What the buffers that are kept after their writes may have together.
    private let maximumSpareBytes: Int

    /// Bounds what is sent in one turn.
    package let turn: EventLoopTurn
    /// Bytes queued for a peer above which none of its messages is handled, until it has taken them.
    let queueLowMark: Int
    /// What the server's connections may hold together; `nil` for a client's.
    package let budgets: ConnectionBudgets?

    /// What a connection that stands alone needs, or those of a client.
    package convenience init(isShared: Bool = false) {
        self.init(isShared: isShared, queueLowMark: .max, budgets: nil)
    }

    /// What the connections of a server on one event loop share.
    ///
    /// - Parameters:
    ///   - queueLowMark: Bytes queued for a peer above which none of its messages is handled, until it has taken them. Less than the transport's
    ///     watermark of 64 KiB counts as that.
    ///   - budgets: What all connections of the server may hold together.
    package convenience init(queueLowMark: Int, budgets: ConnectionBudgets) {
        self.init(isShared: true, queueLowMark: queueLowMark, budgets: budgets)
    }

    private init(isShared: Bool, queueLowMark: Int, budgets: ConnectionBudgets?) {
        self.maximumSpareBytes = isShared ? 256 << 10 : 4 << 10
        self.queueLowMark = queueLowMark
        self.budgets = budgets
        self.turn = EventLoopTurn(backlog: budgets?.backlog)
        self.turn.flush = { [waiting, answering] in
            answering.flush()
            waiting.flush()
        }
    }

    /// An empty buffer for what is sent in one turn.
    func takeBuffer(minimumBytes: Int) -> ByteBuffer {
        // Nobody else holds it, unless the transport has not taken all. One that is too small would be moved to grow; one that is far too large
        // would be held for little by a peer that does not read.
        if var spare = self.spares.popLast() {
            self.spareBytes -= spare.capacity
            let isFarTooLarge = spare.capacity > Self.smallBytes && spare.capacity / Self.maximumMessages > minimumBytes
            if spare.capacity >= minimumBytes, !isFarTooLarge, let buffer = Self.take(&spare) { return buffer }
        }
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
        guard buffer.capacity <= self.maximumSpareBytes - self.spareBytes else { return }
        self.spareBytes += buffer.capacity
        self.spares.append(buffer)
    }
}

// MARK: Flushing

extension WebSocketBuffers {
    /// So many connections that were read are written to together.
    ///
    /// A peer that is written to wakes up, reads and sleeps again; of many on one machine each wakes the others' processor. That was a seventh of an
    /// echo to 50 of them. With too many, what the processor's cache holds of the first has gone when its turn comes.
    private static let answersTogether = 32

    /// Flushes a connection at the end of this turn; it asks once a turn. One task does it for all connections, whoever many were written to.
    func flushLater(_ handler: WebSocketHandler, on eventLoop: any EventLoop) {
        guard self.waiting.add(handler) == 1 else { return }
        eventLoop.assumeIsolated().execute { self.endTurn(self.waiting) }
    }

    /// Flushes a connection that was read, when enough others were, or at the end of this turn; it asks once.
    func flushAfterRead(_ handler: WebSocketHandler, on eventLoop: any EventLoop) {
        switch self.answering.add(handler) {
        case Self.answersTogether: self.answering.flush()
        case 1: eventLoop.assumeIsolated().execute { self.endTurn(self.answering) }
        default: break
        }
    }

    private func endTurn(_ handlers: WebSocketFlushList) {
        self.sharedBuffer = nil
        handlers.flush()
        self.turn.ended()
    }
}

// MARK: Broadcasts

extension WebSocketBuffers {
    /// Two frames behind each other.
    ///
    /// What a turn broadcasts is joined once for all connections that had the same before, and they share it: no buffer is made and filled for each.
    func join(_ first: ByteBuffer, _ second: ByteBuffer) -> (sharedBuffer: SharedWriteBuffer, length: Int) {
        if let sharedBuffer, sharedBuffer.begins(with: first),
            case .shared(let length) = sharedBuffer.append(second, at: first.readableBytes)
        {
            return (sharedBuffer, length)
        }
        let sharedBuffer = SharedWriteBuffer(first, second)
        self.sharedBuffer = sharedBuffer
        return (sharedBuffer, first.readableBytes + second.readableBytes)
    }
}

// MARK: Reading

extension WebSocketBuffers {
    /// Has a channel read into the event loop's one buffer. Otherwise each channel keeps one of its own, which a connection that says nothing
    /// holds for nothing: 2 KiB of 8.6.
    ///
    /// On the event loop, and only where whoever is the first to see what was read gives the buffer back.
    ///
    /// - Parameter isNew: Whether the channel has read nothing yet. It keeps the first buffer it reads into as long as it lives, so that one holds
    ///   a single byte; the rest comes in the next turn.
    func receive(on channel: any Channel, isNew: Bool) {
        // One read a turn: the buffer is in use until its bytes are dealt with, and it is large. Fails when the channel is gone.
        try? channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try? channel.syncOptions?.setOption(.recvAllocator, value: ReceiveAllocator(buffers: self, isFirst: isNew))
    }

    /// What was read is dealt with, and nobody refers to it.
    func giveBackReceived(_ buffer: consuming ByteBuffer) {
        // What the decoder of HTTP had read too much is no such buffer.
        if buffer.capacity >= Self.receiveBytes { self.received = buffer }
    }

    /// The most bytes that a channel reads at once within a body.
    static let bodyBytes = 64 << 10

    /// Makes a channel read as one of HTTP does: little at a time, since requests behind an unanswered one are kept, as objects much larger than
    /// their bytes.
    ///
    /// - Parameter isWithinBody: Whether the next ``bodyBytes`` are those of one body.
    static func receiveRequests(on channel: any Channel, isWithinBody: Bool = false) {
        let allocator =
            isWithinBody
            ? AdaptiveRecvByteBufferAllocator(minimum: 64, initial: Self.bodyBytes, maximum: Self.bodyBytes)
            : AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 16 << 10)
        try? channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try? channel.syncOptions?.setOption(.recvAllocator, value: allocator)
    }

    /// Makes a channel read as it does by default.
    static func receiveAnything(on channel: any Channel) {
        try? channel.syncOptions?.setOption(.maxMessagesPerRead, value: 4)
        try? channel.syncOptions?.setOption(.recvAllocator, value: AdaptiveRecvByteBufferAllocator())
    }

    /// `@unchecked Sendable`: a channel asks on its event loop only.
    private struct ReceiveAllocator: RecvByteBufferAllocator, @unchecked Sendable {
        let buffers: WebSocketBuffers
        var isFirst: Bool

        func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
            guard !self.isFirst else { return allocator.buffer(capacity: 1) }
            return WebSocketBuffers.take(&self.buffers.received) ?? allocator.buffer(capacity: WebSocketBuffers.receiveBytes)
        }

        /// `nil`, and growth: the channel then asks for a buffer each time and keeps none but the first.
        func nextBufferSize() -> Int? { nil }

        mutating func record(actualReadBytes: Int) -> Bool {
            self.isFirst = false
            return true
        }
    }
}

@available(*, unavailable)
extension WebSocketBuffers: Sendable {}
