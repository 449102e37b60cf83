package import ApusConnectivity
package import ApusEventLoop
import ApusWebSocketProtocol
import NIOCore

/// The buffers that the connections of one event loop share.
///
/// Because of them, a busy connection allocates no memory for a read, and an idle connection
/// retains no buffer. Confined to its event loop.
package final class WebSocketBuffers {
    private static let firstBytes = 1 << 10
    private static let smallBytes = 8 << 10
    /// The maximum ratio of a reused buffer's capacity to the first message in it, for buffers
    /// larger than ``smallBytes``.
    private static let maximumMessages = 64
    private static let receiveBytes = 64 << 10

    /// The storage that every message uses. Unchecked: accessed within single statements only,
    /// never during a call to a delegate.
    @exclusivity(unchecked) var hot = Hot()

    struct Hot {
        /// The scratch space of the decoder.
        var space = DecodeScratch()
        /// The buffers that were passed to the transport. A buffer can be reused after all of its
        /// bytes have been written to the kernel.
        fileprivate var spares: [ByteBuffer] = []
        fileprivate var spareBytes = 0
        /// The shared receive buffer.
        fileprivate var received = ByteBuffer()
        /// The last buffer created by ``WebSocketBuffers/join(_:_:)``, until the turn ends.
        fileprivate var sharedBuffer: SharedWriteBuffer?
    }

    /// The connections to flush when the turn ends.
    private let waiting = WebSocketFlushList()
    /// The connections that were read in this turn and have responses to flush.
    private let answering = WebSocketFlushList()
    /// The maximum total capacity of the buffers kept after their writes.
    private let maximumSpareBytes: Int

    /// The limit on the messages sent in one turn.
    package let turn: EventLoopTurn
    /// The number of bytes queued for a peer above which the peer's messages are not handled.
    let queueLowMark: Int
    /// The byte budgets of the server; `nil` on a client.
    package let budgets: ConnectionBudgets?

    /// Creates the buffers of a single connection or of a client.
    package convenience init(isShared: Bool = false) {
        self.init(isShared: isShared, queueLowMark: .max, budgets: nil)
    }

    /// Creates the buffers shared by a server's connections on one event loop.
    ///
    /// - Parameters:
    ///   - queueLowMark: The number of bytes queued for a peer above which the peer's messages are
    ///     not handled. The effective minimum is the transport's high watermark of 64 KiB.
    ///   - budgets: The byte budgets of all the server's connections.
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

    /// Returns an empty buffer for the messages of one turn.
    func takeBuffer(minimumBytes: Int) -> ByteBuffer {
        // The buffer is uniquely referenced unless the transport still retains a part of it. A
        // buffer that is too small would have to be reallocated. A slow peer would retain a buffer
        // that is far too large for a few bytes.
        if var spare = self.hot.spares.popLast() {
            self.hot.spareBytes -= spare.capacity
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

    /// Stores a buffer for reuse after it was passed to the transport.
    func giveBack(_ buffer: consuming ByteBuffer) {
        guard buffer.capacity <= self.maximumSpareBytes - self.hot.spareBytes else { return }
        self.hot.spareBytes += buffer.capacity
        self.hot.spares.append(buffer)
    }
}

// MARK: Flushing

extension WebSocketBuffers {
    /// The number of connections that are flushed together after they were read.
    ///
    /// Each flush can wake the process of a local peer. When each connection is flushed
    /// immediately, local peers compete with the server for the processor: an echo server with 50
    /// local peers spends a seventh of its time on this. With a larger number, the data of the
    /// first connections is no longer in the processor's cache.
    private static let answersTogether = 32

    /// Flushes a connection at the end of this turn. Call once per turn and connection. One task
    /// flushes all connections.
    func flushLater(_ handler: WebSocketHandler, on eventLoop: any EventLoop) {
        guard self.waiting.add(handler) == 1 else { return }
        eventLoop.assumeIsolated().execute { self.endTurn(self.waiting) }
    }

    /// Flushes a connection that was read, when ``answersTogether`` connections were read or at the
    /// end of this turn. Call once per turn and connection.
    func flushAfterRead(_ handler: WebSocketHandler, on eventLoop: any EventLoop) {
        switch self.answering.add(handler) {
        case Self.answersTogether: self.answering.flush()
        case 1: eventLoop.assumeIsolated().execute { self.endTurn(self.answering) }
        default: break
        }
    }

    private func endTurn(_ handlers: WebSocketFlushList) {
        self.hot.sharedBuffer = nil
        handlers.flush()
        self.turn.ended()
    }
}

// MARK: Broadcasts

extension WebSocketBuffers {
    /// Returns a shared buffer that contains two frames, and their length.
    ///
    /// Connections that broadcast the same frames in a turn share one buffer.
    func join(_ first: ByteBuffer, _ second: ByteBuffer) -> (sharedBuffer: SharedWriteBuffer, length: Int) {
        if let sharedBuffer = self.hot.sharedBuffer, sharedBuffer.begins(with: first),
            case .shared(let length) = sharedBuffer.append(second, at: first.readableBytes)
        {
            return (sharedBuffer, length)
        }
        let sharedBuffer = SharedWriteBuffer(first, second)
        self.hot.sharedBuffer = sharedBuffer
        return (sharedBuffer, first.readableBytes + second.readableBytes)
    }
}

// MARK: Reading

extension WebSocketBuffers {
    /// Makes the channel read into the event loop's shared receive buffer.
    ///
    /// Without the shared buffer, each channel has its own receive buffer: 2 KiB of the 8.6 KiB of
    /// an idle connection. Call on the event loop, and only if the first inbound handler returns
    /// the buffer with ``giveBackReceived(_:)``.
    ///
    /// - Parameter isNew: Whether the channel has not read yet. A channel retains its first receive
    ///   buffer until it closes. That buffer therefore has a capacity of one byte; the next read
    ///   returns the remaining bytes.
    func receive(on channel: any Channel, isNew: Bool) {
        // One read per turn: the shared buffer is in use until its bytes are handled. The options
        // cannot be set on a closed channel, which reads nothing.
        try? channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try? channel.syncOptions?.setOption(.recvAllocator, value: ReceiveAllocator(buffers: self, isFirst: isNew))
    }

    /// Stores the receive buffer for reuse. No other reference to it may remain.
    func giveBackReceived(_ buffer: consuming ByteBuffer) {
        // Bytes that the HTTP decoder returns after the upgrade are in a smaller buffer.
        if buffer.capacity >= Self.receiveBytes { self.hot.received = buffer }
    }

    /// The maximum number of bytes that a channel reads in one call within a body.
    static let bodyBytes = 64 << 10

    /// Limits the reads of a channel with HTTP requests. Pipelined requests that wait for an
    /// earlier response are stored as objects that are much larger than their bytes.
    ///
    /// - Parameter isWithinBody: Whether at least the next ``bodyBytes`` bytes belong to one body.
    static func receiveRequests(on channel: any Channel, isWithinBody: Bool = false) {
        let allocator =
            isWithinBody
            ? AdaptiveRecvByteBufferAllocator(minimum: 64, initial: Self.bodyBytes, maximum: Self.bodyBytes)
            : AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 16 << 10)
        try? channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try? channel.syncOptions?.setOption(.recvAllocator, value: allocator)
    }

    /// Restores NIO's default read options.
    static func receiveAnything(on channel: any Channel) {
        try? channel.syncOptions?.setOption(.maxMessagesPerRead, value: 4)
        try? channel.syncOptions?.setOption(.recvAllocator, value: AdaptiveRecvByteBufferAllocator())
    }

    /// `@unchecked Sendable`: used by the channel on its event loop only.
    private struct ReceiveAllocator: RecvByteBufferAllocator, @unchecked Sendable {
        let buffers: WebSocketBuffers
        var isFirst: Bool

        func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
            guard !self.isFirst else { return allocator.buffer(capacity: 1) }
            return WebSocketBuffers.take(&self.buffers.hot.received) ?? allocator.buffer(capacity: WebSocketBuffers.receiveBytes)
        }

        /// Returns `nil`, and ``record(actualReadBytes:)`` returns `true`. The channel then
        /// requests a buffer for each read, and retains only the first one.
        func nextBufferSize() -> Int? { nil }

        mutating func record(actualReadBytes: Int) -> Bool {
            self.isFirst = false
            return true
        }
    }
}

@available(*, unavailable)
extension WebSocketBuffers: Sendable {}

/// The connections to flush, each at most once.
///
/// This is a class, because a connection that is being flushed may write again and be added again.
final class WebSocketFlushList {
    /// The maximum capacity that is kept after a flush, in connections.
    private static let maximumSpareHandlers = 4096

    @exclusivity(unchecked) private var hot = Hot()

    private struct Hot {
        var handlers: [WebSocketHandler] = []
        /// An empty array, kept to reuse its storage.
        var spare: [WebSocketHandler] = []
    }

    /// Adds a connection. Returns the number of connections in the list.
    func add(_ handler: WebSocketHandler) -> Int {
        self.hot.handlers.append(handler)
        return self.hot.handlers.count
    }

    func flush() {
        var handlers: [WebSocketHandler] = []
        swap(&handlers, &self.hot.spare)
        swap(&handlers, &self.hot.handlers)
        for handler in handlers { handler.turnEnded() }
        handlers.removeAll(keepingCapacity: handlers.capacity <= Self.maximumSpareHandlers)
        self.hot.spare = handlers
    }
}

@available(*, unavailable)
extension WebSocketFlushList: Sendable {}
