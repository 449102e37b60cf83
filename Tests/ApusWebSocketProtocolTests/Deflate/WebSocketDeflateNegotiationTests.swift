import ApusWebSocketProtocol
import Testing

@Suite struct WebSocketDeflateNegotiationTests {
    private func accept(_ values: String..., change: (inout WebSocketDeflateConfiguration) -> Void = { _ in }) throws -> String? {
        var configuration = WebSocketDeflateConfiguration()
        change(&configuration)
        return try WebSocketDeflateNegotiation.accept(values, configuration: configuration)?.response
    }

    @Test func offers() {
        var configuration = WebSocketDeflateConfiguration()
        #expect(WebSocketDeflateNegotiation.offer(configuration) == "permessage-deflate; client_max_window_bits")
        configuration.serverNoContextTakeover = true
        configuration.clientNoContextTakeover = true
        configuration.serverMaximumWindowBits = 10
        configuration.clientMaximumWindowBits = 9
        #expect(
            WebSocketDeflateNegotiation.offer(configuration)
                == "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
                + "server_max_window_bits=10; client_max_window_bits=9"
        )
    }

    @Test func theServerGrantsSupportedParameters() throws {
        #expect(try self.accept() == nil)
        #expect(try self.accept("permessage-deflate") == "permessage-deflate")
        #expect(try self.accept("permessage-deflate; client_max_window_bits") == "permessage-deflate")
        #expect(
            try self.accept("permessage-deflate; server_no_context_takeover; server_max_window_bits=9")
                == "permessage-deflate; server_no_context_takeover; server_max_window_bits=9")
        #expect(try self.accept("permessage-deflate; server_max_window_bits=\"12\"") == "permessage-deflate; server_max_window_bits=12")
        #expect(
            try self.accept("permessage-deflate; client_max_window_bits") { $0.clientMaximumWindowBits = 10 }
                == "permessage-deflate; client_max_window_bits=10")
        // Not offered by the client, so the server must not require it.
        #expect(try self.accept("permessage-deflate") { $0.clientMaximumWindowBits = 10 } == "permessage-deflate")
        #expect(
            try self.accept("permessage-deflate") { $0.serverMaximumWindowBits = 11 } == "permessage-deflate; server_max_window_bits=11")
        // The first supported offer, over several fields.
        #expect(
            try self.accept("x-webkit-deflate-frame, permessage-deflate; server_max_window_bits=16", ",, permessage-deflate")
                == "permessage-deflate")
    }

    /// An offer with an invalid, repeated or unknown parameter is declined (docs/hazards.md, 6;
    /// CVE-2026-2229).
    @Test(arguments: [
        "server_max_window_bits=7", "server_max_window_bits=16", "server_max_window_bits=abc", "server_max_window_bits=08",
        "server_max_window_bits=+9", "server_max_window_bits=9999999999999999999999", "server_max_window_bits",
        "client_max_window_bits=7", "client_max_window_bits=16", "server_no_context_takeover=1", "client_no_context_takeover=true",
        "server_no_context_takeover; server_no_context_takeover", "server_max_window_bits=10; server_max_window_bits=10", "unknown",
        "Server_Max_Window_Bits=10",
    ])
    func anOddOfferIsDeclined(parameters: String) throws {
        #expect(try self.accept("permessage-deflate; \(parameters)") == nil)
        #expect(try self.accept("permessage-deflate; \(parameters), permessage-deflate") == "permessage-deflate")
        #expect(throws: WebSocketError.self) {
            try WebSocketDeflateNegotiation.check(["permessage-deflate; \(parameters)"], offered: .init())
        }
    }

    /// A malformed header fails the handshake (RFC 6455 9.1).
    @Test(arguments: [
        ";", "permessage-deflate;", "permessage-deflate; ;", "permessage-deflate; a=", "permessage-deflate; a=\"",
        "permessage-deflate; a=\"b",
        "permessage-deflate; a=\"\"", "permessage-deflate; a=\"b c\"", "permessage deflate", "permessage-deflate; a=b=c", "(x)", "é",
        String(repeating: "a,", count: 65),
    ])
    func aHeaderThatCannotBeRead(value: String) {
        #expect(throws: WebSocketError.self) { try WebSocketDeflateNegotiation.accept([value], configuration: .init()) }
        #expect(throws: WebSocketError.self) { try WebSocketDeflateNegotiation.check([value], offered: .init()) }
    }

    @Test func theClientAcceptsValidResponses() throws {
        var configuration = WebSocketDeflateConfiguration()
        #expect(try WebSocketDeflateNegotiation.check([], offered: configuration) == nil)
        #expect(try WebSocketDeflateNegotiation.check([], offered: nil) == nil)
        let plain = try WebSocketDeflateNegotiation.check(["permessage-deflate"], offered: configuration)
        #expect(plain?.outgoingWindowBits == 15)
        #expect(plain?.outgoingTakesContextOver == true)
        let limited = try WebSocketDeflateNegotiation.check(
            ["permessage-deflate; client_max_window_bits=8; server_no_context_takeover; server_max_window_bits=10"], offered: configuration)
        #expect(limited?.outgoingWindowBits == 8)
        #expect(limited?.incomingWindowBits == 10)
        #expect(limited?.incomingTakesContextOver == false)
        #expect(limited?.outgoingTakesContextOver == true)

        for bad in ["permessage-deflate, permessage-deflate", "x-other", "permessage-deflate; client_max_window_bits"] {
            #expect(throws: WebSocketError.self) { try WebSocketDeflateNegotiation.check([bad], offered: configuration) }
        }
        #expect(throws: WebSocketError.self) { try WebSocketDeflateNegotiation.check(["permessage-deflate"], offered: nil) }
        configuration.serverNoContextTakeover = true
        #expect(throws: WebSocketError.self) { try WebSocketDeflateNegotiation.check(["permessage-deflate"], offered: configuration) }
        configuration.serverNoContextTakeover = false
        configuration.serverMaximumWindowBits = 10
        for bad in ["permessage-deflate", "permessage-deflate; server_max_window_bits=11"] {
            #expect(throws: WebSocketError.self) { try WebSocketDeflateNegotiation.check([bad], offered: configuration) }
        }
    }

    @Test func settingsThatCannotBe() {
        for change: (inout WebSocketDeflateConfiguration) -> Void in [
            { $0.serverMaximumWindowBits = 7 }, { $0.clientMaximumWindowBits = 16 }, { $0.compressionLevel = 10 },
            { $0.compressionLevel = -1 }, { $0.memoryLevel = 0 }, { $0.threshold = -1 },
        ] {
            var configuration = WebSocketDeflateConfiguration()
            change(&configuration)
            #expect(throws: WebSocketError.self) { try configuration.validate() }
        }
    }
}
