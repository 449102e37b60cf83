import NIOCore

extension EngineIOServerSession {
    /// Handles a WebSocket that was opened with this session's id. Returns whether it is accepted
    /// as a probe.
    package mutating func probeOpened() -> Bool {
        guard case .polling(var polling) = self.state, case .none = polling.probe else { return false }
        polling.probe = .opened
        self.state = .polling(polling)
        return true
    }

    package enum ProbeAction: Equatable {
        /// Send `3probe` on the probe. If `noopToHeldPoll`, answer the held poll with a noop.
        case answerProbe(noopToHeldPoll: Bool)
        /// The WebSocket carries the session now. Send `flush` on it, and answer the held poll with
        /// a noop.
        case completeUpgrade(flush: [EngineIOPacket], noopToHeldPoll: Bool)
        /// Close the probe. The session continues on polling.
        case closeProbe
    }

    /// Handles a packet received on the probe.
    package mutating func receivedOnProbe(_ packet: EngineIOPacket) -> ProbeAction {
        switch exchange(&self.state, with: .modifying) {
        case .polling(var polling):
            switch (polling.probe, packet) {
            case (.opened, .ping(let payload)) where payload.readableBytesView.elementsEqual("probe".utf8):
                polling.probe = .probed
                let held = exchange(&polling.pollIsHeld, with: false)
                self.state = .polling(polling)
                return .answerProbe(noopToHeldPoll: held)
            case (.probed, .upgrade):
                self.state = .webSocket
                return .completeUpgrade(flush: Array(polling.queue), noopToHeldPoll: polling.pollIsHeld)
            case (.opened, _), (.probed, _), (.none, _):
                polling.probe = .none
                self.state = .polling(polling)
                return .closeProbe
            }
        case .webSocket:
            self.state = .webSocket
            return .closeProbe
        case .closing(let packets):
            self.state = .closing(packets)
            return .closeProbe
        case .closed, .modifying:
            self.state = .closed
            return .closeProbe
        }
    }

    /// Handles the close or the timeout of the probe before the upgrade was complete.
    package mutating func probeClosed() {
        guard case .polling(var polling) = self.state else { return }
        polling.probe = .none
        self.state = .polling(polling)
    }

    /// Handles the upgrade timer, which ends held polls about every 100 ms after `3probe`, until
    /// the client stops polling.
    ///
    /// - Returns: Whether to answer the held poll with a noop now.
    package mutating func upgradeTimerFired() -> Bool {
        guard case .polling(var polling) = self.state, case .probed = polling.probe, polling.pollIsHeld else { return false }
        polling.pollIsHeld = false
        self.state = .polling(polling)
        return true
    }
}
