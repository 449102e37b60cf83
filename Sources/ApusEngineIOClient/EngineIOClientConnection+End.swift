package import ApusEngineIOProtocol
import ApusWebSocket
import Logging
import NIOCore

/// Closing a session: by this side, by the server, or by a transport failure.
extension EngineIOClientConnection {
    /// Closes the session after the queued packets are sent.
    ///
    /// - Parameters:
    ///   - error: The error for the delegate.
    ///   - departed: Called once, when all packets have been sent and the connection is closed, or
    ///     when sending failed.
    package func close(
        _ error: EngineIOError = EngineIOError(.closed, message: "the client closed the connection"), departed: (() -> Void)? = nil
    ) {
        self.eventLoop.preconditionInEventLoop()
        if let departed { self.waitsForDeparture.append(departed) }
        let closings = EngineIOTransport.allCases.compactMap(self.closeFuture)  // before the transports are dropped
        switch self.session.close() {
        case .sendClose(let transport):
            self.outbox.appendControl(.close)
            self.isFlushingClose = true
            switch transport {
            case .polling: self.post()
            case .webSocket: while let item = self.outbox.popFirst() { self.write(item) }
            }
            self.end(error)
        case .abort: self.end(error)
        case .doNothing: break
        }
        // Over polling, `closingPostEnded(_:)` calls `tellDeparture(after:)` after the last POST.
        if !self.isFlushingClose || !self.polling.isPostPending { self.tellDeparture(after: closings) }
    }

    /// Returns the future of the close of a transport's connection. Returns `nil` for polling,
    /// whose requests end by themselves, and if the WebSocket is not open.
    private func closeFuture(of transport: EngineIOTransport) -> EventLoopFuture<Void>? {
        switch transport {
        case .polling: nil
        case .webSocket: self.webSocket?.channel?.closeFuture
        }
    }

    func tellDeparture(after closings: [EventLoopFuture<Void>]) {
        let waiting = self.waitsForDeparture
        self.waitsForDeparture = []
        guard !closings.isEmpty, !waiting.isEmpty else { return waiting.forEach { $0() } }
        EventLoopFuture.andAllComplete(closings, on: self.eventLoop).assumeIsolated().whenComplete { _ in waiting.forEach { $0() } }
    }

    /// Handles the failure of a transport, or its close by the server.
    func failed(_ transport: EngineIOTransport, _ error: EngineIOError) {
        if self.handshake == nil {
            if self.memory.lastUpgrade?.transport == transport { self.memory.lastUpgrade = nil }
            self.memory.recognizedVersion = nil  // the next attempt may reach another server
        }
        guard !self.retryWithOlderVersion(after: error), !self.retryOnNextTransport(after: error) else { return }
        self.perform(self.session.failed(transport, error))
    }

    func perform(_ action: EngineIOClientSession.FailureAction) {
        switch action {
        case .close(let error): self.end(error)
        case .abandonProbe(let probed, let error): self.abandonProbe(of: probed, error)
        case .doNothing: break
        }
    }

    /// Closes the session with an error, unless it is already closed.
    func finish(_ error: EngineIOError) {
        switch self.session.close() {
        case .sendClose, .abort: self.end(error)
        case .doNothing: break
        }
    }

    /// Closes all transports of the session.
    func dropTransports() { for transport in EngineIOTransport.allCases { self.drop(transport) } }

    /// Closes a transport, if the session uses it.
    func drop(_ transport: EngineIOTransport) {
        switch transport {
        case .polling:
            // A last POST (the close packet) may finish before the poll is cancelled.
            if !self.polling.isPostPending || !self.isFlushingClose { self.polling.cancel() }
        case .webSocket: self.dropWebSocket()
        }
    }

    func end(_ error: EngineIOError) {
        self.logger.debug("Session closed", metadata: ["engineio.reason": "\(error)"])
        for timer in [self.heartbeatTimer, self.openTimer, self.upgradeTimer] { timer?.cancel() }
        self.preparation?.cancel()
        self.dropTransports()
        let delegate = self.delegate
        self.delegate = nil
        delegate?.engineClosed(self, error: error)
    }
}
