import ApusEngineIOProtocol
import Logging
import NIOCore

/// The upgrade of a polling session to another transport.
extension EngineIOClientConnection {
    /// Opens the transport to which the session is to be upgraded.
    func startProbe(of transport: EngineIOTransport, sid: String) {
        switch transport {
        case .webSocket: self.openWebSocket(sid: sid)
        case .polling: return  // not a transport of `EngineIOTransport.upgrades`
        }
        self.probeTimer = self.schedule(in: self.configuration.timeout) { connection in
            guard connection.session.isProbing else { return }
            connection.failed(
                transport,
                EngineIOError(.timeout, message: "the upgrade was not complete within \(connection.configuration.timeout) (`timeout`)"))
        }
    }

    /// Closes the transport of an upgrade that failed.
    func dropProbe(_ transport: EngineIOTransport) {
        self.probeTimer?.cancel()
        self.drop(transport)
    }

    /// Completes an upgrade that was confirmed, unless a polling request is pending. Called after
    /// the confirmation and after each polling request.
    func completeUpgradeIfSilent() {
        guard !self.polling.isGetPending, !self.polling.isPostPending else { return }
        guard case .sendUpgrade(let transport) = self.session.pollingIsSilent() else { return }
        self.logger.debug("Session upgraded", metadata: ["engineio.transport": "\(transport.rawValue)"])
        self.probeTimer?.cancel()
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
