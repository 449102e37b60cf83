import ApusBytes
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
    ///   - subprotocols: What we speak, best first.
    ///   - deflate: How messages may be compressed; `nil`: compression is not offered.
    ///   - key: From ``key(fromRandom:_:)``, fresh for every request.
    /// - Throws: ``WebSocketError/Code/invalidURL`` when a field has a bad name, holds CR, LF or NUL, or is the handshake's own;
    ///   ``WebSocketError/Code/invalidUse`` for a subprotocol that is no token or there twice, and for a bad `deflate`.
    package static func request(
        to url: WebSocketURL,
        headers: [(String, String)],
        subprotocols: [String] = [],
        deflate: WebSocketDeflateConfiguration? = nil,
        key: String
    ) throws(WebSocketError) -> HTTPRequest {
        var request = HTTPRequest(method: .get, scheme: url.isSecure ? "https" : "http", authority: url.authority, path: url.requestTarget)
        request.headerFields[.upgrade] = "websocket"
        request.headerFields[.connection] = "Upgrade"
        request.headerFields[.secWebSocketKey] = key
        request.headerFields[.secWebSocketVersion] = Self.version
        if let deflate {
            try deflate.validate()
            request.headerFields[.secWebSocketExtensions] = WebSocketDeflateNegotiation.offer(deflate)
        }
        if !subprotocols.isEmpty {
            // 4.1: "The elements … MUST be non-empty strings with characters in the range U+0021 to U+007E … and MUST all be unique"
            guard subprotocols.allSatisfy({ HTTPField.Name($0) != nil }), Set(subprotocols).count == subprotocols.count else {
                throw WebSocketError(.invalidUse, message: "a subprotocol is no token, or there twice: \(subprotocols)")
            }
            request.headerFields[.secWebSocketProtocol] = subprotocols.joined(separator: ", ")
        }
        for (name, value) in headers {
            guard HTTPField.isValidValue(value) else {
                throw WebSocketError(.invalidURL, message: "the value of the field \(name.debugDescription) holds CR, LF or NUL")
            }
            if name.equalsIgnoringASCIICase("host") {
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
    ///
    /// - Parameters:
    ///   - response: The response as it came.
    ///   - request: What it answers.
    ///   - deflate: What was offered in it.
    ///   - limits: How many and how large the fields may be.
    @discardableResult
    package static func check(
        _ response: HTTPResponse,
        to request: HTTPRequest,
        deflate: WebSocketDeflateConfiguration? = nil,
        limits: WebSocketLimits = WebSocketLimits()
    ) throws(WebSocketError) -> WebSocketAgreement {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.malformedHandshake, message: message) }
        let fields = response.headerFields
        try self.judge(fields, limits: limits)
        guard response.status.code == 101 else { throw refuse("status \(response.status.code)") }
        guard Self.fields(fields, .upgrade, contain: "websocket") else { throw refuse("no 'Upgrade: websocket' in the response") }
        guard Self.fields(fields, .connection, contain: "upgrade") else { throw refuse("no 'Connection: Upgrade' in the response") }
        let accepts = fields[values: .secWebSocketAccept]
        let expected = Self.acceptValue(forKey: request.headerFields[.secWebSocketKey] ?? "")
        guard accepts.count == 1, let accept = accepts.first, accept.trimmedOfBlanks.hasSameBytes(as: expected) else {
            throw refuse("Sec-WebSocket-Accept does not answer our key")
        }
        var agreement = WebSocketAgreement()
        // "indicates the use of an extension that was not present in the client's handshake": judged there.
        agreement.deflate = try WebSocketDeflateNegotiation.check(fields[values: .secWebSocketExtensions], offered: deflate)
        let chosen = fields[values: .secWebSocketProtocol].map { String($0.trimmedOfBlanks) }
        if !chosen.isEmpty {
            let offered = Self.offeredSubprotocols(in: request.headerFields)
            guard chosen.count == 1, let subprotocol = chosen.first, offered.contains(where: subprotocol.hasSameBytes) else {
                throw refuse("the server chose a subprotocol that was not offered")
            }
            agreement.subprotocol = subprotocol
        }
        return agreement
    }
}
