import ApusEventLoop
import ApusFramedProtocol
import NIOConcurrencyHelpers
public import NIOCore

/// An open framed connection of a client or a server.
///
/// ```swift
/// try await connection.send(ByteBuffer(string: "hello"), header: ["kind": "greeting"])
/// for try await message in connection.messages {
///     for try await piece in message.body { … }
/// }
/// ```
///
/// The connection stays open until either side closes it, even without a reference to this object.
public final class FramedConnection: Sendable {
    /// The event loop of the connection.
    public let eventLoop: any EventLoop
    /// The address of the peer, if the system reports one.
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

    private struct Confined {
        var handler: FramedHandler?
        var opened: EventLoopPromise<Void>?
        var closeWasRequested = false
        var transfers: FramedTransfers?
        var peerAcceptsFiles = false
        var peerAcceptsWholeFiles = false
    }

    /// The variables that are accessed on the event loop only.
    private let confined: NIOLoopBoundBox<Confined>
    /// The inbox's reference to this object, from ``attach(_:)`` to the end of the connection.
    private let link: OwnerLink<FramedConnection>

    var handler: FramedHandler? { self.confined.value.handler }
    var transfers: FramedTransfers? { self.confined.value.transfers }
    /// Whether the peer accepts file transfers.
    var peerAcceptsFiles: Bool { self.confined.value.peerAcceptsFiles }
    /// Whether the peer accepts small files with their offers.
    var peerAcceptsWholeFiles: Bool { self.confined.value.peerAcceptsWholeFiles }

    /// Creates a connection without a handler. Must be called on the event loop.
    init(on eventLoop: any EventLoop, remoteAddress: SocketAddress?, isClient: Bool, configuration: FramedConnectionConfiguration) {
        self.eventLoop = eventLoop
        self.remoteAddress = remoteAddress
        self.confined = .sending(Confined(), to: eventLoop)
        let link = OwnerLink<FramedConnection>(on: eventLoop)
        self.link = link
        // Runs in a later turn, because the inbox calls this closure from within the handler.
        // `pauseChanged` then reads the current value, which may have changed again.
        self.inbox = FramedInbox(bound: configuration.receivedBytes) { link.inLaterTurn { $0.pauseChanged() } }
        self.confined.value.transfers = FramedTransfers(
            connection: self, receiving: configuration.receiving, settings: configuration.transfers,
            bytesPerSecond: configuration.fileBytesPerSecond, isClient: isClient)
    }

    /// Sets the handler. Call it on the event loop, before the first byte. The future succeeds when
    /// messages can be sent.
    func attach(_ handler: FramedHandler) -> EventLoopFuture<Void> {
        self.eventLoop.assertInEventLoop()
        self.confined.value.handler = handler
        self.link.connect(self)
        let opened = self.eventLoop.makePromise(of: Void.self)
        self.confined.value.opened = opened
        return opened.futureResult
    }

    private func pauseChanged() {
        self.handler?.setReading(paused: self.inbox.isPaused, .inbox)
    }

    // MARK: State

    /// The received messages; see ``FramedMessages``.
    public var messages: FramedMessages { FramedMessages(inbox: self.inbox) }

    /// The reason why the connection closed; `nil` while it is open.
    public var closure: FramedClosure? { self.status.withLockedValue { $0.closure } }

    /// Waits until the connection has closed, and returns how it closed.
    ///
    /// Ignores cancellation. When either side begins to close,
    /// ``FramedConnectionConfiguration/closeTimeout`` limits the rest of the wait.
    public func waitUntilClosed() async -> FramedClosure {
        await withCheckedContinuation { continuation in
            let closure: FramedClosure? = self.status.withLockedValue { status in
                if status.closure == nil { status.waiters.append(continuation) }
                return status.closure
            }
            if let closure { continuation.resume(returning: closure) }
        }
    }

    /// Calls `handler` on the event loop when the connection has closed, or immediately if it
    /// already has.
    public func onClose(_ handler: @escaping @Sendable (FramedClosure) -> Void) {
        let closure: FramedClosure? = self.status.withLockedValue { status in
            if status.closure == nil { status.closeHandlers.append(handler) }
            return status.closure
        }
        if let closure { self.eventLoop.runOnLoop { handler(closure) } }
    }

