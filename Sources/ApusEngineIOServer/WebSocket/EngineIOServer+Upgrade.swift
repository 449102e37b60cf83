import ApusEngineIOProtocol
import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore

// What a request asks for, and the WebSocket it becomes, whoever read it.
extension EngineIOServer {
    typealias Agreement = (fields: HTTPFields, agreement: WebSocketAgreement)

    /// Judges the WebSocket's part of a request.
    func agree(on request: HTTPRequest) throws(EngineIOError) -> Agreement {
        do throws(WebSocketError) {
            return try WebSocketHandshake.accept(request, deflate: self.configuration.perMessageDeflate)
        } catch {
            throw EngineIOError(.badRequest, message: "Bad request", cause: error)
        }
    }

    /// The fields of the 101.
    ///
    /// - Parameter sid: The session that begins with it, if one does.
    func fields(of agreement: Agreement, for request: HTTPRequest, beginning sid: EngineIOID?) -> HTTPFields {
        var fields = HTTPFields()
        self.configuration.changeFields(&fields, of: request, beginning: sid)
        // What makes it an upgrade is not the application's to change.
        for field in agreement.fields { fields[field.name] = field.value }
        fields[.contentLength] = nil
        fields[.transferEncoding] = nil
        return fields
    }

    /// The WebSocket of a session, for a pipeline of this event loop.
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
    /// Whether the target of a request is under the server's path.
    func covers(_ target: String?) -> Bool {
        guard let path = target?.utf8.prefix(while: { $0 != UInt8(ascii: "?") }) else { return false }
        // The reference answers with and without the last slash.
        return path.elementsEqual(self.path.utf8) || path.elementsEqual(self.path.utf8.dropLast())
    }

    /// What a request asks for, or why it is refused; and what is thought of the page it comes from.
    func judge(_ request: HTTPRequest) -> (parsed: Result<EngineIORequest, EngineIOError>, verdict: OriginPolicy.Verdict) {
        let isUpgrade = WebSocketHandshake.fields(request.headerFields, .upgrade, contain: "websocket")
        // Every browser names the origin of a WebSocket. The id of a session is a secret of its own: who has it needs no cookie.
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
