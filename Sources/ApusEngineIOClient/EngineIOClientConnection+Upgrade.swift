import ApusEngineIOProtocol
import Logging
import NIOCore

/// The upgrade of a polling session to another transport.
extension EngineIOClientConnection {
    /// Opens the transport to which the session is to be upgraded.
    func startProbe(of transport: EngineIOTransport, sid: String) {
        self.upgradeTimer = self.schedule(in: self.configuration.timeout) { connection in
            switch connection.session.upgradeDeadlinePassed() {
            case .abandonProbe(let probed):
                let limit = connection.configuration.timeout
                connection.abandonProbe(
                    of: probed, EngineIOError(.timeout, message: "the upgrade was not complete within \(limit) (`timeout`)"))
            case .doNothing: break
            }
        }
        switch transport {
        case .webSocket: self.openWebSocket(sid: sid)
        case .polling: break  // not a transport of `EngineIOTransport.upgrades`
        }
    }

    /// Closes the transport of a failed upgrade. The session resumes on its current transport.
    func abandonProbe(of transport: EngineIOTransport, _ error: EngineIOError) {
        self.logger.debug(
            "Upgrade failed", metadata: ["engineio.transport": "\(transport.rawValue)", "error": "\(error)"])
        self.upgradeTimer?.cancel()
        if self.memory.lastUpgrade?.transport == transport { self.memory.lastUpgrade = nil }
        self.drop(transport)
        if self.session.mayPoll { self.poll() }
        self.flush()
        self.delegate?.engine(self, happened: .upgradeError(error))
    }

    /// Completes an upgrade that was confirmed, unless a polling request is pending. Called after
    /// the confirmation and after each polling request.
    func completeUpgradeIfSilent() {
        guard !self.polling.isGetPending, !self.polling.isPostPending else { return }
        guard case .sendUpgrade(let transport) = self.session.pollingIsSilent() else { return }
        self.logger.debug("Session upgraded", metadata: ["engineio.transport": "\(transport.rawValue)"])
        self.upgradeTimer?.cancel()
        self.memory.lastUpgrade = (transport, self.version)
        switch transport {
        case .webSocket: self.write(.init(packet: .upgrade))
        case .polling: break  // not a transport of `EngineIOTransport.upgrades`
        }
        self.flush()
        self.polling.finish()
        self.delegate?.engine(self, happened: .upgrade)
    }
}
