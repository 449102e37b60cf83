package import ApusEventLoop
package import ApusWebSocketProtocol
package import HTTPTypes
package import NIOCore
package import NIOSSL

/// A server that accepts connections with a ``FastUpgradeHandler``.
package protocol FastUpgradeHost: AnyObject {
    /// The limits on the fields of a handshake.
    var handshakeLimits: WebSocketLimits { get }

    /// Accepts a WebSocket request by calling ``FastUpgradeHandler/acceptUpgrade(_:answering:)``,
    /// if all checks pass and none of them suspends.
    ///
    /// - Returns: Whether the request was accepted. If `false`, the HTTP handlers process the
    ///   request.
    func receive(_ request: HTTPRequest, at upgradeHandler: FastUpgradeHandler, on channel: any Channel) -> Bool

    /// Adds the HTTP handlers to the end of a pipeline. `deadline` applies to the first request.
    func addHTTPHandlers(to pipeline: ChannelPipeline.SynchronousOperations, isSecure: Bool, deadline: NIODeadline) throws
}

/// Reads the first bytes of an accepted connection and answers a plain WebSocket request
/// immediately.
///
/// For all other bytes, including a head that is incomplete or unusual, the HTTP handlers replace
/// this handler and receive the unchanged bytes. Adding and removing about seven HTTP handlers is
/// most of the cost of opening a WebSocket with them.
///
/// Confined to the channel's event loop.
package final class FastUpgradeHandler: ChannelInboundHandler, RemovableChannelHandler, EventLoopTimerOwner {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    private let host: any FastUpgradeHost
    private let isSecure: Bool
    private let timers: EventLoopTimers
    private let buffers: WebSocketBuffers
    /// The deadline for the first request. Received bytes do not extend it.
    private let deadline: NIODeadline
    private var timer = EventLoopTimer()
    private var context: ChannelHandlerContext?
    /// The received part of the request head.
    private var head = ByteBuffer()
    /// The usual size of a head from a client that is not a browser, in bytes.
    private static let usualBytes = 512

    /// Sets up the pipeline of an accepted connection with this handler and, if there is a context,
    /// with TLS before it.
    ///
    /// - Parameters:
    ///   - channel: The connection.
    ///   - tls: The TLS context; `nil` for a connection without TLS.
    ///   - host: The server.
    ///   - timers: The timers of the event loop.
    ///   - buffers: The buffers of the event loop, which the WebSocket will share.
    ///   - timeout: The maximum time for the head, including the TLS handshake.
    package static func fill(
        _ channel: any Channel, tls: NIOSSLContext?, for host: any FastUpgradeHost, timers: EventLoopTimers, buffers: WebSocketBuffers,
        timeout: Duration
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
        try pipeline.addHandler(Self(host: host, isSecure: tls != nil, timers: timers, buffers: buffers, timeout: timeout))
    }

    private init(
        host: any FastUpgradeHost, isSecure: Bool, timers: EventLoopTimers, buffers: WebSocketBuffers, timeout: Duration
    ) {
        self.host = host
        self.isSecure = isSecure
        self.timers = timers
        self.buffers = buffers
        self.deadline = timers.now + TimeAmount(timeout)
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // With TLS, this handler is not the first one and cannot return the buffer.
        if !self.isSecure { self.buffers.receive(on: context.channel, isNew: true) }
        self.timers.set(&self.timer, at: self.deadline, for: self, .init(0))
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.timers.cancel(&self.timer)
        self.context = nil
    }

    package func timerFired(_ name: EventLoopTimer.Name) { self.context?.close(promise: nil) }

    // MARK: In

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let read = self.unwrapInboundIn(data)
        self.receivedBytes(read, context)
        if !self.isSecure { self.buffers.giveBackReceived(read) }
    }

    private func receivedBytes(_ read: ByteBuffer, _ context: ChannelHandlerContext) {
        let isFirst = self.head.readableBytes == 0
        if !isFirst { self.head.writeImmutableBuffer(read) }
        let head = isFirst ? read : self.head
        if let request = WebSocketRequestHead.request(in: head, isSecure: self.isSecure, limits: self.host.handshakeLimits) {
            if !self.host.receive(request, at: self, on: context.channel) { self.passOn(head, context) }
        } else if head.readableBytes > WebSocketRequestHead.maximumBytes {
            self.passOn(head, context)
        } else if isFirst {
            // A copy, because the buffer is shared on the event loop.
            self.head.reserveCapacity(Self.usualBytes)
            self.head.writeImmutableBuffer(read)
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        // If a head does not arrive in one read, the client is slow or the bytes are not a
        // WebSocket request: the HTTP handlers take over. Without TLS, the first read always
        // returns one byte (`WebSocketBuffers.receive(on:isNew:)`), so it does not count.
        if self.head.readableBytes > 1 {
            self.passOn(self.head, context, isEndOfRead: true)
        } else {
            context.fireChannelReadComplete()
        }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The server is shutting down, and no complete request was received.
        if event is ChannelShouldQuiesceEvent { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)  // a reset or a TLS failure
    }

    // MARK: Out

    /// Answers the request with 101 and passes the connection to its WebSocket. Call once, from
    /// ``FastUpgradeHost/receive(_:at:on:)``.
    ///
    /// - Parameters:
    ///   - handler: The WebSocket. Messages that it sends during this read are written together
    ///     with the response.
    ///   - fields: The fields of the response, without `Content-Length`.
    package func acceptUpgrade(_ handler: WebSocketHandler, answering fields: HTTPFields) {
        guard let context = self.context else { return handler.transportEnded(cause: nil) }
        self.head = ByteBuffer()
        let pipeline = context.pipeline.syncOperations
        do {
            try pipeline.addHandler(handler, position: .after(self))
        } catch {
            return handler.transportEnded(cause: error)  // the channel is already closed
        }
        pipeline.removeHandler(context: context, promise: nil)
        if !self.isSecure { handler.shareReceiveBuffer() }
        handler.sendHandshakeResponse(fields)
    }

    private func passOn(_ head: ByteBuffer, _ context: ChannelHandlerContext, isEndOfRead: Bool = false) {
        self.head = ByteBuffer()
        let pipeline = context.pipeline.syncOperations
        do {
            try self.host.addHTTPHandlers(to: pipeline, isSecure: self.isSecure, deadline: self.deadline)
        } catch {
            return context.close(promise: nil)
        }
        context.fireChannelRead(self.wrapInboundOut(head))
        if isEndOfRead { context.fireChannelReadComplete() }
        pipeline.removeHandler(context: context, promise: nil)
    }
}

@available(*, unavailable)
extension FastUpgradeHandler: Sendable {}
