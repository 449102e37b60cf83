import ApusEventLoop
public import ApusWebSocketProtocol
import NIOCore

/// The timer of a connection's heartbeat. Owned by the connection and confined to its event loop.
final class WebSocketHeartbeatDriver {
    private var machine: WebSocketHeartbeatStateMachine
    private let startedAt: NIODeadline
    private unowned let connection: WebSocketConnection
    private var timer: Scheduled<Void>?
    /// Whether the current read contained a message. Unchecked, because each message sets it in a
    /// single statement.
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
        // While reading is paused, missing bytes do not indicate a dead peer.
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
            let timeout = self.machine.configuration.answerTimeout ?? .zero
            self.connection.fail(
                WebSocketError(.timeout, message: "the peer did not answer the heartbeat within \(timeout) (`answerTimeout`)"))
        case .giveUp(.idle):
            let timeout = self.machine.configuration.idleTimeout ?? .zero
            self.connection.fail(WebSocketError(.timeout, message: "the peer sent nothing for \(timeout) (`idleTimeout`)"))
        case .doNothing:
            break
        }
    }

    /// Updates the heartbeat after all messages of a read were delivered.
    func readCompleted() {
        if self.hasMessage {
            self.hasMessage = false
            self.machine.receivedMessage(at: self.now)
        } else {
            self.machine.received(at: self.now)
        }
    }

    /// Returns the round-trip time if the Pong answers a Ping of the heartbeat.
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
    /// Starts a heartbeat, which ends the connection with `WebSocketError.Code.timeout` when the
    /// peer does not respond. Replaces an earlier heartbeat.
    public func startHeartbeat(_ heartbeat: WebSocketHeartbeat) {
        self.eventLoop.runOnLoop {
            guard self.handler != nil else { return }
            self.hot.heartbeat?.stop()
            self.hot.heartbeat = WebSocketHeartbeatDriver(heartbeat, connection: self)
        }
    }

    /// Sends a ping after a network change, and ends the connection if no Pong arrives. Must be
    /// called on the event loop.
    func probe(timeout: Duration = .seconds(10)) {
        guard let number = self.sendPing({ _ in }) else { return }
        self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [weak self] in
            guard let self, self.pings.abandon(number) != nil, !self.readingIsPaused else { return }
            self.fail(WebSocketError(.timeout, message: "the peer did not answer the Ping within \(timeout) after a network change"))
        }
    }
}
