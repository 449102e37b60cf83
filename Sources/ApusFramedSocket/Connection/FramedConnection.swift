import ApusFramedProtocol
import NIOConcurrencyHelpers
public import NIOCore

/// An open framed connection, a client's or a server's.
///
/// ```swift
/// try await connection.send(ByteBuffer(string: "hello"), header: ["kind": "greeting"])
/// for try await message in connection.messages {
///     for try await piece in message.body { … }
/// }
/// ```
///
/// It stays open until either side closes it, whether anybody holds this object or not.
public final class FramedConnection: @unchecked Sendable {
    // Unchecked because: the constants are Sendable, and the variables below "event loop" are touched on `eventLoop` only, which `onLoop` and
    // the handler see to.

    /// The loop on which the connection lives.
    public let eventLoop: any EventLoop
    /// The other end of the transport, as far as the system knows it.
    public let remoteAddress: SocketAddress?

    let inbox: FramedInbox
    let turns = SendSerializer()
    private let status = NIOLockedValueBox(Status())

    private struct Status: Sendable {
        var closure: FramedClosure?
        var waiters: [CheckedContinuation<FramedClosure, Never>] = []
        var closeHandlers: [@Sendable (FramedClosure) -> Void] = []
    }

    // MARK: Event loop

    private(set) var handler: FramedHandler?
    private var opened: EventLoopPromise<Void>?
    private var closeWasRequested = false
    private(set) var transfers: FramedTransfers?
    /// Whether the peer said so.
    private(set) var peerTakesFiles = false
    /// Whether it takes small ones with their offers.
    private(set) var peerTakesWholeFiles = false

    init(on eventLoop: any EventLoop, remoteAddress: SocketAddress?, isClient: Bool, configuration: FramedConnectionConfiguration) {
        self.eventLoop = eventLoop
        self.remoteAddress = remoteAddress
        let link = WeakLink()
        // Asks and does not command: the inbox may have filled up again before the loop comes to it.
        self.inbox = FramedInbox(bound: configuration.receivedBytes) { link.onLoop { $0.pauseChanged() } }
        link.connect(self)
        self.transfers = FramedTransfers(
            connection: self, receiving: configuration.receiving, settings: configuration.transfers,
            bytesPerSecond: configuration.fileBytesPerSecond, isClient: isClient)
    }

    /// On the event loop, before the first byte. The future succeeds when messages can be sent.
    func attach(_ handler: FramedHandler) -> EventLoopFuture<Void> {
        self.eventLoop.assertInEventLoop()
        self.handler = handler
        let opened = self.eventLoop.makePromise(of: Void.self)
        self.opened = opened
        return opened.futureResult
    }

    func onLoop(_ body: @escaping @Sendable (FramedConnection) -> Void) {
        if self.eventLoop.inEventLoop { body(self) } else { self.eventLoop.execute { body(self) } }
    }

    private func pauseChanged() {
        self.handler?.setReading(paused: self.inbox.isPaused, .inbox)
    }

    // MARK: State

    /// The messages that come; see ``FramedMessages``.
    public var messages: FramedMessages { FramedMessages(inbox: self.inbox) }

    /// How the connection ended; `nil` while it has not.
    public var closure: FramedClosure? { self.status.withLockedValue { $0.closure } }

    /// Waits for the end of the connection.
    ///
    /// Does not look at cancellation: a deadline or the peer ends it.
    public func waitUntilClosed() async -> FramedClosure {
        await withCheckedContinuation { continuation in
            let closure: FramedClosure? = self.status.withLockedValue { status in
                if status.closure == nil { status.waiters.append(continuation) }
                return status.closure
            }
            if let closure { continuation.resume(returning: closure) }
        }
    }

    /// Calls `handler` on the event loop when the connection has ended, at once when it has already.
    public func onClose(_ handler: @escaping @Sendable (FramedClosure) -> Void) {
        let closure: FramedClosure? = self.status.withLockedValue { status in
            if status.closure == nil { status.closeHandlers.append(handler) }
            return status.closure
        }
        if let closure { self.onLoop { _ in handler(closure) } }
    }

    // MARK: Closing

