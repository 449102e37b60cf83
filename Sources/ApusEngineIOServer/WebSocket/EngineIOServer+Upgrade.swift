import ApusEngineIOProtocol
import ApusEventLoop
import ApusEventLoop
import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore

// The WebSocket handshake, independent of the handler that read the request.
extension EngineIOServer {
    typealias Agreement = (fields: HTTPFields, agreement: WebSocketAgreement)

    /// Validates the WebSocket handshake of a request.
    func agree(on request: HTTPRequest) throws(EngineIOError) -> Agreement {
        do throws(WebSocketError) {
            return try WebSocketHandshake.accept(request, deflate: self.configuration.perMessageDeflate)
        } catch {
            throw EngineIOError(.badRequest, message: "Bad request", cause: error)
        }
    }

    /// Returns the header fields of the 101 response.
    ///
    /// - Parameter sid: The id of the session that starts with it, if one does.
    func fields(of agreement: Agreement, for request: HTTPRequest, beginning sid: RandomID?) -> HTTPFields {
        var fields = HTTPFields()
        self.configuration.changeFields(&fields, of: request, beginning: sid)
        // The application cannot change the fields of the upgrade.
        for field in agreement.fields { fields[field.name] = field.value }
        fields[.contentLength] = nil
        fields[.transferEncoding] = nil
        return fields
    }

    /// Creates the WebSocket of a session, for a pipeline on this event loop.
    func makeWebSocket(
        _ agreement: Agreement, of session: EngineIOSession, on eventLoop: any EventLoop
    ) -> (transport: EngineIOWebSocketTransport, handler: WebSocketHandler) {
        let transport = EngineIOWebSocketTransport(
            session: session, configuration: self.configuration, eventLoop: eventLoop)
        let handler = WebSocketHandler(
            role: .server, limits: .init(maximumMessageBytes: self.configuration.maximumPayloadBytes), deflate: agreement.agreement.deflate,
            delegate: transport, buffers: self.buffers.value(on: eventLoop))
        transport.attach(handler)
        return (transport, handler)
    }
}

extension EngineIOServerConfiguration {
    /// Returns whether the target of a request is under the server's path.
    func covers(_ target: String?) -> Bool {
        guard let path = target?.utf8.prefix(while: { $0 != UInt8(ascii: "?") }) else { return false }
        // With and without the last slash, as in Node's engine.io.
        return path.elementsEqual(self.path.utf8) || path.elementsEqual(self.path.utf8.dropLast())
    }

    /// Parses a request and applies the origin policy.
    func judge(_ request: HTTPRequest) -> (parsed: Result<EngineIORequest, EngineIOError>, verdict: OriginPolicy.Verdict) {
        let isUpgrade = WebSocketHandshake.fields(request.headerFields, .upgrade, contain: "websocket")
        // Browsers send `Origin` with every WebSocket handshake. A session id is itself a secret,
        // so that a request with one needs no check of cookies.
        let carriesCookie = isUpgrade && request.headerFields[.cookie] != nil && request.query["sid"] == nil
        let verdict = self.origins.judge(
            origin: request.headerFields[.origin], authority: request.authority, carriesCookie: carriesCookie)
        guard verdict != .refused else { return (.failure(EngineIOError(.forbidden, message: "Origin not allowed")), verdict) }
        let parsed = Result { () throws(EngineIOError) in
            try EngineIORequest(
                method: request.method.rawValue, query: request.query, isWebSocketUpgrade: isUpgrade, transports: self.transports,
                allowsV3: self.allowsEngineIO3)
        }
        return (parsed, verdict)
    }
}
