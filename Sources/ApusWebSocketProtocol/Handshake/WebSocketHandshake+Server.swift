package import HTTPTypes

extension WebSocketHandshake {
    /// Checks a client's request and answers the fields of the 101 response.
    ///
    /// The HTTP version, the host and the origin are the caller's to judge. Extensions are not granted.
    ///
    /// - Parameters:
    ///   - request: The request as it came.
    ///   - protocols: The subprotocols we speak, best first; the first the client offers as well is chosen.
    /// - Throws: ``WebSocketError/Code/malformedHandshake`` or ``WebSocketError/Code/unsupportedVersion``.
    package static func respond(to request: HTTPRequest, protocols: [String] = []) throws(WebSocketError) -> HTTPFields {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.malformedHandshake, message: message) }
        let fields = request.headerFields
        // 4.2.1: the eight things a request must have, in that order.
        guard request.method == .get else { throw refuse("the method is \(request.method.rawValue), not GET") }
        guard Self.fields(fields, .upgrade, contain: "websocket") else { throw refuse("no 'Upgrade: websocket'") }
        guard Self.fields(fields, .connection, contain: "upgrade") else { throw refuse("no 'Connection: Upgrade'") }
        let keys = fields[values: .secWebSocketKey]
        guard keys.count == 1, let key = keys.first.map({ String(Self.trimmed($0[...])) }), Base64.isSixteenBytes(key) else {
            throw refuse("Sec-WebSocket-Key is not the Base64 of 16 bytes")
        }
        let versions = fields[values: .secWebSocketVersion]
        guard versions.count == 1, let version = versions.first, Self.trimmed(version[...]) == Self.version else {
            throw WebSocketError(.unsupportedVersion, message: "Sec-WebSocket-Version is not \(Self.version)")
        }

        var response = HTTPFields()
        response[.upgrade] = "websocket"
        response[.connection] = "Upgrade"
        response[.secWebSocketAccept] = Self.acceptValue(forKey: key)
        if let chosen = protocols.first(where: { Self.offered(in: fields).contains($0) }) {
            response[.secWebSocketProtocol] = chosen
        }
        return response
    }

    private static func offered(in fields: HTTPFields) -> [String] {
        fields[values: .secWebSocketProtocol].flatMap { $0.split(separator: ",").map { String(Self.trimmed($0)) } }
    }
}

extension WebSocketError {
    /// What a server answers when it refuses a handshake (RFC 6455 4.2.2: 426 with the version we speak, else 400).
    package var handshakeResponse: HTTPResponse {
        var response = HTTPResponse(status: .badRequest)
        if self.code == .unsupportedVersion {
            response.status = .upgradeRequired
            response.headerFields[.secWebSocketVersion] = WebSocketHandshake.version
            response.headerFields[.upgrade] = "websocket"
        }
        response.headerFields[.connection] = "close"
        response.headerFields[.contentLength] = "0"
        return response
    }
}