    /// Closes in order and waits for the end, at most ``FramedConnectionConfiguration/closeTimeout``.
    ///
    /// A message that is being sent goes out first; those that wait for their turn fail with ``FramedError/Code/closed``. What was received and
    /// not read is thrown away. A connection that is closed already answers how it ended.
    @discardableResult
    public func close() async -> FramedClosure {
        self.startClosing()
        return await self.waitUntilClosed()
    }

    /// Starts to close without waiting for the end; ``onClose(_:)`` tells of it.
    public func startClosing() {
        self.onLoop { connection in
            guard connection.handler != nil else { return }
            connection.closeWasRequested = true
            connection.inbox.closed()
            connection.leave()
        }
    }

    /// Ends the connection at once, without a goodbye.
    public func abort() {
        self.onLoop { connection in
            connection.closeWasRequested = true
            connection.handler?.cut()
        }
    }

    /// Ends the connection because of `error`, of which the peer hears. On the event loop.
    func fail(_ error: FramedError) {
        self.handler?.fail(error)
    }

    private func leave() {
        self.handler?.startCloseTimer()
        let error = FramedError(.closed, message: "the connection is closing")
        // A goodbye is the last frame: no chunk and no acknowledgement may follow it.
        self.transfers.take()?.connectionEnded(because: error)
        self.turns.end(error) {
            self.onLoop { $0.handler?.sayBye() }
        }
    }

    // MARK: The handler

    func handlerOpened(_ hello: FramedHello?) {
        self.peerTakesFiles = hello?.capabilities.contains(FramedConnectionConfiguration.filesCapability) ?? false
        self.peerTakesWholeFiles = hello?.capabilities.contains(WholeFile.capability) ?? false
        self.opened.take()?.succeed()
    }

    func handlerReceivedBye() {
        self.inbox.ended(nil)
        self.leave()
    }

    /// The session has failed; the transport goes a little later.
    func handlerFailed(_ error: FramedError) {
        self.inbox.ended(error)
        self.turns.end(error)
        self.transfers.take()?.connectionEnded(because: error)
    }

    func handlerReceived(_ part: FramePart<FrameHead>) {
        self.transfers?.received(part)
    }

    func handlerTicked() {
        self.transfers?.ticked()
    }

    func handlerEnded(_ failure: FramedError?) {
        let initiator: FramedClosure.Initiator = self.closeWasRequested ? .ourselves : failure == nil ? .peer : .failure
        let closure = FramedClosure(initiator: initiator, error: self.closeWasRequested ? nil : failure)
        self.handler = nil
        let (waiters, handlers) = self.status.withLockedValue { status in
            status.closure = closure
            defer {
                status.waiters = []
                status.closeHandlers = []
            }
            return (status.waiters, status.closeHandlers)
        }
        let error = failure ?? FramedError(.closed, message: "the connection is closed")
        self.opened.take()?.fail(failure ?? FramedError(.connectionLost, message: "the connection ended before it was ready"))
        self.inbox.ended(closure.error)
        self.turns.end(error)
        self.transfers.take()?.connectionEnded(because: error)
        for handler in handlers { handler(closure) }
        for waiter in waiters { waiter.resume(returning: closure) }
    }
}

/// Lets the inbox reach the connection that owns it without keeping it.
private final class WeakLink: Sendable {
    private struct Target: Sendable { weak var connection: FramedConnection? }
    private let target = NIOLockedValueBox(Target())

    func connect(_ connection: FramedConnection) {
        self.target.withLockedValue { $0.connection = connection }
    }

    /// Always at a later turn: the inbox calls from within the handler's own work.
    func onLoop(_ body: @escaping @Sendable (FramedConnection) -> Void) {
        guard let connection = self.target.withLockedValue({ $0.connection }) else { return }
        connection.eventLoop.execute { body(connection) }
    }
}

extension FramedConnection {
    /// Options of the transport, for what it has of them.
    static func setOptions(of channel: any Channel) {
        if channel.remoteAddress?.protocol != .unix {
            // A control frame goes out at once, and a peer that has gone without a word is found in the fixed mode as well.
            try? channel.syncOptions?.setOption(.socketOption(.tcp_nodelay), value: 1)
            try? channel.syncOptions?.setOption(.socketOption(.so_keepalive), value: 1)
        }
        try? channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 2048, initial: 16 << 10, maximum: 256 << 10))
        try? channel.syncOptions?.setOption(.writeBufferWaterMark, value: .init(low: 64 << 10, high: 512 << 10))
    }
}
