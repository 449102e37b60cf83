import ApusConnectivity
import ApusWebSocketProtocol
import NIOCore

/// Watches over one open WebSocket of a server: pings it, and cuts it when it is silent, stalled, or stuck in the header of a frame.
///
/// Nothing is done for a message; a read costs one look. The connection owns it and tells it what happens.
///
/// Confined to the channel's event loop.
final class ServerKeepAlive: EventLoopTimerOwner {
    private static let pingTime = EventLoopTimer.Name(0)
    private static let pongTime = EventLoopTimer.Name(1)
    private static let stallTime = EventLoopTimer.Name(2)
    private static let headerTime = EventLoopTimer.Name(3)

    private let server: WebSocketServer
    private let timers: EventLoopTimers
    private unowned let connection: WebSocketConnection
    /// Until the next Ping, or for its Pong.
    private var pingTimer = EventLoopTimer()
    private var stallTimer = EventLoopTimer()
    private var headerTimer = EventLoopTimer()
    /// Whether bytes came since a Pong was last waited for.
    @exclusivity(unchecked) private var hasRead = false
    /// So often a Pong is still waited for once more, while other bytes come.
    private var patience = 0
    /// What waited for the reader at the last look, and how often it had not got less; `nil` while the transport takes more.
    private var stall: (queued: Int, looks: Int)?
    /// The frame whose header is waited for.
    private var header: Int?

    init(server: WebSocketServer, timers: EventLoopTimers, connection: WebSocketConnection) {
        self.server = server
        self.timers = timers
        self.connection = connection
    }

    /// The connection has begun.
    func start() { self.schedulePing() }

    /// The connection is over.
    func end() {
        self.timers.cancel(&self.pingTimer)
        self.timers.cancel(&self.stallTimer)
        self.timers.cancel(&self.headerTimer)
        self.stall = nil
        self.header = nil
    }

    private func cut(_ message: String) {
        self.end()
        self.connection.fail(WebSocketError(.timeout, message: message))
    }

    func timerFired(_ name: EventLoopTimer.Name) {
        switch name {
        case Self.pingTime: self.ping()
        case Self.pongTime: self.missPong()
        case Self.stallTime: self.lookAtStall()
        default: self.missHeader()
        }
    }

    // MARK: Silence

    private func schedulePing() {
        guard let interval = self.server.configuration.pingInterval else { return }
        self.timers.set(&self.pingTimer, at: self.timers.now + TimeAmount(interval), for: self, Self.pingTime)
    }

    private func ping() {
        guard self.connection.handler?.isOpen == true else { return }
        let number = self.connection.sendPing { [weak self] result in
            // A failure is the connection's end; a success starts the next round.
            guard let self, case .success = result else { return }
            self.timers.cancel(&self.pingTimer)
            self.schedulePing()
        }
        guard number != nil else { return self.schedulePing() }  // so many of the application's wait that one more tells nothing
        self.hasRead = false
        self.awaitPong(patience: Self.fullPatience)
    }

    private static let fullPatience = 3

    private func awaitPong(patience: Int) {
        self.patience = patience
        self.timers.set(&self.pingTimer, at: self.timers.now + TimeAmount(self.server.configuration.pingTimeout), for: self, Self.pongTime)
    }

    private func missPong() {
        if self.connection.readingIsPaused {
            // The Pong may lie in the kernel, because our own handler does not keep up: that is not the peer's silence.
            self.awaitPong(patience: Self.fullPatience)
        } else if self.hasRead, self.patience > 0 {
            // It may stand behind a large message on a slow line.
            self.hasRead = false
            self.awaitPong(patience: self.patience - 1)
        } else {
            self.cut("no Pong within \(self.server.configuration.pingTimeout)")
        }
    }

    // MARK: Stalls

    /// The transport's buffer crossed a watermark.
    func writabilityChanged(isWritable: Bool) {
        if isWritable {
            self.stall = nil
            self.timers.cancel(&self.stallTimer)
        } else if self.stall == nil {
            self.watchStall(queued: self.connection.handler?.queuedBytes ?? 0, looks: 1)
        }
    }

    private static let stallLooks = 4

    private func watchStall(queued: Int, looks: Int) {
        self.stall = (queued, looks)
        self.timers.set(
            &self.stallTimer, at: self.timers.now + TimeAmount(self.server.configuration.stallTimeout / Self.stallLooks), for: self,
            Self.stallTime)
    }

    /// A long queue that gets shorter is only a slow line; a reader is stalled when it did not get shorter at any look.
    private func lookAtStall() {
        guard let stall, let now = self.connection.handler?.queuedBytes else { return }
        if now < stall.queued {
            self.watchStall(queued: now, looks: 1)
        } else if stall.looks < Self.stallLooks {
            self.watchStall(queued: now, looks: stall.looks + 1)
        } else {
            self.cut("too slow a reader: what waits for it did not get less within \(self.server.configuration.stallTimeout)")
        }
    }

    // MARK: Headers of frames

    /// All bytes of a read were given out.
    func readCompleted(isWithinHeader: Bool) {
        self.hasRead = true
        if isWithinHeader, self.header == nil { self.startHeaderTimer() }
    }

    /// A timer that runs is not touched again, so that bytes cost nothing; when it fires, it is asked which frame it was for.
    private func startHeaderTimer() {
        self.header = self.connection.handler?.incompleteFrames
        self.timers.set(
            &self.headerTimer, at: self.timers.now + TimeAmount(self.server.configuration.handshakeTimeout), for: self, Self.headerTime)
    }

    private func missHeader() {
        guard let header = self.header.take(), let handler = self.connection.handler, handler.isWithinFrameHeader else { return }
        if handler.incompleteFrames == header {
            self.cut("the header of a frame took more than \(self.server.configuration.handshakeTimeout)")
        } else {
            self.startHeaderTimer()
        }
    }
}

@available(*, unavailable)
extension ServerKeepAlive: Sendable {}
