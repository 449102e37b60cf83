import ApusEngineIOProtocol
import ApusEventLoop
import ApusWebSocket
import ApusWebSocketProtocol
import Logging
import NIOCore

extension EngineIOSession {
    /// Opens a session that starts on this WebSocket.
    func opened(on webSocket: EngineIOWebSocketTransport) {
        self.eventLoop.assertInEventLoop()
        self.hot.webSocket = webSocket
        self.write(self.openPacket(on: .webSocket), to: webSocket)
        self.hot.delegate?.sessionOpened(self)
    }

    func received(_ message: WebSocketMessage, on webSocket: EngineIOWebSocketTransport) {
        self.eventLoop.assertInEventLoop()
        guard self.hot.webSocket === webSocket else { return }  // a probe that failed and is being closed
        do throws(EngineIOError) {
            if self.hot.machine.isOnWebSocket {
                self.perform(try self.hot.machine.received(frame: EngineIOMessage(message)))
            } else {
                self.perform(self.hot.machine.receivedOnProbe(try self.codec.decode(EngineIOMessage(message))), webSocket)
            }
        } catch {
            guard self.isCarried(by: webSocket) else { return self.endProbe(close: webSocket) }
            self.closeDetail = "\(error)"
            self.finish(.parseError, answerHeldPoll: self.hot.machine.close() ? [.close] : [])
        }
    }

    func webSocketClosed(_ webSocket: EngineIOWebSocketTransport, isClean: Bool) {
        self.eventLoop.assertInEventLoop()
        guard self.hot.webSocket === webSocket else { return }
        let isCarrier = self.isCarried(by: webSocket)
        self.hot.webSocket = nil
        guard isCarrier else { return self.endProbe(close: nil) }
        _ = self.hot.machine.close()
        self.finish(isClean ? .transportClose : .transportError, answerHeldPoll: [])
    }

    /// Returns whether this WebSocket carries the session. Otherwise it is the probe of an upgrade,
    /// or is being closed.
    private func isCarried(by webSocket: EngineIOWebSocketTransport) -> Bool {
        guard self.hot.webSocket === webSocket else { return false }
        switch self.hot.machine.transport {
        case .webSocket: return true
        case .polling, nil: return false
        }
    }

    /// Handles the transport's buffer falling below its low watermark.
    func webSocketDrained(_ webSocket: EngineIOWebSocketTransport) {
        self.eventLoop.assertInEventLoop()
        if self.isCarried(by: webSocket) { self.notifyIfDrained() }
    }

    /// Handles a queue that exceeds `maximumQueuedBytes`.
    func webSocketOverflowed(_ webSocket: EngineIOWebSocketTransport) {
        self.eventLoop.assertInEventLoop()
        guard self.isCarried(by: webSocket) else { return }
        self.recordQueueOverflow()
        _ = self.hot.machine.close()
        self.finish(.transportError, answerHeldPoll: [])
    }

    func write(
        _ packet: EngineIOPacket, to webSocket: EngineIOWebSocketTransport, compression: WebSocketCompression = .automatic
    ) {
        guard self.allowsBinary || !packet.isBinaryMessage else {
            var text = ByteBuffer()
            self.codec.encodeText(packet, into: &text)
            return webSocket.send(.message(WebSocketMessage(.text, text).compressed(compression)))
        }
        webSocket.send(.message(WebSocketMessage(self.codec.webSocketFrame(for: packet)).compressed(compression)))
    }

    // MARK: Upgrade

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

    private func perform(_ action: EngineIOServerSession.ProbeAction, _ webSocket: EngineIOWebSocketTransport) {
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

    private func endProbe(close webSocket: EngineIOWebSocketTransport?) {
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
