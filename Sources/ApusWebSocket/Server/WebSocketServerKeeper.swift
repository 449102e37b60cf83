import ApusWebSocketProtocol
import NIOCore

/// Watches over one open WebSocket of a server: pings it, and cuts it when it is silent, stalled, or stuck in the header of a frame.
///
/// Stands behind the ``WebSocketHandler``. Nothing is done for a message; a read costs one look.
///
/// Confined to the channel's event loop.
final class WebSocketServerKeeper: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Never

    private let configuration: WebSocketServerConfiguration
    private let handler: WebSocketHandler
    private weak var connection: WebSocketConnection?
    private var pingTimer: Scheduled<Void>?
    private var stallTimer: Scheduled<Void>?
    private var headerTimer: Scheduled<Void>?
    /// Whether bytes came since a Pong was last waited for.
    private var hasRead = false

    init(configuration: WebSocketServerConfiguration, handler: WebSocketHandler, connection: WebSocketConnection) {
        self.configuration = configuration
        self.handler = handler
        self.connection = connection
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.schedulePing(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.end()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.end()
        context.fireChannelInactive()
    }

    private func end() {
        for timer in [self.pingTimer, self.stallTimer, self.headerTimer] { timer?.cancel() }
        self.pingTimer = nil
        self.stallTimer = nil
        self.headerTimer = nil
    }

    private func schedule(in time: Duration, _ context: ChannelHandlerContext, _ body: @escaping () -> Void) -> Scheduled<Void> {
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time), body)
    }

    private func cut(_ message: String) {
        self.end()
        self.connection?.fail(WebSocketError(.timeout, message: message))
    }

    // MARK: Silence

    private func schedulePing(_ context: ChannelHandlerContext) {
        guard let interval = self.configuration.pingInterval else { return }
        self.pingTimer = self.schedule(in: interval, context) { self.ping(context) }
    }

    private func ping(_ context: ChannelHandlerContext) {
        guard let connection = self.connection, self.handler.isOpen else { return }
        let number = connection.sendPing { [weak self] result in
            // A failure is the connection's end; a success starts the next round.
            guard let self, case .success = result else { return }
            self.pingTimer?.cancel()
            self.schedulePing(context)
        }
        guard number != nil else { return self.schedulePing(context) }  // so many of the application's wait that one more tells nothing
        self.hasRead = false
        self.awaitPong(context, patience: Self.patience)
    }

    /// So often a Pong is waited for once more, while other bytes come.
    private static let patience = 3

    private func awaitPong(_ context: ChannelHandlerContext, patience: Int) {
        let timeout = self.configuration.pingTimeout
        self.pingTimer = self.schedule(in: timeout, context) {
            if self.connection?.readingIsPaused == true {
                // The Pong may lie in the kernel, because our own handler does not keep up: that is not the peer's silence.
                self.awaitPong(context, patience: Self.patience)
            } else if self.hasRead, patience > 0 {
                // It may stand behind a large message on a slow line.
                self.hasRead = false
                self.awaitPong(context, patience: patience - 1)
            } else {
                self.cut("no Pong within \(timeout)")
            }
        }
    }

    // MARK: Stalls

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            self.stallTimer?.cancel()
            self.stallTimer = nil
        } else if self.stallTimer == nil {
            self.watchStall(context, queued: self.handler.queuedBytes, looks: 1)
        }
        context.fireChannelWritabilityChanged()
    }

    /// A long queue that gets shorter is only a slow line; a reader is stalled when it did not get shorter at any look.
    private func watchStall(_ context: ChannelHandlerContext, queued: Int, looks: Int) {
        let timeout = self.configuration.stallTimeout
        self.stallTimer = self.schedule(in: timeout / Self.stallLooks, context) {
            let now = self.handler.queuedBytes
            if now < queued {
                self.watchStall(context, queued: now, looks: 1)
            } else if looks < Self.stallLooks {
                self.watchStall(context, queued: now, looks: looks + 1)
            } else {
                self.cut("too slow a reader: what waits for it did not get less within \(timeout)")
            }
        }
    }

    private static let stallLooks = 4

    // MARK: Headers of frames

    func channelReadComplete(context: ChannelHandlerContext) {
        self.hasRead = true
        if self.handler.isWithinFrameHeader, self.headerTimer == nil { self.startHeaderTimer(context) }
        context.fireChannelReadComplete()
    }

    /// A timer that runs is not touched again, so that bytes cost nothing; when it fires, it is asked which frame it was for.
    private func startHeaderTimer(_ context: ChannelHandlerContext) {
        let timeout = self.configuration.handshakeTimeout
        let frame = self.handler.incompleteFrames
        self.headerTimer = self.schedule(in: timeout, context) {
            self.headerTimer = nil
            guard self.handler.isWithinFrameHeader else { return }
            if self.handler.incompleteFrames == frame {
                self.cut("the header of a frame took more than \(timeout)")
            } else {
                self.startHeaderTimer(context)
            }
        }
    }
}

@available(*, unavailable)
extension WebSocketServerKeeper: Sendable {}
