import ApusConnectivity
import ApusTesting
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Testing
import X509

/// Exchanges over the loopback, compared byte by byte.
@Suite(.timeLimit(.minutes(5))) struct HTTPExchangeClientTests {
    private let timeout = Duration.seconds(60)

    private func client(
        _ server: ScriptedHTTPServer, host: String = "127.0.0.1", tls: TLSSettings? = nil,
        _ change: (inout HTTPExchanger.Configuration) -> Void = { _ in }
    ) -> HTTPExchangeClient {
        var configuration = HTTPExchanger.Configuration(
            origin: HTTPOrigin(isSecure: tls != nil, host: host, port: server.port), dialer: Dialer(tls: tls))
        configuration.idleTimeout = .seconds(600)  // so that a busy machine does not end the connection between two requests
        change(&configuration)
        return HTTPExchangeClient(configuration: configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next())
    }

    /// Requests `/` and expects this body.
    private func expect(_ client: HTTPExchangeClient, _ body: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let response = try await client.send(HTTPExchangeRequest(.GET, "/"), timeout: self.timeout)
        #expect(String(buffer: response.body) == body, sourceLocation: sourceLocation)
    }

    /// Returns the code with which a request fails.
    private func failure(
        _ client: HTTPExchangeClient, _ request: HTTPExchangeRequest = HTTPExchangeRequest(.GET, "/"), timeout: Duration = .seconds(60)
    ) async -> ConnectivityError.Code? {
        do {
            _ = try await client.send(request, timeout: timeout)
            return nil
        } catch {
            return (error as? ConnectivityError)?.code
        }
    }

    @Test func requestsAreWrittenAsHTTPWants() async throws {
        try await ScriptedHTTPServer.with { _, _ in
            .ok("hello")
        } _: { server in
            let client = self.client(server)
            var request = HTTPExchangeRequest(.POST, "/a?b=c", headers: ["X-One": "1"], body: ByteBuffer(string: "body"))
            let response = try await client.send(request, timeout: self.timeout)
            #expect(response.status == 200)
            #expect(String(buffer: response.body) == "hello")
            request = HTTPExchangeRequest(.GET, "/", headers: ["Host": "example.com"])
            request.acceptsCompression = false
            _ = try await client.send(request, timeout: self.timeout)
            #expect(
                server.requests == [
                    .init(
                        connection: 1,
                        text: "POST /a?b=c HTTP/1.1\r\nX-One: 1\r\nHost: 127.0.0.1:\(server.port)\r\nAccept-Encoding: gzip, deflate\r\n"
                            + "Content-Length: 4\r\n\r\nbody"),
                    .init(connection: 1, text: "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"),
                ])
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\nabcde",
        "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\nKeep-Alive: timeout=500\r\n\r\nabcde",
    ])
    func answersOfAllFormsKeepTheConnection(answer: String) async throws {
        try await ScriptedHTTPServer.with { _, _ in
            .bytes(answer)
        } _: { server in
            let client = self.client(server) { $0.idleTimeout = .seconds(60) }
            for _ in 0..<3 { try await self.expect(client, "abcde") }
            #expect(server.connections == 1)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n\r\nabcde", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 5\r\n\r\nabcde",
    ])
    func answersThatEndTheConnectionGetANewOne(answer: String) async throws {
        try await ScriptedHTTPServer.with { _, _ in
            .last(answer)
        } _: { server in
            let client = self.client(server)
            for number in 1...3 {
                try await self.expect(client, "abcde")
                #expect(server.connections == number)
            }
        }
    }

    @Test(arguments: [
        (ScriptedHTTPServer.Answer.bytes("nonsense\r\n\r\n"), ConnectivityError.Code.httpProtocol),
        (.bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), .httpProtocol),
        (.bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde"), .httpProtocol),
        (.bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), .httpProtocol),
        (.bytes("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), .httpProtocol),
        (.bytes("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n"), .responseTooLarge),
        (.bytes("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 101)), .responseTooLarge),
        (.bytes("HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 100_000) + "\r\n\r\n"), .httpProtocol),
        (.last("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"), .httpProtocol), (.hangUp, .connectionLost),
    ])
    func badAnswersFailAndAreNotRepeated(answer: ScriptedHTTPServer.Answer, code: ConnectivityError.Code) async throws {
        try await ScriptedHTTPServer.with { _, _ in
            answer
        } _: { server in
            let client = self.client(server) { $0.maximumBodyBytes = 100 }
            var request = HTTPExchangeRequest(.GET, "/")
            request.isRepeatable = true
            #expect(await self.failure(client, request) == code)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: [true, false]) func onlyRepeatableRequestsAreSentAgain(isRepeatable: Bool) async throws {
        try await ScriptedHTTPServer.with { request, number in
            number == 2 ? .hangUp : .ok("\(number) on \(request.connection)")
        } _: { server in
            let client = self.client(server)
            try await self.expect(client, "1 on 1")
            // The connection was used before: the server may have closed it while idle.
            var request = HTTPExchangeRequest(.POST, "/", body: ByteBuffer(string: "x"))
            request.isRepeatable = isRepeatable
            if isRepeatable {
                let response = try await client.send(request, timeout: self.timeout)
                #expect(String(buffer: response.body) == "3 on 2")
            } else {
                #expect(await self.failure(client, request) == .connectionLost)
                #expect(server.requests.count == 2)
            }
        }
    }

    @Test func anUnsolicitedResponseEndsTheConnection() async throws {
        try await ScriptedHTTPServer.with { _, number in
            number == 1 ? .bytes("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb") : .ok("c")
        } _: { server in
            let client = self.client(server)
            try await self.expect(client, "a")
            // The unsolicited response must not be taken for the response to the next request.
            try await self.expect(client, "c")
            #expect(server.connections == 2)
        }
    }

    @Test func noMoreConnectionsThanAllowed() async throws {
        try await ScriptedHTTPServer.with { _, _ in
            .ok("x")
        } _: { server in
            let client = self.client(server)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 { group.addTask { try await self.expect(client, "x") } }
                try await group.waitForAll()
            }
            #expect(server.requests.count == 50)
            #expect(server.connections <= 2)
        }
    }

    @Test func deadlinesAndCancellationCloseTheConnection() async throws {
        try await ScriptedHTTPServer.with { request, _ in
            request.text.hasPrefix("GET /silent") ? .silence : .ok("x")
        } _: { server in
            let client = self.client(server)
            #expect(await self.failure(client, HTTPExchangeRequest(.GET, "/silent/1"), timeout: .milliseconds(50)) == .timeout)
            let waiting = Task { await self.failure(client, HTTPExchangeRequest(.GET, "/silent/2")) }
            while !server.requests.contains(where: { $0.text.hasPrefix("GET /silent/2 ") }) {
                try Task.checkCancellation()
                await Task.yield()
            }
            waiting.cancel()
            #expect(await waiting.value == .cancelled)
            let cancelled = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await self.failure(client)
            }
            #expect(await cancelled.value == .cancelled)
            // The silent connections are not used again.
            try await self.expect(client, "x")
        }
    }

    @Test func aFinishedClientAcceptsNothing() async throws {
        try await ScriptedHTTPServer.with { _, _ in
            .ok("x")
        } _: { server in
            let client = self.client(server)
            try await self.expect(client, "x")
            client.finish()
            #expect(await self.failure(client) == .cancelled)
            while server.openConnections > 0 {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    /// A pending request still receives its response after `finish()`.
    @Test func aFinishedClientReceivesPendingResponses() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        try await ScriptedHTTPServer.with { _, _ in
            .ok("x")
        } _: { server in
            let origin = HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port)
            let body = try await loop.flatSubmit { () -> EventLoopFuture<String> in
                let answer = loop.makePromise(of: String.self)
                let exchanger = HTTPExchanger(configuration: .init(origin: origin, dialer: Dialer(tls: nil)), eventLoop: loop)
                exchanger.send(HTTPExchangeRequest(.GET, "/"), timeout: .seconds(60)) { result in
                    answer.completeWith(result.map { String(buffer: $0.body) }.mapError { $0 })
                }
                exchanger.finish()
                return answer.futureResult
            }.get()
            #expect(body == "x")
        }
    }

    /// The connection of a cancelled request is kept for the next one, with the usual idle timeout.
    @Test func anUnusedConnectionTimesOut() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        try await ScriptedHTTPServer.with { _, _ in
            .silence
        } _: { server in
            let origin = HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port)
            var configuration = HTTPExchanger.Configuration(origin: origin, dialer: Dialer(tls: nil))
            configuration.idleTimeout = .milliseconds(50)
            let box = try await loop.submit { [configuration] in
                let exchanger = HTTPExchanger(configuration: configuration, eventLoop: loop)
                exchanger.cancel(exchanger.send(HTTPExchangeRequest(.GET, "/"), timeout: .seconds(60)) { _ in })
                return NIOLoopBound(exchanger, eventLoop: loop)
            }.get()
            while server.connections == 0 || server.openConnections > 0 {
                try Task.checkCancellation()
                await Task.yield()
            }
            #expect(server.requests.isEmpty)
            _ = box
        }
    }

    @Test func aMissingServerIsReportedImmediately() async {
        // Port 1 has no listener. A port that was just released could belong to another test.
        let configuration = HTTPExchanger.Configuration(
            origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: 1), dialer: Dialer(tls: nil))
        let client = HTTPExchangeClient(configuration: configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next())
        #expect(await self.failure(client) == .connectFailed)
    }

    // MARK: TLS and proxies

    @Test func certificatesAreVerified() async throws {
        let authority = try TestCertificate("An authority", isAuthority: true)
        let certificate = try TestCertificate("A server", issuer: authority)
        let other = try TestCertificate("Another", names: [.dnsName("example.com")], issuer: authority)
        let trust = TLSSettings.trusting(authoritiesPEM: try authority.pem)
        let pin = try #require(CertificateFingerprint(bytes: try certificate.digest))
        let wrongPin = try #require(CertificateFingerprint(bytes: try other.digest))
        func outcome(_ shown: TestCertificate, _ settings: TLSSettings) async throws -> ConnectivityError.Code? {
            try await ScriptedHTTPServer.with(tls: try shown.serverConfiguration()) { _, _ in
                .ok("x")
            } _: { server in
                let code = await self.failure(self.client(server, host: "localhost", tls: settings))
                // No application data before the certificate is verified (docs/hazards.md, 19).
                #expect(server.requests.isEmpty == (code != nil))
                return code
            }
        }
        #expect(try await outcome(certificate, trust) == nil)
        #expect(try await outcome(certificate, .pinned(pin)) == nil)
        #expect(try await outcome(certificate, .pinned(wrongPin)) == .pinMismatch)
        #expect(try await outcome(certificate, .system) == .certificateUntrusted)
        #expect(try await outcome(other, trust) == .hostNameMismatch)
        #expect(try await outcome(other, TLSSettings(verification: trust.verification, serverName: "example.com")) == nil)
    }

    @Test func requestsGoThroughProxies() async throws {
        let credentials = ProxySettings.Credentials(username: "alice", password: "secret")
        let connect =
            "CONNECT server.example:443 HTTP/1.1\r\nHost: server.example:443\r\nProxy-Authorization: Basic YWxpY2U6c2VjcmV0\r\n\r\n"
        let authority = try TestCertificate("An authority", isAuthority: true)
        let certificate = try TestCertificate("A server", names: [.dnsName("server.example")], issuer: authority)
        let socks: [ScriptedProxy.Step] = [
            .init([5, 2, 0, 2], [5, 2]), .init([1, 5] + Array("alice".utf8) + [6] + Array("secret".utf8), [1, 0]),
            .init([5, 1, 0, 3, 14] + Array("server.example".utf8) + [1, 187], [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
        ]
        for (steps, isSOCKS) in [([ScriptedProxy.Step(connect, "HTTP/1.1 200 OK\r\n\r\n")], false), (socks, true)] {
            let tls = TLSSettings(verification: .onlyAuthorities(pem: try authority.pem))
            try await ScriptedHTTPServer.with(tls: try certificate.serverConfiguration(), prelude: steps) { _, _ in
                .ok("x")
            } _: { server in
                let client = self.client(server, tls: tls) {
                    $0.origin = HTTPOrigin(isSecure: true, host: "server.example")
                    $0.dialer.proxy =
                        isSOCKS
                        ? .socks5(host: "127.0.0.1", port: server.port, credentials: credentials)
                        : .httpConnect(host: "127.0.0.1", port: server.port, credentials: credentials)
                }
                try await self.expect(client, "x")
                try await self.expect(client, "x")
                #expect(server.connections == 1)
            }
        }
    }

    @Test func aRefusalOfTheProxyIsReported() async throws {
        let step = ScriptedProxy.Step(
            "CONNECT server.example:80 HTTP/1.1\r\nHost: server.example:80\r\n\r\n",
            "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        try await ScriptedHTTPServer.with(prelude: [step]) { _, _ in
            .ok("x")
        } _: { server in
            let client = self.client(server) {
                $0.origin = HTTPOrigin(isSecure: false, host: "server.example")
                $0.dialer.proxy = .httpConnect(host: "127.0.0.1", port: server.port)
            }
            #expect(await self.failure(client) == .proxyAuthentication)
            #expect(server.requests == [])
        }
    }

    @Test func unixSocketsAndLocalAddresses() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UInt32.random(in: 0 ... .max)).sock").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await ScriptedHTTPServer.with(at: try SocketAddress(unixDomainSocketPath: path)) { _, _ in
            .ok("x")
        } _: { server in
            let client = self.client(server) {
                $0.origin = HTTPOrigin(isSecure: false, host: "example.com")
                $0.target = .unixSocket(path: path)
            }
            try await self.expect(client, "x")
            #expect(server.requests.first?.text.contains("Host: example.com\r\n") == true)
        }
        try await ScriptedHTTPServer.with { _, _ in
            .ok("x")
        } _: { server in
            let wrong = self.client(server) { $0.dialer.localAddress = "no address" }
            #expect(await self.failure(wrong) == .invalidConfiguration)
            let right = self.client(server) { $0.dialer.localAddress = "127.0.0.1" }
            try await self.expect(right, "x")
        }
    }
}
