import ApusConnectivity
import ApusEventLoop
import ApusTesting
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// Calls `body` with a port that accepts connections and sends nothing.
func withBlackHole<Result>(_ body: (Dialer.Target) async throws -> Result) async throws -> Result {
    let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0).get()
    do {
        let result = try await body(.host("127.0.0.1", port: silent.localAddress?.port ?? 0))
        try await silent.close()
        return result
    } catch {
        try? await silent.close()
        throw error
    }
}

@Suite(.timeLimit(.minutes(5))) struct DialerTests {
    /// A resolver with fixed addresses.
    private struct FixedResolver: Resolver, Sendable {
        let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
        var v4: [String] = []
        var v6: [String] = []

        private func addresses(_ texts: [String], _ port: Int) -> EventLoopFuture<[SocketAddress]> {
            self.loop.makeCompletedFuture { try texts.map { try SocketAddress(ipAddress: $0, port: port) } }
        }
        func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { self.addresses(self.v4, port) }
        func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { self.addresses(self.v6, port) }
        func cancelQueries() {}
    }

    @Test func aHandlerAddedAtTheEndSeesTheFirstByte() async throws {
        try await withServer { server in
            let text = try await greeting(Dialer(), .host("127.0.0.1", port: server.port))
            #expect(text == TestServer.greeting)
        }
    }

    @Test func aUnixSocket() async throws {
        let path = "/tmp/apus-dial-\(UInt32.random(in: 0...UInt32.max)).sock"
        try await withServer(address: SocketAddress(unixDomainSocketPath: path)) { _ in
            let text = try await greeting(Dialer(), .unixSocket(path: path))
            #expect(text == TestServer.greeting)
        }
        unlink(path)
        #expect(try await failure(Dialer(), .unixSocket(path: path))?.code == .connectFailed)
        let long = String(repeating: "x", count: 500)
        #expect(try await failure(Dialer(), .unixSocket(path: long))?.code == .connectFailed)
        let unnamed = try await failure(Dialer(tls: .system), .unixSocket(path: path))
        #expect(unnamed?.code == .connectFailed)
    }

    @Test func TLSOverAUnixSocketNeedsAName() async throws {
        let authority = try TestCertificate("An authority", isAuthority: true)
        let certificate = try TestCertificate("A server", issuer: authority)
        let path = "/tmp/apus-dial-\(UInt32.random(in: 0...UInt32.max)).sock"
        let dialer = Dialer(tls: .trusting(authoritiesPEM: try authority.pem))
        try await withServer(tls: certificate.serverConfiguration(), address: SocketAddress(unixDomainSocketPath: path)) { _ in
            var codes: [ConnectivityError.Code?] = []
            for name in [nil, "localhost", "localhoax"] {
                codes.append(try await failure(dialer, .unixSocket(path: path), name: name)?.code)
            }
            #expect(codes == [.invalidConfiguration, nil, .hostNameMismatch])
        }
        unlink(path)
    }

    @Test func aNameThatHasNoAddress() async throws {
        var dialer = Dialer()
        dialer.resolver = FixedResolver()
        let code = try await failure(dialer, .host("nowhere.invalid", port: 80))?.code
        #expect(code == .nameResolution || code == .connectFailed)
    }

    @Test(arguments: [("", 80), ("localhost", 0), ("localhost", 65536), ("a\0b", 80)])
    func nonsenseIsRefused(host: String, port: Int) async throws {
        #expect(try await failure(Dialer(), .host(host, port: port))?.code == .invalidConfiguration)
    }

    @Test func aPortWithoutAListener() async throws {
        let unused = try UnusedPort()
        let error = try await failure(Dialer(), .host("127.0.0.1", port: unused.number))
        #expect(error?.code == .connectFailed)
        #expect(error?.retryDecision == .retry)
    }

    @Test func aLocalAddress() async throws {
        try await withServer { server in
            var dialer = Dialer()
            dialer.localAddress = "127.0.0.9"
            _ = try await greeting(dialer, .host("127.0.0.1", port: server.port))
            #expect(server.accepted.withLockedValue { $0.map { $0?.ipAddress } } == ["127.0.0.9"])
            dialer.localAddress = "localhost"
            let code = try await failure(dialer, .host("127.0.0.1", port: server.port))?.code
            #expect(code == .invalidConfiguration)
        }
    }

    /// RFC 8305: the first address drops every packet, the second accepts the connection.
    @Test func oneOfTwoAddressesDoesNotAnswer() async throws {
        try await withServer { server in
            let hole = try FullBacklog(address: "127.0.0.2", port: server.port)
            defer { hole.close() }
            var dialer = Dialer()
            dialer.connectTimeout = .milliseconds(300)
            let code = try await failure(dialer, .host("127.0.0.2", port: server.port))?.code
            #expect(code == .timeout)
            dialer.connectTimeout = .seconds(600)
            dialer.resolver = FixedResolver(v4: ["127.0.0.2", "127.0.0.1"])
            // A dialer that waits for the first address exceeds the time limit of the suite.
            let text = try await greeting(dialer, .host("both.example", port: server.port))
            #expect(text == TestServer.greeting)
        }
    }

    @Test func cancellingClosesTheOpenedConnection() async throws {
        let code = try await withBlackHole { target in
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            return try await loop.flatSubmit {
                let promise = loop.makePromise(of: ConnectivityError.Code?.self)
                let attempt = Dialer(tls: .system).dial(target, on: loop)
                attempt.futureResult.assumeIsolated().whenComplete { result in
                    if case .failure(let error) = result {
                        promise.succeed((error as? ConnectivityError)?.code)
                    } else {
                        promise.succeed(nil)
                    }
                }
                attempt.cancel()
                attempt.cancel()
                return promise.futureResult
            }.get()
        }
        #expect(code == .cancelled)
    }
}

/// A listening socket with a full backlog, for which the kernel drops further connections.
private struct FullBacklog {
    private var descriptors: [CInt] = []

    init(address: String, port: Int) throws {
        let address = try SocketAddress(ipAddress: address, port: port)
        func open() -> CInt {
            #if canImport(Glibc)
                return socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
            #else
                let descriptor = socket(AF_INET, SOCK_STREAM, 0)
                _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
                return descriptor
            #endif
        }
        guard case .v4(let v4) = address else { throw ChannelError.operationUnsupported }
        var raw = v4.address
        let listener = open()
        self.descriptors.append(listener)
        withUnsafePointer(to: &raw) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let size = socklen_t(MemoryLayout<sockaddr_in>.size)
                #expect(bind(listener, pointer, size) == 0)
                #expect(listen(listener, 0) == 0)
                for _ in 0..<8 {
                    let client = open()
                    self.descriptors.append(client)
                    _ = connect(client, pointer, size)
                }
            }
        }
    }

    func close() {
        for descriptor in self.descriptors {
            #if canImport(Glibc)
                _ = Glibc.close(descriptor)
            #else
                _ = Darwin.close(descriptor)
            #endif
        }
    }
}
