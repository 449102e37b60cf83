import ApusEngineIOProtocol
import ApusEventLoop
import ApusWebSocketProtocol
import NIOCore

// The upgrade of a polling session to a WebSocket.
extension EngineIOSession {
    /// Handles a WebSocket that was opened with this session's id.
    func probeOpened(_ webSocket: EngineIOWebSocketTransport) {
        self.eventLoop.assertInEventLoop()
        guard self.server.configuration.allowsUpgrades, let polling, self.hot.machine.probeOpened() else {
            return webSocket.close(.normalClosure)
        }
        self.hot.webSocket = webSocket
        self.timers.set(
            &polling.upgradeDeadline, at: self.timers.now + TimeAmount(self.server.configuration.upgradeTimeout), for: self,
            Self.upgradeDeadlineName)
    }

    func perform(_ action: EngineIOServerSession.ProbeAction, _ webSocket: EngineIOWebSocketTransport) {
        switch action {
        case .answerProbe(let noopToHeldPoll):
            self.write(.probePong, to: webSocket)
            if noopToHeldPoll { self.answerHeldPoll([.noop]) }
            // Repeated: a client may poll once more before it pauses, and waits for the response to
            // that poll.
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

    func endProbe(close webSocket: EngineIOWebSocketTransport?) {
        self.cancelUpgradeTimers()
        self.hot.machine.probeClosed()
        self.hot.webSocket = nil
        webSocket?.close(.normalClosure)
    }

    private func startUpgradeTimer() {
        guard let polling else { return }
        self.timers.set(&polling.upgradeTimer, at: self.timers.now + .milliseconds(100), for: self, Self.upgradeName)
    }

    func upgradeTimerFired() {
        if self.hot.machine.upgradeTimerFired() { self.answerHeldPoll([.noop]) }
        self.startUpgradeTimer()
    }

    func upgradeDeadlinePassed() { self.endProbe(close: self.hot.webSocket) }

    func cancelUpgradeTimers() {
        guard let polling else { return }
        self.timers.cancel(&polling.upgradeTimer)
        self.timers.cancel(&polling.upgradeDeadline)
    }
}
