package import ApusConnectivity
package import ApusWebSocketProtocol
package import HTTPTypes
package import NIOCore
package import NIOSSL

/// A server that takes its connections in through a ``FastUpgradeHandler``.
package protocol FastUpgradeHost: AnyObject {
    /// How many and how large the fields of a handshake may be.
    var handshakeLimits: WebSocketLimits { get }

    /// Agrees to a request for a WebSocket, if there is nothing to say against it and nobody to ask: calls ``FastUpgradeHandler/welcome(_:answering:)``.
    ///
    /// - Returns: `false`: nothing has happened; the handlers of HTTP are to judge, and to answer.
    func receive(_ request: HTTPRequest, at upgradeHandler: FastUpgradeHandler, on channel: any Channel) -> Bool

    /// Puts the handlers of HTTP at the end of a pipeline. The peer has until `deadline` for the first request.
    func addHTTPHandlers(to pipeline: ChannelPipeline.SynchronousOperations, isSecure: Bool, deadline: NIODeadline) throws
}

/// Stands in the pipeline of an accepted connection until its first bytes are there. A plain request for a WebSocket is answered at once; for
/// everything else, and everything doubtful, the handlers of HTTP are put in its place, and get the bytes as they came.
///
/// Putting in and taking out those handlers, some seven of them, is most of what it costs to open a WebSocket through them.
///
/// Confined to the channel's event loop.
package final class FastUpgradeHandler: ChannelInboundHandler, RemovableChannelHandler, EventLoopTimerOwner {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    private let host: any FastUpgradeHost
    private let isSecure: Bool
    private let timers: EventLoopTimers
    private let buffers: WebSocketBuffers
    /// When the connection is given up. No byte of the peer prolongs it.
    private let deadline: NIODeadline
    private var timer = EventLoopTimer()
    private var context: ChannelHandlerContext?
    /// Of the head, what has come.
    private var head = ByteBuffer()
    /// As much as the head of a program is.
    private static let usualBytes = 512

    /// Fills the pipeline of an accepted connection: with one of these, behind TLS where there is a context for it.
    ///
    /// - Parameters:
    ///   - channel: The connection.
    ///   - tls: The TLS context; `nil` for a connection in the clear.
    ///   - host: The server.
    ///   - timers: The event loop's.
    ///   - buffers: The event loop's, which the WebSocket will share.
    ///   - timeout: How long the head may take, the handshake of TLS included.
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
        // Only where this handler sees first what was read, can it give the buffer back.
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
        self.received(read, context)
        if !self.isSecure { self.buffers.giveBackReceived(read) }
    }

    private func received(_ read: ByteBuffer, _ context: ChannelHandlerContext) {
        let isFirst = self.head.readableBytes == 0
        if !isFirst { self.head.writeImmutableBuffer(read) }
        let head = isFirst ? read : self.head
        if let request = WebSocketRequestHead.request(in: head, isSecure: self.isSecure, limits: self.host.handshakeLimits) {
            if !self.host.receive(request, at: self, on: context.channel) { self.passOn(head, context) }
        } else if head.readableBytes > WebSocketRequestHead.maximumBytes {
            self.passOn(head, context)
        } else if isFirst {
            // A copy: the buffer is the event loop's.
            self.head.reserveCapacity(Self.usualBytes)
            self.head.writeImmutableBuffer(read)
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        // What is not whole by now is slow, or no such request. A first read in the clear is a byte, whoever sends.
        if self.head.readableBytes > 1 {
            self.passOn(self.head, context, isEndOfRead: true)
        } else {
            context.fireChannelReadComplete()
        }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)  // a reset, a TLS failure: nothing to say to this peer
    }

    // MARK: Out

    /// Answers the request with 101, and leaves the connection to its WebSocket. From within ``FastUpgradeHost/receive(_:at:on:)``, once.
    ///
    /// - Parameters:
    ///   - handler: The WebSocket. What it sends in this read leaves in one write with the answer.
    ///   - fields: The fields of the answer, without a length.
    package func acceptUpgrade(_ handler: WebSocketHandler, answering fields: HTTPFields) {
        guard let context = self.context else { return handler.transportEnded(cause: nil) }
        self.head = ByteBuffer()
        let pipeline = context.pipeline.syncOperations
        do {
            try pipeline.addHandler(handler, position: .after(self))
        } catch {
            return handler.transportEnded(cause: error)  // the channel is gone already
        }
        pipeline.removeHandler(context: context, promise: nil)
        if !self.isSecure { handler.shareReceiveBuffer() }
        handler.sendHandshakeAnswer(fields)
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