    // MARK: Closing

    /// Closes the connection gracefully, and waits until it has closed, at most for
    /// ``FramedConnectionConfiguration/closeTimeout``.
    ///
    /// A message that is being sent is completed; waiting messages and file transfers fail with
    /// `FramedError.Code.closed`. Received data that was not read is discarded. On a closed
    /// connection, returns how it closed.
    @discardableResult
    public func close() async -> FramedClosure {
        self.startClosing()
        return await self.waitUntilClosed()
    }

    /// Starts to close without waiting; ``onClose(_:)`` reports the end.
    public func startClosing() {
        self.eventLoop.runOnLoop {
            guard self.handler != nil else { return }
            self.confined.value.closeWasRequested = true
            self.inbox.closed()
            self.closeGracefully()
        }
    }

    /// Closes the connection immediately, without a bye frame.
    public func abort() {
        self.eventLoop.runOnLoop {
            self.confined.value.closeWasRequested = true
            self.handler?.cut()
        }
    }

    /// Fails the connection with `error` and sends the error to the peer. Call it on the event
    /// loop.
    func fail(_ error: FramedError) {
        self.handler?.fail(error)
    }

    private func closeGracefully() {
        self.handler?.startCloseTimer()
        let error = FramedError(.closed, message: "the connection is closing")
        // The bye frame must be the last one: no chunk and no acknowledgement may follow it.
        self.confined.value.transfers.take()?.connectionEnded(because: error)
        self.turns.end(error) {
            self.eventLoop.runOnLoop { self.handler?.sendBye() }
        }
    }

    // MARK: The handler

    func handlerOpened(_ hello: FramedHello?) {
        self.confined.value.peerAcceptsFiles = hello?.capabilities.contains(FramedConnectionConfiguration.filesCapability) ?? false
        self.confined.value.peerAcceptsWholeFiles = hello?.capabilities.contains(WholeFile.capability) ?? false
        self.confined.value.opened.take()?.succeed()
    }

    func handlerReceivedBye() {
        self.inbox.ended(nil)
        self.closeGracefully()
    }

    /// Handles the failure of the session. The transport closes later.
    func handlerFailed(_ error: FramedError) {
        self.inbox.ended(error)
        self.turns.end(error)
        self.confined.value.transfers.take()?.connectionEnded(because: error)
    }

    func handlerReceived(_ part: FramePart<FrameHead>) {
        self.transfers?.receivedPart(part)
    }

    func handlerTicked() {
        self.transfers?.ticked()
    }

    func handlerEnded(_ failure: FramedError?) {
        let closeWasRequested = self.confined.value.closeWasRequested
        let initiator: FramedClosure.Initiator = closeWasRequested ? .ourselves : failure == nil ? .peer : .failure
        let closure = FramedClosure(initiator: initiator, error: closeWasRequested ? nil : failure)
        self.confined.value.handler = nil
        self.link.disconnect()
        let (waiters, handlers) = self.status.withLockedValue { status in
            status.closure = closure
            defer {
                status.waiters = []
                status.closeHandlers = []
            }
            return (status.waiters, status.closeHandlers)
        }
        let error = failure ?? FramedError(.closed, message: "the connection is closed")
        self.confined.value.opened.take()?.fail(
            failure ?? FramedError(.connectionLost, message: "the connection ended before it was ready"))
        self.inbox.ended(closure.error)
        self.turns.end(error)
        self.confined.value.transfers.take()?.connectionEnded(because: error)
        for handler in handlers { handler(closure) }
        for waiter in waiters { waiter.resume(returning: closure) }
    }
}

extension FramedConnection {
    /// Sets the options that the transport supports.
    static func setOptions(of channel: any Channel) {
        if channel.remoteAddress?.protocol != .unix {
            // Send control frames immediately. Keep-alive detects a dead peer in the fixed mode,
            // which has no pings.
            try? channel.syncOptions?.setOption(.socketOption(.tcp_nodelay), value: 1)
            try? channel.syncOptions?.setOption(.socketOption(.so_keepalive), value: 1)
        }
        try? channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 2048, initial: 16 << 10, maximum: 256 << 10))
        try? channel.syncOptions?.setOption(.writeBufferWaterMark, value: .init(low: 64 << 10, high: 512 << 10))
    }
}
