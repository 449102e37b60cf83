import ApusConnectivity
import ApusFramedProtocol
import ApusFramedSocket
import ApusTesting
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import Testing
import X509

/// docs/hazards.md, 19: no byte, not even the preface, is sent to an unverified server, and a
/// server reads no frame before the TLS handshake.
@Suite(.timeLimit(.minutes(5))) struct FramedTLSTests {
    private let authority: TestCertificate
    private let trust: TLSSettings

    init() throws {
        self.authority = try TestCertificate("An authority", isAuthority: true)
        self.trust = .trusting(authoritiesPEM: try self.authority.pem)
    }

    /// Connects to a server that counts the received bytes. Returns the code of the failure.
    private func outcome(
        _ certificate: TestCertificate, _ settings: TLSSettings, host: String = "127.0.0.1",
        change: (inout TLSConfiguration) -> Void = { _ in }
    ) async throws -> ConnectivityError.Code? {
        var configuration = try certificate.serverConfiguration()
        change(&configuration)
        let context = try NIOSSLContext(configuration: configuration)
        let received = NIOLockedValueBox(0)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(ByteCounter(received))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        var client = FramedClientConfiguration(tls: settings)
        client.connection.handshakeTimeout = .milliseconds(300)  // the server sends no hello
        client.connection.closeTimeout = .milliseconds(100)
        var failure: (any Error)?
        do {
            let connection = try await FramedClient.connect(
                host: host, port: listener.localAddress?.port ?? 0, configuration: client)
            await connection.close()
        } catch {
            failure = error
        }
        try await listener.close()
        try await group.shutdownGracefully()
        let error = try #require(failure as? FramedError)
        // A verified server received the preface, and its hello timed out.
        guard error.code == .transport else {
            #expect(error.code == .timeout || error.code == .connectionLost)
            #expect(received.withLockedValue { $0 } > 8)
            return nil
        }
        #expect(received.withLockedValue { $0 } == 0, "something was said before the server was verified")
        return (error.cause as? ConnectivityError)?.code
    }

    @Test func hazard19_aVerifiedPeerIsAccepted() async throws {
        #expect(try await self.outcome(TestCertificate("A server", issuer: self.authority), self.trust) == nil)
    }

    @Test func hazard19_selfSigned() async throws {
        #expect(try await self.outcome(TestCertificate("Own"), .system) == .certificateSelfSigned)
        #expect(try await self.outcome(TestCertificate("Own"), self.trust) != nil)
    }

    @Test func hazard19_wrongHost() async throws {
        let other = try TestCertificate("Another", names: [.dnsName("example.com")], issuer: self.authority)
        #expect(try await self.outcome(other, self.trust) == .hostNameMismatch)
    }

    @Test func hazard19_expired() async throws {
        let old = try TestCertificate("Old", issuer: self.authority, expiresAfter: -60)
        #expect(try await self.outcome(old, self.trust) == .certificateExpired)
    }

    @Test func hazard19_oldTLS() async throws {
        let server = try TestCertificate("A server", issuer: self.authority)
        #expect(
            try await self.outcome(server, self.trust) {
                $0.minimumTLSVersion = .tlsv1
                $0.maximumTLSVersion = .tlsv11
            } == .tlsVersion)
    }

    @Test func hazard19_wrongPin() async throws {
        let (own, other) = (try TestCertificate("Own"), try TestCertificate("Other"))
        let pin = try #require(CertificateFingerprint(bytes: try other.digest))
        #expect(try await self.outcome(own, .pinned(pin)) == .pinMismatch)
        let right = try #require(CertificateFingerprint(bytes: try own.digest))
        #expect(try await self.outcome(own, .pinned(right)) == nil)
    }

    /// A client without TLS, or with an old version of TLS, does not reach the handler of the
    /// server.
    @Test func hazard19_theServerReadsNothingBeforeTLS() async throws {
        let (settings, _) = try makeCertificate()
        let handled = NIOLockedValueBox(0)
        let server = FramedServer { _ in handled.withLockedValue { $0 += 1 } }
        try await withServer(server, tls: settings) { port in
            let peer = try await RawPeer(port: port, greets: false)
            var bytes = ByteBuffer(bytes: [0x41, 0x50, 0x55, 0x53, 2, 0, 0, 0])
            bytes.writeRepeatingByte(0, count: 16)
            try await peer.send(bytes)
            while await peer.next() != nil {}
            await peer.close()
        }
        #expect(handled.withLockedValue { $0 } == 0)
    }
}

private final class ByteCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let count: NIOLockedValueBox<Int>

    init(_ count: NIOLockedValueBox<Int>) {
        self.count = count
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = self.unwrapInboundIn(data).readableBytes
        self.count.withLockedValue { $0 += bytes }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

@available(*, unavailable)
extension ByteCounter: Sendable {}
