import ApusWebSocket
package import ApusEngineIOProtocol
import ApusWebSocketProtocol
package import HTTPTypes

extension EngineIOServerConfiguration {
    /// Returns whether the target of a request is under the server's path.
    func covers(_ target: String?) -> Bool {
        guard let path = target?.utf8.prefix(while: { $0 != UInt8(ascii: "?") }) else { return false }
        // Accepts the path with and without the last slash, as Node's engine.io does.
        return path.elementsEqual(self.path.utf8) || path.elementsEqual(self.path.utf8.dropLast())
    }

    /// Parses a request and applies the origin policy.
    func judge(_ request: HTTPRequest) -> (parsed: Result<EngineIORequest, EngineIOError>, verdict: OriginPolicy.Verdict) {
        let opensWebSocket = WebSocketHandshake.fields(request.headerFields, .upgrade, contain: "websocket")
        // Browsers do not apply CORS to WebSocket handshakes, but send `Origin` with each. A
        // session id proves that the request comes from the session's client, so its cookies need
        // no check.
        let carriesCookie = opensWebSocket && request.headerFields[.cookie] != nil && request.query["sid"] == nil
        let verdict = self.origins.judge(
            origin: request.headerFields[.origin], authority: request.authority, carriesCookie: carriesCookie)
        guard verdict != .refused else {
            return (.failure(EngineIOError(.forbidden, message: "the server does not allow this origin (`origins`)")), verdict)
        }
        let parsed = Result { () throws(EngineIOError) in
            try EngineIORequest(
                method: request.method.rawValue, query: request.query, opensWebSocket: opensWebSocket, transports: self.transports,
                allowsV3: self.allowsEngineIO3)
        }
        return (parsed, verdict)
    }
}

extension HTTPRequest {
    /// The decoded query of the request.
    package var query: QueryString {
        guard let path = self.path, let mark = path.utf8.firstIndex(of: UInt8(ascii: "?")) else { return QueryString("") }
        return QueryString(path[path.utf8.index(after: mark)...])
    }
}
