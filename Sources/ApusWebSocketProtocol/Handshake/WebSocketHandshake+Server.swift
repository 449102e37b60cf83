import ApusBytes
package import HTTPTypes

extension WebSocketHandshake {
    /// Validates a client's request and returns the header fields of the 101 response, without
    /// compression.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - protocols: The supported subprotocols, in order of preference. The first one that the
    ///     client offers is selected.
    /// - Throws: The errors of ``accept(_:limits:deflate:choosingSubprotocol:)``.
    package static func respond(to request: HTTPRequest, protocols: [String] = []) throws(WebSocketError) -> HTTPFields {
        try self.accept(request) { offered in protocols.first(where: offered.contains) }.fields
    }

    /// Validates a client's request and returns the header fields of the 101 response and the
    /// agreement.
    ///
    /// The caller checks the HTTP version, the host and the origin.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - limits: The limits of the request's header fields.
    ///   - deflate: The supported compression; `nil` for none.
    ///   - choose: A closure that selects one of the subprotocols that the client offers, or `nil`.
    ///     It receives them in the client's order of preference. Any other value is ignored.
    /// - Throws: ``WebSocketError/Code/malformedHandshake``,
    ///   ``WebSocketError/Code/unsupportedVersion`` or ``WebSocketError/Code/headersTooLarge``;
    ///   `handshakeResponse` is the HTTP response.
    package static func accept(
        _ request: HTTPRequest,
        limits: WebSocketLimits = WebSocketLimits(),
        deflate: WebSocketDeflateConfiguration? = nil,
        choosingSubprotocol choose: ([String]) -> String? = { _ in nil }
    ) throws(WebSocketError) -> (fields: HTTPFields, agreement: WebSocketAgreement) {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.malformedHandshake, message: message) }
        let fields = request.headerFields
        try self.judge(fields, limits: limits)
        // The required elements of a request, in the order of RFC 6455 section 4.2.1.
        guard request.method == .get else { throw refuse("the method is \(request.method.rawValue), not GET") }
        guard Self.fields(fields, .upgrade, contain: "websocket") else { throw refuse("the request has no 'Upgrade: websocket'") }
        guard Self.fields(fields, .connection, contain: "upgrade") else { throw refuse("the request has no 'Connection: Upgrade'") }
        let keys = fields[values: .secWebSocketKey]
        guard keys.count == 1, let key = keys.first.map({ String($0.trimmedOfBlanks) }), self.isKey(key) else {
            throw refuse("the request must have exactly one Sec-WebSocket-Key, the base64 of 16 bytes")
        }
        let versions = fields[values: .secWebSocketVersion]
        guard versions.count == 1, let version = versions.first, version.trimmedOfBlanks.hasSameBytes(as: Self.version) else {
            throw WebSocketError(.unsupportedVersion, message: "Sec-WebSocket-Version must be \(Self.version)")
        }
        // A body would be parsed as frames, or by a proxy as the next request (CVE-2022-3215).
        guard fields[.transferEncoding] == nil, fields[values: .contentLength].allSatisfy({ $0 == "0" }) else {
            throw refuse("the request must not have a body")
        }

        var response = HTTPFields()
        response[.upgrade] = "websocket"
        response[.connection] = "Upgrade"
        response[.secWebSocketAccept] = Self.acceptValue(forKey: key)
        var agreement = WebSocketAgreement()
        let offered = Self.offeredSubprotocols(in: fields)
        if !offered.isEmpty, let chosen = choose(offered), offered.contains(where: chosen.hasSameBytes) {
            response[.secWebSocketProtocol] = chosen
            agreement.subprotocol = chosen
        }
        let extensions = fields[values: .secWebSocketExtensions]
        if let deflate, let granted = try WebSocketDeflateNegotiation.accept(extensions, configuration: deflate) {
            response[.secWebSocketExtensions] = granted.response
            agreement.deflate = granted.agreement
        }
        return (response, agreement)
    }

    /// Returns the subprotocols that a client offers, in its order of preference. Ignores invalid
    /// tokens.
    package static func offeredSubprotocols(in fields: HTTPFields) -> [String] {
        fields[values: .secWebSocketProtocol].flatMap { value in
            value.split(atByte: ",").map { String($0.trimmedOfBlanks) }.filter { HTTPField.Name($0) != nil }
        }
    }
}

extension WebSocketError {
    /// The response to a refused handshake: 426 with the supported version (RFC 6455 section
    /// 4.2.2), 431 (RFC 6585 section 5), or 400.
    package var handshakeResponse: HTTPResponse {
        var response = HTTPResponse(status: .badRequest)
        switch self.code {
        case .unsupportedVersion:
            response.status = .upgradeRequired
            response.headerFields[.secWebSocketVersion] = WebSocketHandshake.version
            response.headerFields[.upgrade] = "websocket"
        case .headersTooLarge:
            response.status = .requestHeaderFieldsTooLarge
        default: break
        }
        response.headerFields[.connection] = "close"
        response.headerFields[.contentLength] = "0"
        return response
    }
}
