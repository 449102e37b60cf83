import ApusWebSocketProtocol
import NIOCore

extension WebSocketHandler {
    /// Carries out what the machine decided about a frame.
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

    /// Bytes came that are no frame, or the connection cannot go on for a reason of our own.
    func fail(_ error: WebSocketError) {
        guard let delegate = self.delegate else { return }
        self.perform(self.machine.decoderFailed(error), telling: delegate)
    }

    /// The transport has gone, or is of no use any more.
    func transportEnded(cause: (any Error)?) {
        self.countNothing()
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

    /// Tells the delegate, once, and lets go of it.
    func report(code: WebSocketCloseCode?, error: WebSocketError?) {
        self.dropHeldFrames()
        guard let delegate = self.delegate.take() else { return }
        delegate.webSocketClosed(self, code: code, error: error)
    }

    /// Both sides have said all: what is written goes out, then the transport ends.
    ///
    /// Only the outgoing half is closed at first. A full close while bytes of the peer are unread would answer them with a
    /// reset, and a reset can destroy our Close frame before it is read. RFC 6455 7.1.1: the server goes first, the client
    /// waits for it; a peer that does not end its half in time is cut.
    private func endTransport() {
        guard let context = self.context else { return }
        self.flushNow()
        self.startCloseTimer()
        guard self.role == .server else { return }
        let promise = context.eventLoop.makePromise(of: Void.self)
        let channel = context.channel
        promise.futureResult.whenFailure { _ in channel.close(promise: nil) }  // a transport without halves
        context.close(mode: .output, promise: promise)
    }

    func startCloseTimer() {
        guard self.closeTimer == nil, let context = self.context else { return }
        self.closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(self.closeTimeout)) {
            self.perform(self.machine.closeTimerFired())
        }
    }
}
