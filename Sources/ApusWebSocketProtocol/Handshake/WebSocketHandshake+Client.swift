import ApusBytes
package import HTTPTypes

extension WebSocketHandshake {
    /// The fields that the handshake sets and a caller must not set.
    private static let ownFields: Set<HTTPField.Name> = [
        .upgrade, .connection, .secWebSocketKey, .secWebSocketVersion, .secWebSocketAccept, .secWebSocketExtensions, .contentLength,
        .transferEncoding,
    ]

    /// Creates the handshake request for `url`.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - headers: Additional fields, in order. `Host` replaces the value from the URL.
    ///   - subprotocols: The supported subprotocols, in order of preference.
    ///   - deflate: The compression to offer; `nil` for none.
    ///   - key: A key from ``key(fromRandom:_:)``, fresh for every request.
    /// - Throws: ``WebSocketError/Code/invalidURL`` for a field that the handshake sets;
    ///   ``WebSocketError/Code/invalidUse`` for subprotocols that are not unique tokens;
    ///   ``WebSocketError/Code/invalidConfiguration`` for an invalid `deflate`.
    package static func request(
        to url: WebSocketURL,
        headers: HTTPFields,
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
            // RFC 6455 section 4.1: "The elements … MUST be non-empty strings with characters in
            // the range U+0021 to U+007E … and MUST all be unique"
            guard subprotocols.allSatisfy({ HTTPField.Name($0) != nil }), Set(subprotocols).count == subprotocols.count else {
                throw WebSocketError(
                    .invalidUse,
                    message: "`subprotocols` must be unique HTTP tokens, not \(subprotocols.joined(separator: ", ").debugDescription)")
            }
            request.headerFields[.secWebSocketProtocol] = subprotocols.joined(separator: ", ")
        }
        for field in headers {
            if field.name.canonicalName == "host" {
                request.authority = field.value
                continue
            }
            guard !Self.ownFields.contains(field.name) else {
                throw WebSocketError(.invalidURL, message: "the field \(field.name) must not be set: the handshake sets it")
            }
            request.headerFields.append(field)
        }
        return request
    }

    /// Validates a server's 101 response (RFC 6455 section 4.1, the steps after "validate the
    /// server's response").
    ///
    /// The caller handles other status codes, whose bodies may explain the refusal.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request.
    ///   - deflate: The compression offered in the request.
    ///   - limits: The limits of the header fields.
    /// - Throws: ``WebSocketError/Code/malformedHandshake`` or
    ///   ``WebSocketError/Code/headersTooLarge``.
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
        guard response.status.code == 101 else { throw refuse("the status of the response is \(response.status.code), not 101") }
        guard Self.fields(fields, .upgrade, contain: "websocket") else { throw refuse("the response has no 'Upgrade: websocket'") }
        guard Self.fields(fields, .connection, contain: "upgrade") else { throw refuse("the response has no 'Connection: Upgrade'") }
        let accepts = fields[values: .secWebSocketAccept]
        let expected = Self.acceptValue(forKey: request.headerFields[.secWebSocketKey] ?? "")
        guard accepts.count == 1, let accept = accepts.first, accept.trimmedOfBlanks.hasSameBytes(as: expected) else {
            throw refuse("the response must have exactly one Sec-WebSocket-Accept, which matches the key of the request")
        }
        var agreement = WebSocketAgreement()
        // Throws for an extension that was not offered.
        agreement.deflate = try WebSocketDeflateNegotiation.check(fields[values: .secWebSocketExtensions], offered: deflate)
        let chosen = fields[values: .secWebSocketProtocol].map { String($0.trimmedOfBlanks) }
        if !chosen.isEmpty {
            let offered = Self.offeredSubprotocols(in: request.headerFields)
            guard chosen.count == 1, let subprotocol = chosen.first, offered.contains(where: subprotocol.hasSameBytes) else {
                throw refuse(
                    "the server must choose exactly one of the offered subprotocols, not \(chosen.joined(separator: ", ").debugDescription)"
                )
            }
            agreement.subprotocol = subprotocol
        }
        return agreement
    }
}
