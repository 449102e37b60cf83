import ApusBytes
import ApusWebSocketProtocol
import HTTPTypes

/// Evaluates WebSocket requests. Performs no I/O.
///
/// Source: RFC 6455 section 4.2.
struct WebSocketServerHandshake {
    /// The result of a handshake.
    struct Agreement: Equatable {
        /// The fields of the 101 response.
        var fields: HTTPFields
        var settled: WebSocketAgreement
    }

    let configuration: WebSocketServerConfiguration

    /// Returns whether a request is a WebSocket request for the server's path.
    ///
    /// Other requests for the same path are passed on, because a page may exist at the path.
    func isOurs(_ request: HTTPRequest) -> Bool {
        guard let path = request.path else { return false }
        let end = path.utf8.firstIndex(of: UInt8(ascii: "?")) ?? path.endIndex
        guard self.configuration.path.map({ $0.hasSameBytes(as: path[..<end]) }) ?? true else { return false }
        return WebSocketHandshake.fields(request.headerFields, .upgrade, contain: "websocket")
    }

    /// Evaluates a WebSocket request. After success, the caller runs the application's check.
    func judge(_ request: HTTPRequest, hasBody: Bool) throws(WebSocketUpgradeRefusal) -> Agreement {
        // A body before the frames would allow request smuggling.
        guard !hasBody else { throw WebSocketUpgradeRefusal(.badRequest, message: "A WebSocket request must not have a body") }
        // RFC 9112 section 3.2: "A server MUST respond with a 400 … to any HTTP/1.1 request message
        // that lacks a Host header field"
        guard let authority = request.authority, !authority.isEmpty, request.headerFields[.host] == nil else {
            throw WebSocketUpgradeRefusal(.badRequest, message: "A WebSocket request must have exactly one Host field, not empty")
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
    /// The name of a second `Host` field. The first one became the request's authority.
    fileprivate static let host = Self("Host") ?? .accept  // the name is a valid token, so `accept` is never used
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
