/// The negotiation of permessage-deflate.
///
/// Source: RFC 7692 sections 5 and 7.1.
package enum WebSocketDeflateNegotiation {
    /// Returns a client's offer: the value of `Sec-WebSocket-Extensions`.
    package static func offer(_ configuration: WebSocketDeflateConfiguration) -> String {
        self.offered(configuration).encoded
    }

    private static func offered(_ configuration: WebSocketDeflateConfiguration) -> WebSocketDeflateParameters {
        var offer = WebSocketDeflateParameters()
        offer.serverNoContextTakeover = configuration.serverNoContextTakeover
        offer.clientNoContextTakeover = configuration.clientNoContextTakeover
        offer.serverMaximumWindowBits = configuration.serverMaximumWindowBits < 15 ? configuration.serverMaximumWindowBits : nil
        // Always offer the parameter: without it, the server must not request a smaller window. The
        // compressor supports every window.
        offer.clientMaximumWindowBits = configuration.clientMaximumWindowBits < 15 ? .atMost(configuration.clientMaximumWindowBits) : .any
        return offer
    }

    /// Accepts the first offer that the server supports.
    ///
    /// - Parameters:
    ///   - values: The values of the request's `Sec-WebSocket-Extensions`, in order.
    ///   - configuration: The server's configuration.
    /// - Returns: The value of the response's field and the agreement; `nil` if no offer is
    ///   supported, so that the connection is not compressed.
    /// - Throws: ``WebSocketError/Code/malformedHandshake`` if the header is malformed (RFC 6455
    ///   section 9.1).
    package static func accept(
        _ values: [String], configuration: WebSocketDeflateConfiguration
    ) throws(WebSocketError) -> (response: String, agreement: WebSocketDeflateAgreement)? {
        for element in try WebSocketExtension.parse(values) {
            guard let offer = WebSocketDeflateParameters(element, isResponse: false) else { continue }
            var response = WebSocketDeflateParameters()
            response.serverNoContextTakeover = offer.serverNoContextTakeover || configuration.serverNoContextTakeover
            // `client_no_context_takeover` in an offer is a hint that the client will not use its
            // context. The response makes the hint binding, which saves memory.
            response.clientNoContextTakeover = offer.clientNoContextTakeover || configuration.clientNoContextTakeover
            let serverBits = min(offer.serverMaximumWindowBits ?? 15, configuration.serverMaximumWindowBits)
            response.serverMaximumWindowBits = serverBits < 15 || offer.serverMaximumWindowBits != nil ? serverBits : nil
            // RFC 7692 section 7.1.2.2: the response must not contain `client_max_window_bits` if
            // the offer does not contain it. The client then uses the largest window.
            if let offered = offer.clientMaximumWindowBits {
                let clientBits = min(offered.bits ?? 15, configuration.clientMaximumWindowBits)
                response.clientMaximumWindowBits = clientBits < 15 || offered.bits != nil ? .atMost(clientBits) : nil
            }
            return (response.encoded, WebSocketDeflateAgreement(role: .server, parameters: response, configuration: configuration))
        }
        return nil
    }

    /// Validates the server's response.
    ///
    /// - Parameters:
    ///   - values: The values of the response's `Sec-WebSocket-Extensions`.
    ///   - configuration: The offered configuration; `nil` if compression was not offered.
    /// - Returns: The agreement; `nil` if the server declined compression.
    /// - Throws: ``WebSocketError/Code/malformedHandshake`` if the response does not match the
    ///   offer: the client must fail the connection (RFC 7692 section 7.1, RFC 6455 section 9.1).
    package static func check(
        _ values: [String], offered configuration: WebSocketDeflateConfiguration?
    ) throws(WebSocketError) -> WebSocketDeflateAgreement? {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.malformedHandshake, message: message) }
        let elements = try WebSocketExtension.parse(values)
        guard let element = elements.first else { return nil }
        guard let configuration, element.name == WebSocketDeflateParameters.name else {
            throw refuse("the server chose an extension that was not offered")
        }
        guard elements.count == 1 else { throw refuse("the server chose more than one extension") }
        guard let response = WebSocketDeflateParameters(element, isResponse: true) else {
            throw refuse("the server's response has invalid parameters of permessage-deflate")
        }
        // "A server accepts … by including the parameter", with the same or a smaller value.
        guard response.serverNoContextTakeover || !configuration.serverNoContextTakeover else {
            throw refuse("the server does not grant server_no_context_takeover")
        }
        guard response.serverMaximumWindowBits ?? 15 <= configuration.serverMaximumWindowBits else {
            throw refuse("the server does not grant server_max_window_bits=\(configuration.serverMaximumWindowBits)")
        }
        var parameters = response
        // The client applies the parameters that it announced, even if the server does not repeat
        // them.
        parameters.clientNoContextTakeover = response.clientNoContextTakeover || configuration.clientNoContextTakeover
        let clientBits = response.clientMaximumWindowBits?.bits ?? 15
        parameters.clientMaximumWindowBits = .atMost(min(clientBits, configuration.clientMaximumWindowBits))
        return WebSocketDeflateAgreement(role: .client, parameters: parameters, configuration: configuration)
    }
}
