import ApusBytes
import ApusEngineIOProtocol
import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore

/// The session over a WebSocket, from the start or after an upgrade.
extension EngineIOClientConnection {
    /// Opens a WebSocket.
    ///
    /// - Parameter sid: The id of the session to upgrade; `nil` to start a session.
    func openWebSocket(sid: String?) {
        let delegate = EngineIOClientWebSocketDelegate(connection: self)
        self.webSocketDelegate = delegate
        var limits = WebSocketLimits(maximumMessageBytes: self.configuration.maximumMessageBytes)
        limits.closeTimeout = .seconds(2)
        let url: WebSocketURL
        do throws(WebSocketError) { url = try WebSocketURL(self.address.webSocket(sid: sid)) } catch {
            return self.webSocketEnded(Self.engineError(error))
        }
        var headers = self.headers(for: url.requestTarget)
        // Servers refuse a WebSocket handshake with a cookie but without `Origin` (CVE-2020-28481;
        // docs/hazards.md, 18).
        if headers.contains(.cookie), !headers.contains(.origin) {
            headers[.origin] = "\(url.isSecure ? "https" : "http")://\(url.authority)"
        }
        WebSocketClientConnector.attempt(
            url, headers: headers, through: self.configuration.dialer, target: self.configuration.target,
            limits: limits, deflate: self.configuration.compression, timeout: self.configuration.timeout, handshakeTimeout: nil,
            on: self.eventLoop
        ) { opening in
            if self.configuration.keepsCookies {
                self.memory.received(
                    setCookies: opening.response.headerFields[values: .setCookie], from: self.address, target: url.requestTarget)
            }
            return delegate
        }.futureResult.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let handler):
                guard self.webSocketDelegate === delegate, !self.session.isClosed else { return handler.abort() }
                self.webSocket = handler
                if sid != nil { self.write(.init(packet: .probePing)) }
                self.flush()
            case .failure(let error):
                guard self.webSocketDelegate === delegate else { return }
                self.webSocketEnded(Self.engineError(error))
            }
        }
    }

    func webSocketReceived(_ message: WebSocketMessage) {
        if self.session.isOnWebSocket, message.kind == .text, let text = EngineIOPacketCodec.textMessage(in: message.payload) {
            self.delegate?.engine(self, received: .text(text))  // fast path: most messages are text
            return
        }
        do throws(EngineIOError) {
            switch message.kind {
            case .text: self.receivedPacket(try self.packets.decode(.text(message.payload)), over: .webSocket)
            case .binary: self.receivedPacket(try self.packets.decode(.binary(message.payload)), over: .webSocket)
            }
        } catch {
            // A malformed packet on a probe ends the probe, not the session.
            self.perform(self.session.failed(.webSocket, error))
        }
    }

    /// Sends a WebSocket Ping, whose Pong measures the round-trip time.
    func sendWebSocketPing() {
        self.pingTime = .now()
        self.webSocket?.sendPing(ByteBuffer())
    }

    func webSocketWritable() {
        self.flush()
    }

    func webSocketEnded(_ error: EngineIOError) {
        self.dropWebSocket()
        self.failed(.webSocket, error)
    }

    func dropWebSocket() {
        self.webSocketDelegate?.connection = nil
        self.webSocketDelegate = nil
        self.webSocket?.close(code: .normalClosure, reason: "")
        self.webSocket = nil
    }

    func flushOutbox() {
        guard let webSocket = self.webSocket else { return }
        while webSocket.isWritable, let item = self.outbox.popFirst() { self.write(item) }
    }

    func write(_ item: EngineIOClientOutbox.Item) {
        let message =
            switch self.packets.webSocketFrame(for: item.packet) {
            case .text(let text): WebSocketMessage(.text, text)
            case .binary(let bytes): WebSocketMessage(.binary, bytes)
            }
        self.webSocket?.send(item.compresses ? message : message.compressed(.never))
    }

    static func engineError(_ error: any Error) -> EngineIOError {
        guard let error = error as? WebSocketError else {
            return EngineIOError(.transportError, message: "the WebSocket failed", cause: error)
        }
        if let refusal = error.refusal { return EngineIOHTTPRefusal.error(status: refusal.status, body: refusal.body) }
        return EngineIOError(
            error.code == .timeout ? .timeout : .transportError, message: "the WebSocket failed: \(error.message)", cause: error)
    }
}
