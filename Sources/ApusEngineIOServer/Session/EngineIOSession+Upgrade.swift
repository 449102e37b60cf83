import ApusEngineIOProtocol
import ApusEventLoop
import ApusWebSocketProtocol
import NIOCore

// The upgrade of a polling session to a WebSocket.
extension EngineIOSession {
    /// Handles a WebSocket that was opened with this session's id.
    func probeOpened(_ webSocket: EngineIOWebSocketTransport) {
        self.eventLoop.assertInEventLoop()
        guard self.server.configuration.allowsUpgrades, self.hot.machine.probeOpened() else {
            return webSocket.close(.normalClosure)
        }
        self.hot.webSocket = webSocket
        let upgradeTimers = EngineIOUpgradeTimers()
        self.upgradeTimers = upgradeTimers
        self.timers.set(
            &upgradeTimers.deadline, at: self.timers.now + TimeAmount(self.server.configuration.upgradeTimeout), for: self,
            Self.upgradeDeadlineName)
    }

    func perform(_ action: EngineIOServerSession.ProbeAction, _ webSocket: EngineIOWebSocketTransport) {
        switch action {
        case .answerProbe(let noopToHeldPoll):
            self.write(.probePong, to: webSocket)
            if noopToHeldPoll { self.answerHeldPoll([.noop]) }
            // The timer repeats: a client may poll once more before it pauses, and waits for the
            // response to that poll.
            self.startUpgradeTimer()
        case .completeUpgrade(let packets, let noopToHeldPoll):
            self.cancelUpgradeTimers()
            if noopToHeldPoll { self.answerHeldPoll([.noop]) }
            for packet in packets { self.write(packet, to: webSocket) }
            self.queueChanged()
            self.hot.delegate?.sessionUpgraded(self)
            self.notifyIfDrained()
        case .completeClosing(let packets):
            for packet in packets { self.write(packet, to: webSocket) }
            self.forgetIfDrained()
        case .closeProbe: self.endProbe(close: webSocket)
        }
    }

    /// Releases the probe, which the state machine has abandoned.
    func endProbe(close webSocket: EngineIOWebSocketTransport?) {
        self.cancelUpgradeTimers()
        self.hot.webSocket = nil
        webSocket?.close(.normalClosure)
    }

    private func startUpgradeTimer() {
        guard let upgradeTimers else { return }
        self.timers.set(&upgradeTimers.noop, at: self.timers.now + .milliseconds(100), for: self, Self.upgradeName)
    }

    func upgradeTimerFired() {
        switch self.hot.machine.upgradeTimerFired() {
        case .restart(let noopToHeldPoll):
            if noopToHeldPoll { self.answerHeldPoll([.noop]) }
            self.startUpgradeTimer()
        case .doNothing: break
        }
    }

    func upgradeDeadlinePassed() {
        switch self.hot.machine.upgradeDeadlinePassed() {
        case .closeProbe: self.endProbe(close: self.hot.webSocket)
        case .doNothing: break
        }
    }

    func cancelUpgradeTimers() {
        guard let upgradeTimers = self.upgradeTimers.take() else { return }
        self.timers.cancel(&upgradeTimers.noop)
        self.timers.cancel(&upgradeTimers.deadline)
    }
}

/// The timers of an upgrade. A session has them only while a transport is being probed. Confined to
/// the event loop of the session.
final class EngineIOUpgradeTimers {
    /// The timer that ends held polls after the answer to the probe.
    var noop = EventLoopTimer()
    /// The deadline of the upgrade.
    var deadline = EventLoopTimer()
}

@available(*, unavailable)
extension EngineIOUpgradeTimers: Sendable {}
