import ApusWebSocketProtocol
import NIOCore

/// The timer of a connection's heartbeat.
///
/// Confined to the connection's event loop. The connection owns it.
final class WebSocketHeartbeatDriver {
    private var machine: WebSocketHeartbeatStateMachine
    private let startedAt: NIODeadline
    private unowned let connection: WebSocketConnection
    private var timer: Scheduled<Void>?
    /// A message came in this read.
    @exclusivity(unchecked) var hasMessage = false

    init(_ configuration: WebSocketHeartbeat, connection: WebSocketConnection) {
        self.connection = connection
        self.startedAt = connection.eventLoop.now
        self.machine = WebSocketHeartbeatStateMachine(configuration, openedAt: .zero)
        if let delay = self.machine.firstTimer(at: .zero) { self.startTimer(delay) }
    }

    private var now: Duration { Duration(self.connection.eventLoop.now - self.startedAt) }

    private func startTimer(_ delay: Duration) {
        self.timer?.cancel()
        self.timer = self.connection.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in self?.timerFired() }
    }

    private func timerFired() {
        // Who is behind a reader that lags cannot be heard; that is not his silence.
        if self.connection.readingIsPaused { self.machine.received(at: self.now) }
        switch self.machine.timerFired(at: self.now) {
        case .sendPing(let payload, let delay):
            self.connection.handler?.sendPing(payload)
            self.startTimer(delay)
        case .sendText(let text, let delay):
            self.connection.post(.text(text))
            self.startTimer(delay)
        case .wait(let delay):
            self.startTimer(delay)
        case .giveUp(.unanswered):
            self.connection.fail(WebSocketError(.timeout, message: "the peer did not answer the heartbeat in time"))
        case .giveUp(.idle):
            self.connection.fail(WebSocketError(.timeout, message: "the peer was silent for too long"))
        case .doNothing:
            break
        }
    }

    /// All messages of a read were given out.
    func readCompleted() {
        if self.hasMessage {
            self.hasMessage = false
            self.machine.receivedMessage(at: self.now)
        } else {
            self.machine.received(at: self.now)
        }
    }

    /// The round-trip time, when the Pong answers a Ping of the heartbeat.
    func receivedPong(_ payload: ByteBuffer) -> Duration? {
        self.machine.receivedPong(payload, at: self.now)
    }

    func stop() {
        self.machine.stop()
        self.timer?.cancel()
        self.timer = nil
    }
}

@available(*, unavailable)
extension WebSocketHeartbeatDriver: Sendable {}

extension WebSocketConnection {
    /// Asks the peer for signs of life from now on, and ends the connection with ``WebSocketError/Code/timeout`` when there are none.
    public func startHeartbeat(_ heartbeat: WebSocketHeartbeat) {
        self.onLoop { connection in
            guard connection.handler != nil else { return }
            connection.heartbeat?.stop()
            connection.heartbeat = WebSocketHeartbeatDriver(heartbeat, connection: connection)
        }
    }

    /// The way to the peer may be another one now: a ping tells, soon, whether the connection still stands. On the event loop.
    func probe(timeout: Duration = .seconds(10)) {
        guard let number = self.sendPing({ _ in }) else { return }
        self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [weak self] in
            guard let self, self.pings.abandon(number) != nil, !self.readingIsPaused else { return }
            self.fail(WebSocketError(.timeout, message: "the connection did not survive a change of the network"))
        }
    }
}
