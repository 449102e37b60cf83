package import HTTPTypes

extension WebSocketHandshake {
    /// Fields a caller may not set, because the handshake sets them.
    private static let ownFields: Set<HTTPField.Name> = [
        .upgrade, .connection, .secWebSocketKey, .secWebSocketVersion, .secWebSocketAccept, .secWebSocketExtensions, .contentLength,
        .transferEncoding,
    ]

    /// The request that opens `url`.
    ///
    /// - Parameters:
    ///   - url: The address.
    ///   - headers: Fields of the caller, in order. `Host` replaces the address's own.
    ///   - key: From ``key(fromRandom:_:)``, fresh for every request.
    /// - Throws: ``WebSocketError/Code/invalidURL`` when a field has a bad name, holds CR, LF or NUL, or is the handshake's own.
    package static func request(to url: WebSocketURL, headers: [(String, String)], key: String) throws(WebSocketError) -> HTTPRequest {
        var request = HTTPRequest(method: .get, scheme: url.isSecure ? "https" : "http", authority: url.authority, path: url.requestTarget)
        request.headerFields[.upgrade] = "websocket"
        request.headerFields[.connection] = "Upgrade"
        request.headerFields[.secWebSocketKey] = key
        request.headerFields[.secWebSocketVersion] = Self.version
        for (name, value) in headers {
            guard HTTPField.isValidValue(value) else {
                throw WebSocketError(.invalidURL, message: "the value of the field \(name.debugDescription) holds CR, LF or NUL")
            }
            if name.lowercased() == "host" {
                request.authority = value
                continue
            }
            guard let fieldName = HTTPField.Name(name), !Self.ownFields.contains(fieldName) else {
                throw WebSocketError(.invalidURL, message: "the field \(name.debugDescription) cannot be set")
            }
            request.headerFields.append(HTTPField(name: fieldName, value: value))
        }
        return request
    }

    /// Checks a server's 101 response (RFC 6455 4.1, the steps after "validate the server's response").
    ///
    /// Other statuses are the caller's: they carry a body that tells why.
    package static func check(_ response: HTTPResponse, to request: HTTPRequest) throws(WebSocketError) {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.malformedHandshake, message: message) }
        let fields = response.headerFields
        guard response.status.code == 101 else { throw refuse("status \(response.status.code)") }
        guard Self.fields(fields, .upgrade, contain: "websocket") else { throw refuse("no 'Upgrade: websocket' in the response") }
        guard Self.fields(fields, .connection, contain: "upgrade") else { throw refuse("no 'Connection: Upgrade' in the response") }
        let accepts = fields[values: .secWebSocketAccept]
        let expected = Self.acceptValue(forKey: request.headerFields[.secWebSocketKey] ?? "")
        guard accepts.count == 1, let accept = accepts.first, Self.trimmed(accept[...]) == expected else {
            throw refuse("Sec-WebSocket-Accept does not answer our key")
        }
        // "indicates the use of an extension that was not present in the client's handshake": we offered none.
        guard fields[values: .secWebSocketExtensions].allSatisfy({ Self.trimmed($0[...]).isEmpty }) else {
            throw refuse("the server chose an extension that was not offered")
        }
        let chosen = fields[values: .secWebSocketProtocol]
        guard
            chosen.allSatisfy({ choice in
                request.headerFields[values: .secWebSocketProtocol].contains { offer in
                    offer.split(separator: ",").contains { Self.trimmed($0) == Self.trimmed(choice[...]) }
                }
            })
        else {
            throw refuse("the server chose a subprotocol that was not offered")
        }
    }
}
