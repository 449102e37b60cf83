package import ApusEngineIOProtocol
import ApusWebSocket
import Logging
import NIOCore

/// The end of a session: ours with a goodbye, the server's, or a transport's.
extension EngineIOClientConnection {
    /// Ends the session in order: what waits is sent first, as far as the transport takes it.
    ///
    /// - Parameters:
    ///   - error: What the delegate is told.
    ///   - departed: Called once, when all of it has left and the connection is closed, or cannot leave any more.
    package func close(
        _ error: EngineIOError = EngineIOError(.closed, message: "closed by this side"), departed: (() -> Void)? = nil
    ) {
        self.eventLoop.preconditionInEventLoop()
        if let departed { self.waitsForDeparture.append(departed) }
        let channel = self.webSocket?.channel
        switch self.session.close() {
        case .sendClose(let carrier):
            self.outbox.appendControl(.close)
            self.isSayingGoodbye = true
            switch carrier {
            case .polling: self.post()
            case .webSocket: while let item = self.outbox.popFirst() { self.write(item) }
            }
            self.end(error)
        case .abort: self.end(error)
        case .doNothing: break
        }
        // Over polling the end of the last POST tells.
        if !self.isSayingGoodbye || !self.polling.postIsOut { self.tellDeparture(after: channel?.closeFuture) }
    }

    func tellDeparture(after closing: EventLoopFuture<Void>?) {
        let waiting = self.waitsForDeparture
        self.waitsForDeparture = []
        guard let closing, !waiting.isEmpty else { return waiting.forEach { $0() } }
        closing.assumeIsolated().whenComplete { _ in waiting.forEach { $0() } }
    }

    /// A transport failed, or was closed by the server.
    func failed(_ carrier: EngineIOClientSession.Carrier, _ error: EngineIOError) {
        if carrier == .webSocket, self.handshake == nil || self.session.isProbing { self.memory.webSocketVersion = nil }
        if self.handshake == nil { self.memory.recognizedVersion = nil }  // another server may answer there now
        guard !self.triesOlderVersion(after: error), !self.triesNextTransport(after: error) else { return }
        switch self.session.failed(carrier, error) {
        case .close(let error): self.end(error)
        case .resumePolling:
            self.logger.debug("Upgrade failed, staying on polling", metadata: ["error": "\(error)"])
            self.dropWebSocket()
            self.poll()
            self.flush()
            self.delegate?.engine(self, happened: .upgradeError(error))
        case .doNothing: break
        }
    }

    /// Ends the session for this reason, if it is not over.
    func finish(_ error: EngineIOError) {
        switch self.session.close() {
        case .sendClose, .abort: self.end(error)
        case .doNothing: break
        }
    }

    func end(_ error: EngineIOError) {
        self.logger.debug("Session closed", metadata: ["engineio.reason": "\(error)"])
        for timer in [self.heartbeatTimer, self.openTimer, self.probeTimer] { timer?.cancel() }
        self.preparation?.cancel()
        self.dropWebSocket()
        // A last POST (our close) may finish; then, or now, the poll is given up.
        if !self.polling.postIsOut || !self.isSayingGoodbye { self.polling.cancel() }
        let delegate = self.delegate
        self.delegate = nil
        delegate?.engineClosed(self, error: error)
    }
}
