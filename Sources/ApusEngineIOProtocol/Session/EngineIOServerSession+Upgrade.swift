import NIOCore

extension EngineIOServerSession {
    /// A WebSocket with this session's id was opened. Answers whether it may stay.
    package mutating func probeOpened() -> Bool {
        guard case .polling(var polling) = self.state, case .none = polling.probe else { return false }
        polling.probe = .opened
        self.state = .polling(polling)
        return true
    }

    package enum ProbeAction: Equatable {
        /// Send `3probe` on the probe; answer the held poll with a noop when there is one.
        case answerProbe(noopToHeldPoll: Bool)
        /// The WebSocket carries the session from here on: send these first, and release the held poll with a noop.
        case completeUpgrade(flush: [EngineIOPacket], noopToHeldPoll: Bool)
        /// Close the probe; the session goes on by polling.
        case closeProbe
    }

    /// A packet arrived on the probe.
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
        case .farewell(let packets):
            self.state = .farewell(packets)
            return .closeProbe
        case .closed, .modifying:
            self.state = .closed
            return .closeProbe
        }
    }

    /// The probe closed, or its time was up, before the upgrade was complete.
    package mutating func probeClosed() {
        guard case .polling(var polling) = self.state else { return }
        polling.probe = .none
        self.state = .polling(polling)
    }

    /// While a probe is answered, polls get a noop about every 100 ms, until the client stops polling.
    ///
    /// Answers whether the held poll is to be answered with a noop now.
    package mutating func upgradeTimerFired() -> Bool {
        guard case .polling(var polling) = self.state, case .probed = polling.probe, polling.pollIsHeld else { return false }
        polling.pollIsHeld = false
        self.state = .polling(polling)
        return true
    }
}
