import ApusConnectivity
import ApusTesting
import NIOSSL
import Testing
import X509

@Suite(.timeLimit(.minutes(5))) struct DialerProxyTests {
    private typealias Step = ScriptedProxy.Step

    private let authority: TestCertificate

    init() throws { self.authority = try TestCertificate("An authority", isAuthority: true) }

    /// Returns settings that trust the authority, and the configuration of a server with its
    /// certificate.
    private func tls(_ names: GeneralName...) throws -> (TLSSettings, TLSConfiguration) {
        let certificate = try TestCertificate("A server", names: names, issuer: self.authority)
        return (TLSSettings(verification: .onlyAuthorities(pem: try self.authority.pem)), try certificate.serverConfiguration())
    }

    private func expect(
        _ outcome: (String?, ConnectivityError.Code?), _ text: String?, _ code: ConnectivityError.Code?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(outcome.0 == text, sourceLocation: sourceLocation)
        #expect(outcome.1 == code, sourceLocation: sourceLocation)
    }

    private static let credentials = ProxySettings.Credentials(username: "alice", password: "secret")
    private static let connect = "CONNECT server.example:443 HTTP/1.1\r\nHost: server.example:443\r\n"

    /// Connects to `server.example:443` through a proxy, and returns the greeting or the code of
    /// the failure.
    private func outcome(
        _ steps: [Step], socks: Bool = false, credentials: ProxySettings.Credentials? = nil, tls: (TLSSettings, TLSConfiguration)? = nil,
        host: String = "server.example", deadline: Duration = .seconds(60)
    ) async throws -> (String?, ConnectivityError.Code?) {
        let proxy = try await ScriptedProxy(steps, tls: tls?.1)
        var dialer = Dialer(tls: tls?.0)
        dialer.connectTimeout = deadline
        dialer.proxy =
            socks
            ? .socks5(host: "127.0.0.1", port: proxy.port, credentials: credentials)
            : .httpConnect(host: "127.0.0.1", port: proxy.port, credentials: credentials)
        let outcome: (String?, ConnectivityError.Code?)
        do {
            outcome = (try await greeting(dialer, .host(host, port: 443)), nil)
        } catch let error as ConnectivityError {
            outcome = (nil, error.code)
        } catch {
            await proxy.close()
            throw error
        }
        await proxy.close()
        return outcome
    }

    @Test func HTTPConnectWithCredentials() async throws {
        let steps = [
            Step(Self.connect + "Proxy-Authorization: Basic YWxpY2U6c2VjcmV0\r\n\r\n", "HTTP/1.1 200 Connection established\r\n\r\n")
        ]
        self.expect(try await self.outcome(steps, credentials: Self.credentials), TestServer.greeting, nil)
    }

    @Test func HTTPConnectWithTheServersFirstBytesInTheSameRead() async throws {
        let outcome = try await self.outcome([Step(Self.connect + "\r\n", "HTTP/1.1 200 OK\r\n\r\nearly ")])
        #expect(outcome.0?.hasPrefix("early ") == true)
        #expect(outcome.1 == nil)
    }

    @Test func TLSThroughAProxyVerifiesTheServerAndNotTheProxy() async throws {
        let steps = [Step(Self.connect + "\r\n", "HTTP/1.0 200 Fine\r\n\r\n")]
        self.expect(try await self.outcome(steps, tls: try self.tls(.dnsName("server.example"))), TestServer.greeting, nil)
        self.expect(try await self.outcome(steps, tls: try self.tls(.dnsName("localhost"), .loopback)), nil, .hostNameMismatch)
        // The certificate contains the proxy's address, but not the server's.
        let byAddress = [Step("CONNECT 10.1.2.3:443 HTTP/1.1\r\nHost: 10.1.2.3:443\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n")]
        self.expect(try await self.outcome(byAddress, tls: try self.tls(.loopback), host: "10.1.2.3"), nil, .hostNameMismatch)
    }

    @Test func bytesBeforeTLSAreNotTheServers() async throws {
        let steps = [Step(Self.connect + "\r\n", "HTTP/1.1 200 OK\r\n\r\ninjected")]
        self.expect(try await self.outcome(steps, tls: try self.tls(.dnsName("server.example"))), nil, .proxyProtocol)
    }

    @Test(arguments: [
        ("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 2\r\n\r\nno", ConnectivityError.Code.proxyAuthentication),
        ("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", .proxyRefused), ("HTTP/1.1 502 Bad Gateway\r\n\r\n", .proxyRefused),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", .proxyRefused),
    ])
    func anHTTPProxyThatDoesNotConnect(answer: String, code: ConnectivityError.Code) async throws {
        self.expect(try await self.outcome([Step(Self.connect + "\r\n", answer)]), nil, code)
    }

    @Test func anHTTPProxyThatViolatesTheProtocol() async throws {
        #expect(try await self.outcome([Step(Self.connect + "\r\n", "SSH-2.0-OpenSSH\r\n\r\n")]).1 == .proxyProtocol)
        self.expect(try await self.outcome([Step("something else entirely", "")]), nil, .connectionLost)
    }

    @Test func aSilentProxy() async throws {
        let silent = [Step(Self.connect + "\r\n", ""), Step("never", "")]
        self.expect(try await self.outcome(silent, deadline: .milliseconds(100)), nil, .timeout)
        #expect(
            try await self.outcome([Step([5, 1, 0], []), Step("never", "")], socks: true, deadline: .milliseconds(100)) == (nil, .timeout))
    }

    @Test func aHostThatWouldBreakTheRequestIsRefused() async throws {
        self.expect(try await self.outcome([], host: "a\r\nX: y"), nil, .invalidConfiguration)
        self.expect(try await self.outcome([], host: "h h"), nil, .invalidConfiguration)
    }

    // MARK: SOCKS

    private static let request = Step([5, 1, 0, 3, 14] + Array("server.example".utf8) + [1, 0xBB], [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])

    @Test func SOCKSWithAndWithoutCredentials() async throws {
        self.expect(try await self.outcome([Step([5, 1, 0], [5, 0]), Self.request], socks: true), TestServer.greeting, nil)
        let login = Step([1, 5] + Array("alice".utf8) + [6] + Array("secret".utf8), [1, 0])
        let steps = [Step([5, 2, 0, 2], [5, 2]), login, Self.request]
        self.expect(try await self.outcome(steps, socks: true, credentials: Self.credentials), TestServer.greeting, nil)
    }

    @Test func SOCKSWithTheServersFirstBytesInTheSameRead() async throws {
        var request = Self.request
        request.answer += Array("early ".utf8)
        #expect(try await self.outcome([Step([5, 1, 0], [5, 0]), request], socks: true).0?.hasPrefix("early ") == true)
    }

    @Test func SOCKSWithTLS() async throws {
        let steps = [Step([5, 1, 0], [5, 0]), Self.request]
        self.expect(try await self.outcome(steps, socks: true, tls: try self.tls(.dnsName("server.example"))), TestServer.greeting, nil)
    }

    @Test func SOCKSRefuses() async throws {
        self.expect(try await self.outcome([Step([5, 1, 0], [5, 0xFF])], socks: true), nil, .proxyAuthentication)
        var request = Self.request
        request.answer = [5, 5, 0, 1, 0, 0, 0, 0, 0, 0]
        self.expect(try await self.outcome([Step([5, 1, 0], [5, 0]), request], socks: true), nil, .proxyRefused)
        self.expect(try await self.outcome([Step([5, 1, 0], Array("HTTP".utf8))], socks: true), nil, .proxyProtocol)
        self.expect(try await self.outcome([], socks: true, host: String(repeating: "h", count: 256)), nil, .invalidConfiguration)
    }

    @Test func aUnixSocketIsReachedWithoutAProxy() async throws {
        var dialer = Dialer(proxy: .httpConnect(host: "127.0.0.1", port: 1))
        dialer.connectTimeout = .seconds(60)
        #expect(try await failure(dialer, .unixSocket(path: "/nonexistent"))?.code == .connectFailed)
    }
}
