import ApusConnectivity
import ApusEventLoop
import ApusWebSocketProtocol
import NIOCore

/// The keep-alive of one open WebSocket of a server.
///
/// It sends Pings, and aborts the connection when the peer is silent, stalled, or too slow within a
/// frame header. It costs nothing per message and one check per read. The connection owns it.
/// Confined to the channel's event loop.
final class ServerKeepAlive: EventLoopTimerOwner {
    private static let pingTime = EventLoopTimer.Name(0)
    private static let pongTime = EventLoopTimer.Name(1)
    private static let stallTime = EventLoopTimer.Name(2)
    private static let headerTime = EventLoopTimer.Name(3)

    private let server: WebSocketServer
    private let timers: EventLoopTimers
    private unowned let connection: WebSocketConnection
    /// The timer until the next Ping, or for the Pong of the last one.
    private var pingTimer = EventLoopTimer()
    private var stallTimer = EventLoopTimer()
    private var headerTimer = EventLoopTimer()
    /// Whether bytes arrived since the wait for the Pong began or was last extended. Unchecked,
    /// because each read sets it in a single statement.
    @exclusivity(unchecked) private var hasRead = false
    /// The remaining number of times that the wait for the Pong is extended while other bytes
    /// arrive.
    private var remainingExtensions = 0
    /// The number of queued bytes at the last check, and the number of checks since it decreased;
    /// `nil` while the transport is writable.
    private var stall: (queued: Int, checks: Int)?
    /// The number of the frame whose header is incomplete; `nil` if no header is incomplete.
    private var header: Int?

    init(server: WebSocketServer, timers: EventLoopTimers, connection: WebSocketConnection) {
        self.server = server
        self.timers = timers
        self.connection = connection
    }

    /// Starts the keep-alive of an opened connection.
    func start() { self.schedulePing() }

    /// Ends the keep-alive of a closed connection.
    func end() {
        self.timers.cancel(&self.pingTimer)
        self.timers.cancel(&self.stallTimer)
        self.timers.cancel(&self.headerTimer)
        self.stall = nil
        self.header = nil
    }

    private func abort(_ message: String) {
        self.end()
        self.connection.fail(WebSocketError(.timeout, message: message))
    }

    func timerFired(_ name: EventLoopTimer.Name) {
        switch name {
        case Self.pingTime: self.ping()
        case Self.pongTime: self.pongTimedOut()
        case Self.stallTime: self.checkStall()
        default: self.headerTimedOut()
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
            // After a failure, the connection has ended.
            guard let self, case .success = result else { return }
            self.timers.cancel(&self.pingTimer)
            self.schedulePing()
        }
        guard number != nil else { return self.schedulePing() }  // the maximum number of the application's pings is pending
        self.hasRead = false
        self.awaitPong(extensions: Self.maximumExtensions)
    }

    private static let maximumExtensions = 3

    private func awaitPong(extensions: Int) {
        self.remainingExtensions = extensions
        self.timers.set(&self.pingTimer, at: self.timers.now + TimeAmount(self.server.configuration.pingTimeout), for: self, Self.pongTime)
    }

    private func pongTimedOut() {
        if self.connection.readingIsPaused {
            // The Pong may not have been read yet, because the application's handler is too slow.
            self.awaitPong(extensions: Self.maximumExtensions)
        } else if self.hasRead, self.remainingExtensions > 0 {
            // On a slow link, the Pong may follow a large message.
            self.hasRead = false
            self.awaitPong(extensions: self.remainingExtensions - 1)
        } else {
            self.abort("the client did not answer a Ping within \(self.server.configuration.pingTimeout) (`pingTimeout`)")
        }
    }

    // MARK: Stalls

    /// Starts or stops the stall detection when the transport's buffer crosses a watermark.
    func writabilityChanged(isWritable: Bool) {
        if isWritable {
            self.stall = nil
            self.timers.cancel(&self.stallTimer)
        } else if self.stall == nil {
            self.watchStall(queued: self.connection.handler?.queuedBytes ?? 0, checks: 1)
        }
    }

    private static let stallChecks = 4

    private func watchStall(queued: Int, checks: Int) {
        self.stall = (queued, checks)
        self.timers.set(
            &self.stallTimer, at: self.timers.now + TimeAmount(self.server.configuration.stallTimeout / Self.stallChecks), for: self,
            Self.stallTime)
    }

    /// Checks the length of the queue. If the queue shrinks, the link is slow. If it does not
    /// shrink within `stallTimeout`, the peer has stalled.
    private func checkStall() {
        guard let stall, let now = self.connection.handler?.queuedBytes else { return }
        if now < stall.queued {
            self.watchStall(queued: now, checks: 1)
        } else if stall.checks < Self.stallChecks {
            self.watchStall(queued: now, checks: stall.checks + 1)
        } else {
            self.abort("the bytes queued for the peer did not decrease within \(self.server.configuration.stallTimeout) (`stallTimeout`)")
        }
    }

    // MARK: Frame headers

    /// Updates the timers after all messages of a read were delivered.
    func readCompleted(isWithinHeader: Bool) {
        self.hasRead = true
        if isWithinHeader, self.header == nil { self.startHeaderTimer() }
    }

    /// Starts the header timer. Received bytes do not restart a running timer, which would cost
    /// time for each read. When the timer fires, it compares the number of the frame.
    private func startHeaderTimer() {
        self.header = self.connection.handler?.incompleteFrames
        self.timers.set(
            &self.headerTimer, at: self.timers.now + TimeAmount(self.server.configuration.handshakeTimeout), for: self, Self.headerTime)
    }

    private func headerTimedOut() {
        guard let header = self.header.take(), let handler = self.connection.handler, handler.isWithinFrameHeader else { return }
        if handler.incompleteFrames == header {
            self.abort("a frame header was incomplete after \(self.server.configuration.handshakeTimeout) (`handshakeTimeout`)")
        } else {
            self.startHeaderTimer()
        }
    }
}

@available(*, unavailable)
extension ServerKeepAlive: Sendable {}
