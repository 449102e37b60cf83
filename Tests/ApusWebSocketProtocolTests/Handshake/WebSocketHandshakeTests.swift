import ApusWebSocketProtocol
import HTTPTypes
import Testing

@Suite struct WebSocketHandshakeTests {
    private func request(_ change: (inout HTTPRequest) -> Void = { _ in }) -> HTTPRequest {
        var request = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/")
        request.headerFields[.upgrade] = "WebSocket"
        request.headerFields[.connection] = "keep-alive, Upgrade"
        request.headerFields[.secWebSocketKey] = "dGhlIHNhbXBsZSBub25jZQ=="
        request.headerFields[.secWebSocketVersion] = "13"
        change(&request)
        return request
    }

    @Test func theExampleOfTheSpecification() throws {
        let fields = try WebSocketHandshake.respond(to: self.request())
        #expect(fields[.secWebSocketAccept] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(fields[.upgrade] == "websocket")
        #expect(fields[.connection] == "Upgrade")
    }

    @Test func invalidRequestsAreRefused() {
        let changes: [(inout HTTPRequest) -> Void] = [
            { $0.method = .post }, { $0.headerFields[.upgrade] = nil }, { $0.headerFields[.upgrade] = "websockets" },
            { $0.headerFields[.connection] = "keep-alive" }, { $0.headerFields[.secWebSocketKey] = nil },
            { $0.headerFields[.upgrade] = "websoc\u{212A}et" }, { $0.headerFields[.upgrade] = "websocket\u{301}" },
            { $0.headerFields[.secWebSocketKey] = "dGhlIHNhbXBsZSBub25jZQ=" }, { $0.headerFields[.secWebSocketKey] = "AAAA" },
            { $0.headerFields[values: .secWebSocketKey] = ["dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ=="] },
        ]
        for change in changes {
            let error = #expect(throws: WebSocketError.self) { try WebSocketHandshake.respond(to: self.request(change)) }
            #expect(error?.code == .malformedHandshake)
            #expect(error?.handshakeResponse.status == .badRequest)
        }
        let old = #expect(throws: WebSocketError.self) {
            try WebSocketHandshake.respond(to: self.request { $0.headerFields[.secWebSocketVersion] = "8" })
        }
        #expect(old?.code == .unsupportedVersion)
        #expect(old?.handshakeResponse.status.code == 426)
        #expect(old?.handshakeResponse.headerFields[.secWebSocketVersion] == "13")
    }

    @Test func theFirstCommonSubprotocolIsChosen() throws {
        let request = self.request { $0.headerFields[.secWebSocketProtocol] = "b, a" }
        #expect(try WebSocketHandshake.respond(to: request, protocols: ["a", "b"])[.secWebSocketProtocol] == "a")
        #expect(try WebSocketHandshake.respond(to: request, protocols: ["c"])[.secWebSocketProtocol] == nil)
    }

    @Test func clientAndServerUnderstandEachOther() throws {
        let key = WebSocketHandshake.key(fromRandom: 1, 2)
        let request = try WebSocketHandshake.request(to: WebSocketURL("ws://a:1/x?y"), headers: [.cookie: "c"], key: key)
        #expect(request.path == "/x?y")
        #expect(request.authority == "a:1")
        #expect(request.headerFields[.cookie] == "c")
        var response = HTTPResponse(status: .switchingProtocols)
        response.headerFields = try WebSocketHandshake.respond(to: request)
        try WebSocketHandshake.check(response, to: request)

        let changes: [(inout HTTPResponse) -> Void] = [
            { $0.status = .ok }, { $0.headerFields[.upgrade] = nil }, { $0.headerFields[.connection] = nil },
            { $0.headerFields[.secWebSocketAccept] = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" },
            { $0.headerFields[.secWebSocketExtensions] = "permessage-deflate" }, { $0.headerFields[.secWebSocketProtocol] = "x" },
        ]
        for change in changes {
            var changed = response
            change(&changed)
            #expect(throws: WebSocketError.self) { try WebSocketHandshake.check(changed, to: request) }
        }
    }

    @Test func subprotocolAndCompressionAreSettled() throws {
        let deflate = WebSocketDeflateConfiguration()
        let request = try WebSocketHandshake.request(
            to: WebSocketURL("ws://a/"), headers: [:], subprotocols: ["a", "b"], deflate: deflate,
            key: WebSocketHandshake.key(fromRandom: 1, 2))
        #expect(request.headerFields[.secWebSocketProtocol] == "a, b")
        let (fields, agreement) = try WebSocketHandshake.accept(request, deflate: deflate) { offered in
            #expect(offered == ["a", "b"])
            return "b"
        }
        #expect(agreement.subprotocol == "b")
        #expect(agreement.deflate != nil)
        let ours = try WebSocketHandshake.check(
            HTTPResponse(status: .switchingProtocols, headerFields: fields), to: request, deflate: deflate)
        #expect(ours.subprotocol == "b")
        #expect(ours.deflate == agreement.deflate)  // symmetric with the defaults
        #expect(try WebSocketHandshake.accept(request).agreement == WebSocketAgreement())
        #expect(try WebSocketHandshake.accept(request) { _ in "c" }.agreement.subprotocol == nil)
        for (offered, other) in [("K", "\u{212A}"), ("a", "A"), ("`", "\u{1FEF}")] {
            // Subprotocols are compared byte by byte, including case.
            let request = self.request { $0.headerFields[.secWebSocketProtocol] = offered }
            var (fields, agreement) = try WebSocketHandshake.accept(request) { _ in other }
            #expect(agreement.subprotocol == nil)
            fields[.secWebSocketProtocol] = other
            let error = #expect(throws: WebSocketError.self) {
                try WebSocketHandshake.check(HTTPResponse(status: .switchingProtocols, headerFields: fields), to: request)
            }
            #expect(error?.message == "the server must choose exactly one of the offered subprotocols, not \"\(other)\"")
        }
        for bad in [["a", "a"], [""], ["a b"], ["a,b"], ["a\r\nX: y"]] {
            #expect(throws: WebSocketError.self) {
                try WebSocketHandshake.request(to: WebSocketURL("ws://a/"), headers: [:], subprotocols: bad, key: "k")
            }
        }
    }

    /// The limits of number and size of the fields, each at the limit and above it
    /// (docs/hazards.md, 7).
    @Test(arguments: [(96, 0, true), (97, 0, false), (1, 66, false), (1, 65, true)])
    func headersHaveBounds(count: Int, length: Int, accepted: Bool) throws {
        var limits = WebSocketLimits()
        limits.maximumHeaderBytes = length == 0 ? 1 << 20 : 180
        let request = self.request { request in
            for _ in 0..<count {
                request.headerFields.append(HTTPField(name: .cookie, value: String(repeating: "x", count: length)))
            }
        }
        let error: WebSocketError?
        do throws(WebSocketError) {
            _ = try WebSocketHandshake.accept(request, limits: limits)
            error = nil
        } catch let refusal { error = refusal }
        #expect((error == nil) == accepted)
        if let error {
            #expect(error.code == .headersTooLarge)
            #expect(error.handshakeResponse.status.code == 431)
        }
    }

    @Test func aRequestWithABodyIsRefused() {  // docs/hazards.md, 8
        for change: (inout HTTPRequest) -> Void in [
            { $0.headerFields[.transferEncoding] = "chunked" }, { $0.headerFields[.contentLength] = "5" },
            {
                $0.headerFields[.transferEncoding] = "chunked"
                $0.headerFields[.contentLength] = "0"
            },
        ] {
            #expect(throws: WebSocketError.self) { try WebSocketHandshake.accept(self.request(change)) }
        }
    }

    @Test(arguments: [HTTPField.Name.upgrade, .connection, .secWebSocketKey, .contentLength, .transferEncoding])
    func aFieldOfTheHandshakeCannotBeSet(name: HTTPField.Name) throws {
        let url = try WebSocketURL("ws://a/")
        let error = #expect(throws: WebSocketError.self) { try WebSocketHandshake.request(to: url, headers: [name: "x"], key: "k") }
        #expect(error?.code == .invalidURL)
    }

    @Test func noFieldContainsAnother() throws {
        let request = try WebSocketHandshake.request(
            to: WebSocketURL("ws://a/"), headers: [.cookie: "1\r\nOrigin: b\0"], key: "k")
        #expect(request.headerFields[.cookie]?.utf8.contains { [0, 10, 13].contains($0) } == false)
        #expect(request.headerFields[.origin] == nil)
    }

    @Test func hostReplacesTheAuthorityOfTheURL() throws {
        let host = try #require(HTTPField.Name("Host"))
        let request = try WebSocketHandshake.request(to: WebSocketURL("ws://a/"), headers: [host: "b"], key: "k")
        #expect(request.authority == "b" && !request.headerFields.contains(host))
    }

    @Test func addresses() throws {
        let url = try WebSocketURL("wss://[::1]:9443/a/b?c=d")
        #expect(url.isSecure && url.host == "::1" && url.port == 9443 && url.requestTarget == "/a/b?c=d" && url.authority == "[::1]:9443")
        let short = try WebSocketURL("WS://Example.com?x")
        #expect(!short.isSecure && short.port == 80 && short.requestTarget == "/?x" && short.authority == "Example.com")
        for bad in [
            "", "ws:/a", "ftp://a", "ws://", "ws://:80", "ws://a:0", "ws://a:65536", "ws://a:+1", "ws://a#f", "ws://u:p@a", "ws://a/ b",
            "ws://a/\r\nb", "ws://[::1", "ws://[::1]x",
        ] {
            #expect(throws: WebSocketError.self) { try WebSocketURL(bad) }
        }
    }
}
