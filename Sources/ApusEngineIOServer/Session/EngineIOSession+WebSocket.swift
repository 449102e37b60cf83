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
                self.perform(self.hot.machine.receivedOnProbe(try self.hot.machine.codec.decode(EngineIOMessage(message))), webSocket)
            }
        } catch {
            guard self.isCarried(by: webSocket) else {
                self.hot.machine.probeClosed()
                return self.endProbe(close: webSocket)
            }
            self.closeDetail = "\(error)"
            self.finish(.parseError, answerHeldPoll: self.hot.machine.close() ? [.close] : [])
        }
    }

    func webSocketClosed(_ webSocket: EngineIOWebSocketTransport, isClean: Bool) {
        self.eventLoop.assertInEventLoop()
        guard self.hot.webSocket === webSocket else { return }
        let isCarrier = self.isCarried(by: webSocket)
        self.hot.webSocket = nil
        guard isCarrier else {
            self.hot.machine.probeClosed()
            return self.endProbe(close: nil)
        }
        _ = self.hot.machine.close()
        self.finish(isClean ? .transportClose : .transportError, answerHeldPoll: [])
    }

    /// Returns whether this WebSocket carries the session. A WebSocket that does not is the probe
    /// of an upgrade, or is being closed.
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
        let codec = self.hot.machine.codec
        guard self.allowsBinary || !packet.isBinaryMessage else {
            var text = ByteBuffer()
            codec.encodeText(packet, into: &text)
            return webSocket.send(.message(WebSocketMessage(.text, text).compressed(compression)))
        }
        webSocket.send(.message(WebSocketMessage(codec.webSocketFrame(for: packet)).compressed(compression)))
    }
}
