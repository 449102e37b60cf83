import ApusBytes
package import HTTPTypes

extension WebSocketHandshake {
    /// Checks a client's request and answers the fields of the 101 response, without compression.
    ///
    /// - Parameters:
    ///   - request: The request as it came.
    ///   - protocols: The subprotocols we speak, best first; the first the client offers as well is chosen.
    /// - Throws: As ``accept(_:limits:deflate:choosingSubprotocol:)``.
    package static func respond(to request: HTTPRequest, protocols: [String] = []) throws(WebSocketError) -> HTTPFields {
        try self.accept(request) { offered in protocols.first(where: offered.contains) }.fields
    }

    /// Checks a client's request and answers the fields of the 101 response and what they settle.
    ///
    /// The HTTP version, the host and the origin are the caller's to judge.
    ///
    /// - Parameters:
    ///   - request: The request as it came.
    ///   - limits: How many and how large its fields may be.
    ///   - deflate: How messages may be compressed; `nil`: not at all, whatever the client offers.
    ///   - choose: Is given what the client offers, in its order, and answers one of them or `nil`; anything else is not sent.
    /// - Throws: ``WebSocketError/Code/malformedHandshake``, ``WebSocketError/Code/unsupportedVersion`` or
    ///   ``WebSocketError/Code/headersTooLarge``; `handshakeResponse` is the HTTP answer.
    package static func accept(
        _ request: HTTPRequest,
        limits: WebSocketLimits = WebSocketLimits(),
        deflate: WebSocketDeflateConfiguration? = nil,
        choosingSubprotocol choose: ([String]) -> String? = { _ in nil }
    ) throws(WebSocketError) -> (fields: HTTPFields, agreement: WebSocketAgreement) {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.malformedHandshake, message: message) }
        let fields = request.headerFields
        try self.judge(fields, limits: limits)
        // 4.2.1: the eight things a request must have, in that order.
        guard request.method == .get else { throw refuse("the method is \(request.method.rawValue), not GET") }
        guard Self.fields(fields, .upgrade, contain: "websocket") else { throw refuse("no 'Upgrade: websocket'") }
        guard Self.fields(fields, .connection, contain: "upgrade") else { throw refuse("no 'Connection: Upgrade'") }
        let keys = fields[values: .secWebSocketKey]
        guard keys.count == 1, let key = keys.first.map({ String($0.trimmedOfBlanks) }), self.isKey(key) else {
            throw refuse("Sec-WebSocket-Key is not the Base64 of 16 bytes")
        }
        let versions = fields[values: .secWebSocketVersion]
        guard versions.count == 1, let version = versions.first, version.trimmedOfBlanks.hasSameBytes(as: Self.version) else {
            throw WebSocketError(.unsupportedVersion, message: "Sec-WebSocket-Version is not \(Self.version)")
        }
        // A body would be taken for frames, or by a proxy for the next request (CVE-2022-3215).
        guard fields[.transferEncoding] == nil, fields[values: .contentLength].allSatisfy({ $0 == "0" }) else {
            throw refuse("a request with a body")
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

    /// What a client can speak, best first. What is not a token is left out.
    package static func offeredSubprotocols(in fields: HTTPFields) -> [String] {
        fields[values: .secWebSocketProtocol].flatMap { value in
            value.split(atByte: ",").map { String($0.trimmedOfBlanks) }.filter { HTTPField.Name($0) != nil }
        }
    }
}

extension WebSocketError {
    /// What a server answers when it refuses a handshake (RFC 6455 4.2.2: 426 with the version we speak; RFC 6585 5: 431; else 400).
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
