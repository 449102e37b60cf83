import ApusConnectivity
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import ApusSocketIOServer
import ApusTesting
import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOSSL
import Testing
import X509

/// The transports of the client with an Apus server: cookies, headers, fallback, compression and
/// TLS.
@Suite(.timeLimit(.minutes(5))) struct ClientTransportTests {
    private let seconds = Duration.seconds(60)

    /// The requests that a server received, in order.
    private final class Requests: Sendable {
        private let seen = NIOLockedValueBox<[HTTPRequest]>([])

        var all: [HTTPRequest] { self.seen.withLockedValue { $0 } }
        /// The requests that open a session.
        var handshakes: [HTTPRequest] { self.all.filter { $0.path?.contains("sid=") == false } }

        func append(_ request: HTTPRequest) { self.seen.withLockedValue { $0.append(request) } }
    }

    /// Runs a server while `body` runs.
    private func withServer(
        certificate: TestCertificate? = nil, _ configure: (inout SocketIOServerConfiguration) -> Void = { _ in },
        _ body: (_ port: Int, _ requests: Requests) async throws -> Void
    ) async throws {
        let requests = Requests()
        var configuration = SocketIOServerConfiguration()
        configuration.engine.headers = { _, request in requests.append(request) }
        configure(&configuration)
        let server = SocketIOServer(configuration: configuration)
        server.namespace("/").onConnection { socket in
            socket.on("ack") { (event: SocketIOReceivedEvent) in event.acknowledge(values: event.arguments) }
        }
        let tls = try certificate.map {
            TLSServerSettings(identity: TLSIdentity(certificateChainPEM: try $0.pem, privateKeyPEM: $0.keyPEM))
        }
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let running = Task {
            try await server.run(host: "127.0.0.1", port: 0, tls: tls) { address in found.yield(address.port ?? 0) }
        }
        defer { running.cancel() }
        let port = try #require(await ports.first { _ in true })
        try await body(port, requests)
        running.cancel()
        try await running.value
    }

    private func manager(
        _ port: Int, _ way: Way = .upgrade, secure: Bool = false, _ configure: (inout EngineIOClientConfiguration) -> Void = { _ in }
    ) -> SocketIOManager {
        var configuration = way.configuration()
        configure(&configuration.engine)
        return SocketIOManager(url: "\(secure ? "https" : "http")://127.0.0.1:\(port)", configuration: configuration)
    }

    /// Connects, waits for an upgrade if there is one, and disconnects.
    private func visit(_ socket: SocketIOClient, upgrades: Bool = true) async throws {
        let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
        try await socket.connect(timeout: self.seconds)
        if upgrades { for await event in lifecycle { if case .upgrade = event { break } } }
        #expect(try await socket.emitWithAck("ack", "here", timeout: self.seconds, as: String.self) == "here")
        socket.disconnect()
        for await state in socket.states(bufferingPolicy: .unbounded) where state == .disconnected { break }
    }

    // MARK: Cookies and headers

    @Test(arguments: [true, false]) func aCookieStaysWithTheClient(keeps: Bool) async throws {
        try await self.withServer {
            $0.engine.cookie = EngineIOCookie()
        } _: { port, requests in
            let socket = self.manager(port) {
                $0.keepsCookies = keeps
                $0.cookies = ["own": "1"]
            }.defaultSocket
            try await self.visit(socket)
            let first = requests.all
            #expect(first.first?.headerFields[.cookie] == "own=1")
            // The WebSocket request contains the cookie from polling, so that a load balancer
            // selects the same server.
            #expect(first.contains { $0.path?.contains("transport=websocket") == true })
            for request in first.dropFirst() {
                #expect(request.headerFields[.cookie]?.hasPrefix(keeps ? "own=1; io=" : "own=1") == true)
                #expect(request.headerFields[.cookie]?.contains("io=") == keeps)
            }
            try await self.visit(socket)
            let handshake = try #require(requests.handshakes.last)
            #expect(handshake.headerFields[.cookie]?.contains("io=") == keeps)
        }
    }

    @Test(arguments: [Way.polling, .webSocket]) func everyAttemptIsPrepared(way: Way) async throws {
        try await self.withServer { port, requests in
            let attempts = NIOLockedValueBox(0)
            let socket = self.manager(port, way) {
                $0.query = ["fixed": "yes"]
                $0.prepareAttempt = { attempt in
                    let number = attempts.withLockedValue { count in
                        count += 1
                        return count
                    }
                    attempt.query["number"] = String(number)
                    attempt.headers[.ifMatch] = String(number)
                }
            }.defaultSocket
            try await self.visit(socket, upgrades: false)
            try await self.visit(socket, upgrades: false)
            #expect(requests.handshakes.count == 2)
            for (index, request) in requests.handshakes.enumerated() {
                #expect(request.path?.contains("fixed=yes&number=\(index + 1)&") == true)
                #expect(request.headerFields[.ifMatch] == String(index + 1))
            }
        }
    }

    @Test func anAttemptThatCannotBePreparedFails() async throws {
        struct NoToken: Error {}
        try await self.withServer { port, requests in
            let socket = self.manager(port) { $0.prepareAttempt = { _ in throw NoToken() } }.defaultSocket
            let error = await #expect(throws: SocketIOError.self) { try await socket.connect(timeout: self.seconds) }
            #expect(Self.causes(of: error).contains { $0 is NoToken })
            #expect(requests.all.isEmpty)
        }
    }

    // MARK: Selection of the transport

    @Test(arguments: [true, false]) func anUpgradeIsRemembered(remembers: Bool) async throws {
        try await self.withServer { port, requests in
            let socket = self.manager(port) { $0.rememberUpgrade = remembers }.defaultSocket
            try await self.visit(socket)
            try await self.visit(socket, upgrades: !remembers)
            let transports = requests.handshakes.map { $0.path?.contains("transport=websocket") == true }
            #expect(transports == [false, remembers])
        }
    }

    @Test(arguments: [(EngineIOTransport.webSocket, Way.upgrade), (.polling, .webSocket)], [true, false])
    func theNextTransportIsTried(offer: (transport: EngineIOTransport, way: Way), triesAll: Bool) async throws {
        try await self.withServer {
            $0.engine.transports = [offer.transport]
        } _: { port, requests in
            let socket = self.manager(port) {
                $0.transports = offer.way == .webSocket ? [.webSocket, .polling] : [.polling, .webSocket]
                $0.tryAllTransports = triesAll
            }.defaultSocket
            if triesAll {
                try await self.visit(socket, upgrades: false)
            } else {
                await #expect(throws: SocketIOError.self) { try await socket.connect(timeout: self.seconds) }
            }
        }
    }

    @Test func withoutUpgradesPollingCarriesOn() async throws {
        try await self.withServer { port, requests in
            try await self.visit(self.manager(port) { $0.upgrade = false }.defaultSocket, upgrades: false)
            #expect(!requests.all.contains { $0.path?.contains("transport=websocket") == true })
        }
    }

    // MARK: Compression and latency

    @Test(arguments: Way.allCases, [true, false]) func longTextsAreCompressedAndEchoed(way: Way, compresses: Bool) async throws {
        try await self.withServer {
            $0.engine.perMessageDeflate = WebSocketDeflateConfiguration()
        } _: { port, requests in
            let socket = self.manager(port, way) { if !compresses { $0.compression = nil } }.defaultSocket
            try await socket.connect(timeout: self.seconds)
            let text = String(repeating: "在吗 hello ", count: 20_000)
            for _ in 0..<3 {
                let plain = try await socket.compress(false).emitWithAck("ack", arguments: [.string(text)], timeout: self.seconds)
                #expect(plain == [.string(text)])
                let answer = try await socket.emitWithAck("ack", text, timeout: self.seconds, as: String.self)
                #expect(answer == text)
            }
            let offered = requests.all.contains { $0.headerFields[.secWebSocketExtensions]?.contains("permessage-deflate") == true }
            #expect(offered == (compresses && way != .polling))
            socket.disconnect()
        }
    }

    @Test(arguments: Way.allCases) func theRoundTripTimeIsMeasured(way: Way) async throws {
        try await self.withServer {
            $0.engine.pingInterval = .milliseconds(100)
        } _: { port, _ in
            let manager = self.manager(port, way)
            let socket = manager.defaultSocket
            let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
            try await socket.connect(timeout: self.seconds)
            for await event in lifecycle {
                // The round-trip time of a heartbeat is known at the next one.
                guard case .pong = event, let latency = manager.latency else { continue }
                #expect(latency > .zero)
                break
            }
            socket.disconnect()
        }
    }

    // MARK: Proxies

    @Test(arguments: Way.allCases, [RelayProxy.Kind.httpConnect, .socks5])
    func everyTransportGoesThroughTheProxy(way: Way, kind: RelayProxy.Kind) async throws {
        try await self.withServer { port, requests in
            let proxy = try await RelayProxy(kind, to: port, username: "alice", password: "secret")
            func socket(password: String) -> SocketIOClient {
                // Only the proxy can resolve the name of the server.
                var configuration = way.configuration()
                let credentials = ProxySettings.Credentials(username: "alice", password: password)
                configuration.engine.proxy =
                    kind == .socks5
                    ? .socks5(host: "127.0.0.1", port: proxy.port, credentials: credentials)
                    : .httpConnect(host: "127.0.0.1", port: proxy.port, credentials: credentials)
                return SocketIOManager(url: "http://server.invalid:3000", configuration: configuration).defaultSocket
            }
            await #expect(throws: SocketIOError.self) { try await socket(password: "wrong").connect(timeout: self.seconds) }
            #expect(requests.all.isEmpty)
            try await self.visit(socket(password: "secret"), upgrades: way == .upgrade)
            #expect(requests.all.allSatisfy { $0.authority == "server.invalid:3000" })
            await proxy.close()
        }
    }

    // MARK: TLS

    /// Returns the error and its causes.
    private static func causes(of error: (any Error)?) -> [any Error] {
        var causes: [any Error] = []
        var next = error
        while let error = next {
            causes.append(error)
            next =
                (error as? SocketIOError)?.cause ?? (error as? EngineIOError)?.cause ?? (error as? WebSocketError)?.cause
                ?? (error as? ConnectivityError)?.cause
        }
        return causes
    }

    @Test(arguments: Way.allCases) func certificatesAreCheckedOverEveryTransport(way: Way) async throws {
        let authority = try TestCertificate("An authority", isAuthority: true)
        let certificate = try TestCertificate("A server", names: [.dnsName("example.com")], issuer: authority)
        let pin = try #require(CertificateFingerprint(bytes: try certificate.digest))
        let wrongPin = try #require(CertificateFingerprint(bytes: try TestCertificate("Another").digest))
        let trust = TLSSettings.Verification.onlyAuthorities(pem: try authority.pem)
        try await self.withServer(certificate: certificate) { port, requests in
            func outcome(_ tls: TLSSettings) async -> ConnectivityError.Code? {
                let socket = self.manager(port, way, secure: true) { $0.tls = tls }.defaultSocket
                do {
                    try await socket.connect(timeout: self.seconds)
                    socket.disconnect()
                    return nil
                } catch {
                    return Self.causes(of: error).lazy.compactMap { ($0 as? ConnectivityError)?.code }.first ?? .cancelled
                }
            }
            #expect(await outcome(.pinned(wrongPin)) == .pinMismatch)
            #expect(await outcome(.system) == .certificateUntrusted)
            #expect(await outcome(TLSSettings(verification: trust)) == .hostNameMismatch)
            // No data is sent to a server that was not verified (docs/hazards.md, 19).
            #expect(requests.all.isEmpty)
            #expect(await outcome(.pinned(pin)) == nil)
            #expect(await outcome(TLSSettings(verification: trust, serverName: "example.com")) == nil)
            #expect(!requests.all.isEmpty)
        }
    }
}
