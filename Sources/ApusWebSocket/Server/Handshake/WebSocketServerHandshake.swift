import ApusBytes
import ApusWebSocketProtocol
import HTTPTypes

/// Judges the requests of clients that want to become WebSockets. Pure.
///
/// Source: RFC 6455 4.2.
struct WebSocketServerHandshake {
    /// What was agreed.
    struct Agreement: Equatable {
        /// The fields of the 101 response.
        var fields: HTTPFields
        var settled: WebSocketAgreement
    }

    let configuration: WebSocketServerConfiguration

    /// Whether a request is the server's to answer: it asks for a WebSocket, and on our path.
    ///
    /// A plain request on the same path is not: a page may well lie there.
    func isOurs(_ request: HTTPRequest) -> Bool {
        guard let path = request.path else { return false }
        let end = path.utf8.firstIndex(of: UInt8(ascii: "?")) ?? path.endIndex
        guard self.configuration.path.map({ $0.hasSameBytes(as: path[..<end]) }) ?? true else { return false }
        return WebSocketHandshake.fields(request.headerFields, .upgrade, contain: "websocket")
    }

    /// Judges a request that is ours; the application's own check comes after all of these.
    func judge(_ request: HTTPRequest, hasBody: Bool) throws(WebSocketUpgradeRefusal) -> Agreement {
        // A body before the frames is a smuggler's tool: whose bytes are they?
        guard !hasBody else { throw WebSocketUpgradeRefusal(.badRequest, message: "A handshake has no body") }
        // RFC 9112 3.2: "A server MUST respond with a 400 … to any HTTP/1.1 request message that lacks a Host header field"
        guard let authority = request.authority, !authority.isEmpty, request.headerFields[.host] == nil else {
            throw WebSocketUpgradeRefusal(.badRequest, message: "A handshake names one host")
        }
        var refusal: WebSocketUpgradeRefusal?
        let agreement: Agreement
        do throws(WebSocketError) {
            let (fields, settled) = try WebSocketHandshake.accept(
                request, limits: self.configuration.limits, deflate: self.configuration.compression
            ) { offered in
                do throws(WebSocketUpgradeRefusal) {
                    return try self.configuration.subprotocols.choose(among: offered, for: request)
                } catch {
                    refusal = error
                    return nil
                }
            }
            agreement = Agreement(fields: fields, settled: settled)
        } catch {
            throw WebSocketUpgradeRefusal(error)
        }
        let verdict = self.configuration.origins.judge(
            origin: request.headerFields[.origin], authority: authority, carriesCookie: request.headerFields[.cookie] != nil)
        guard verdict != .refused else { throw .forbidden("Origin not allowed") }
        if let refusal { throw refusal }
        if agreement.settled.subprotocol == nil { try self.configuration.subprotocols.checkNone() }
        return agreement
    }
}

extension HTTPField.Name {
    /// A second `Host`; the first became the request's authority.
    fileprivate static let host = Self("Host") ?? .accept  // the name is well formed
}

extension WebSocketUpgradeRefusal {
    init(_ error: WebSocketError) {
        let response = error.handshakeResponse
        var fields = response.headerFields
        fields[.connection] = nil
        fields[.contentLength] = nil
        self.init(response.status, message: error.message, headerFields: fields)
    }
}
