import ApusChatSQLite
import ApusJSON
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatServer

@Suite(.timeLimit(.minutes(5))) struct ChatServerTests {
    @Test func aUserRegistersAndAsksOverHTTP() async throws {
        try await RunningServer.with { server in
            let registered = try await server.http.post("/api/register", RunningServer.registration)
            #expect(registered.status == 200)
            let token = try #require(try registered.json()["access"]?.stringValue)
            let answer = try await server.http.post("/api/chat/anything", "{}", ["Authorization": "Bearer " + token])
            #expect(try answer.json()["verb"] == "anything")
        }
    }

    @Test func aServerThatCannotWriteIsAliveAndNotReady() async throws {
        try await RunningServer.with({ $0.metricsPort = 0 }) { server in
            #expect(try await server.http.get("/ready").status == 200)
            server.chat?.failure.withLockedValue { $0 = "The disk is full." }
            for address in [server.http, server.metrics] {
                let health = try await address.get("/health")
                #expect(health.status == 200)
                #expect(try health.json()["status"] == "read_only")
            }
            let answer = try await server.http.get("/ready")
            #expect(answer.status == 503)
            #expect(try answer.json()["status"] == "read_only")
            #expect(try await server.metrics.get("/ready").status == 503)
            #expect(try await server.metrics.get("/metrics").body.contains("\napus_chat_writable 0\n"))
        }
    }

    @Test func theMetricsCountAnswers() async throws {
        try await RunningServer.with({ $0.metricsPort = 0 }) { server in
            _ = try await server.http.get("/health")
            _ = try await server.http.get("/missing")
            let text = try await server.metrics.get("/metrics").body
            #expect(text.contains("\napus_chat_http_responses_total{status=\"2xx\"} 1\n"))
            #expect(text.contains("\napus_chat_http_responses_total{status=\"4xx\"} 1\n"))
            #expect(text.contains("\napus_chat_http_response_seconds_count 2\n"))
            // The listener of the chat does not serve the metrics.
            #expect(try await server.http.get("/metrics").status == 404)
        }
    }

    @Test func theLogClosesAfterTheConnectionsAndReleasesTheFolder() async throws {
        try await RunningServer.with { server in
            _ = try await server.http.post("/api/register", RunningServer.registration)
            #expect(throws: (any Error).self) { try ChatFolder(server.folder) }
            try await server.stop()
            #expect(server.chat?.events.withLockedValue { $0 } == ["attach", "announce", "close"])
        }
    }

    @Test func aSecondServerOnTheFolderIsRefused() async throws {
        try await RunningServer.with { server in
            let second = ChatServer(configuration: .init(dataFolder: server.folder, port: 0, tls: .off)) { folder, _, _ in
                try StubChat(folder)
            }
            await #expect { try await second.run() } throws: { ($0 as? ChatServerError)?.code == .dataFolder }
        }
    }

    @Test func aTakenPortIsNamed() async throws {
        try await RunningServer.with { server in
            let configuration = ChatServerConfiguration(dataFolder: server.folder + "2", port: server.http.port, tls: .off)
            let second = ChatServer(configuration: configuration) { folder, _, _ in try StubChat(folder) }
            await #expect { try await second.run() } throws: { error in
                (error as? ChatServerError)?.code == .addressInUse && (error as? ChatServerError)?.port == server.http.port
            }
        }
    }

    @Test func theAddressWithTLSHasTheFingerprintOfItsCertificate() async throws {
        try await RunningServer.with({ $0.tls = .selfSigned(port: 0) }) { server in
            let schemes = server.addresses.map(\.scheme)
            #expect(schemes == ["http", "https"])
            let haveCertificates = server.addresses.map { $0.certificate != nil }
            #expect(haveCertificates == [false, true])
        }
    }

    // MARK: Proxies

    private func address(_ server: RunningServer, through proxy: RawHTTP, _ headers: [String: String] = [:]) async throws -> String? {
        let registered = try await proxy.post("/api/register", RunningServer.registration, headers)
        let token = try #require(try registered.json()["access"]?.stringValue)
        let answer = try await proxy.get("/api/sessions", headers.merging(["Authorization": "Bearer " + token]) { $1 })
        return try answer.json()["devices"]?.arrayValue?.first?["address"]?.stringValue
    }

    @Test func aTrustedProxyReportsTheAddressOfAClient() async throws {
        try await RunningServer.with({ $0.proxies = .init(networks: ["127.0.0.1"]) }) { server in
            let address = try await self.address(server, through: server.http, ["X-Forwarded-For": "203.0.113.9, 198.51.100.7"])
            #expect(address == "198.51.100.7")
        }
    }

    @Test func theFieldOfAClientIsNotReadWithoutAProxy() async throws {
        try await RunningServer.with { server in
            let address = try await self.address(server, through: server.http, ["X-Forwarded-For": "198.51.100.7"])
            #expect(address == "127.0.0.1")
        }
    }

    @Test func aPROXYHeaderReportsTheAddressAndOverridesTheFields() async throws {
        try await RunningServer.with({ $0.proxies = .init(networks: ["127.0.0.1"], source: .proxyProtocol) }) { server in
            var proxy = server.http
            proxy.prefix = "PROXY TCP4 198.51.100.7 192.0.2.2 56324 443\r\n"
            let address = try await self.address(server, through: proxy, ["X-Forwarded-For": "203.0.113.9"])
            #expect(address == "198.51.100.7")
        }
    }

    @Test func aConnectionWithoutThePROXYHeaderIsClosed() async throws {
        try await RunningServer.with({ $0.proxies = .init(networks: ["127.0.0.1"], source: .proxyProtocol) }) { server in
            let answer = try await RawHTTP.exchange("GET /health HTTP/1.1\r\nHost: a\r\n\r\n", port: server.http.port)
            #expect(answer.readableBytes == 0)
        }
    }

    @Test func aPeerThatIsNotAProxyIsClosed() async throws {
        try await RunningServer.with({ $0.proxies = .init(networks: ["192.0.2.1"], source: .proxyProtocol) }) { server in
            let answer = try? await RawHTTP.exchange("PROXY UNKNOWN\r\nGET /health HTTP/1.1\r\nHost: a\r\n\r\n", port: server.http.port)
            #expect(answer?.readableBytes ?? 0 == 0)
        }
    }
}
