import ApusWebSocketProtocol
import NIOCore

extension WebSocketHandler {
    /// Performs the state machine's action for a frame.
    func perform(_ action: WebSocketConnectionStateMachine.FrameAction, telling delegate: any WebSocketHandlerDelegate) {
        switch action {
        case .deliver(let message):
            delegate.webSocket(self, received: message)
        case .sendPong(let payload):
            self.sendPong(payload)
        case .receivedPong(let payload):
            delegate.webSocket(self, receivedPong: payload)
        case .answerClose(let answer, let received):
            self.writeClose(answer)
            self.receivedCloseReason = received.reason
            self.endTransport()
            self.report(code: received.code ?? .noStatusReceived, error: nil)
        case .finishClose(let received):
            self.receivedCloseReason = received.reason
            self.endTransport()
            self.report(code: received.code ?? .noStatusReceived, error: nil)
        case .fail(let error, let sendClose):
            if sendClose {
                self.writeClose((try? WebSocketClosePayload(code: error.closeCode, reason: error.message)) ?? .empty)
            }
            self.endTransport()
            self.report(code: error.closeCode, error: error)
        case .doNothing:
            break
        }
    }

    /// Closes the connection because of invalid bytes or a local failure.
    func fail(_ error: WebSocketError) {
        guard let delegate = self.delegate else { return }
        self.perform(self.machine.decoderFailed(error), telling: delegate)
    }

    /// Ends the connection after the transport closed or failed.
    func transportEnded(cause: (any Error)?) {
        self.releaseBudgets()
        self.perform(self.machine.transportClosed(cause: cause))
    }

    private func perform(_ action: WebSocketConnectionStateMachine.EndAction) {
        self.closeTimer?.cancel()
        self.closeTimer = nil
        self.context?.close(mode: .all, promise: nil)
        if case .report(let error) = action {
            self.report(code: nil, error: error)
        }
    }

    /// Reports the end to the delegate, once, and releases it.
    func report(code: WebSocketCloseCode?, error: WebSocketError?) {
        self.dropHeldFrames()
        guard let delegate = self.delegate.take() else { return }
        delegate.webSocketClosed(self, code: code, error: error)
    }

    /// Flushes pending writes and closes the transport after the close handshake.
    ///
    /// Closes the outgoing half first. A full close while bytes of the peer are unread would send a
    /// reset, which can destroy our Close frame before the peer reads it. The server closes first
    /// and the client waits for it (RFC 6455 7.1.1). A peer that does not close its half in time is
    /// disconnected.
    private func endTransport() {
        guard let context = self.context else { return }
        self.flushNow()
        self.startCloseTimer()
        guard self.role == .server else { return }
        let promise = context.eventLoop.makePromise(of: Void.self)
        let channel = context.channel
        promise.futureResult.whenFailure { _ in channel.close(promise: nil) }  // no half-closure support
        context.close(mode: .output, promise: promise)
    }

    func startCloseTimer() {
        guard self.closeTimer == nil, let context = self.context else { return }
        self.closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(self.closeTimeout)) {
            self.perform(self.machine.closeTimerFired())
        }
    }
}
