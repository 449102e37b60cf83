import ApusConnectivity
import ApusTesting
import NIOConcurrencyHelpers
import NIOSSL
import Testing
import X509

/// No application byte is sent to a server that was not verified (docs/hazards.md, 19).
@Suite(.timeLimit(.minutes(5))) struct DialerTLSTests {
    private let authority: TestCertificate
    private let server: TestCertificate

    init() throws {
        self.authority = try TestCertificate("An authority", isAuthority: true)
        self.server = try TestCertificate("A server", issuer: self.authority)
    }

    /// Connects to `localhost` (or `host`), where a server presents this certificate. Returns the
    /// code of the failure and checks the bytes that the server read.
    private func outcome(
        _ certificate: TestCertificate, _ settings: TLSSettings, host: String = "localhost",
        change: (inout TLSConfiguration) -> Void = { _ in }
    ) async throws -> ConnectivityError.Code? {
        var configuration = try certificate.serverConfiguration()
        change(&configuration)
        return try await withServer(tls: configuration) { server in
            let failure = try await failure(Dialer(tls: settings), .host(host, port: server.port))
            if failure != nil { #expect(server.received.withLockedValue { $0 } == "") }
            return failure?.code
        }
    }

    @Test func aTrustedServerIsReachedByNameAndByAddress() async throws {
        let pem = try self.authority.pem
        #expect(try await self.outcome(self.server, .trusting(authoritiesPEM: pem)) == nil)
        #expect(try await self.outcome(self.server, .trusting(authoritiesPEM: pem), host: "127.0.0.1") == nil)
        #expect(try await self.outcome(self.server, TLSSettings(verification: .onlyAuthorities(pem: pem))) == nil)
        #expect(try await self.outcome(self.server, TLSSettings(verification: .onlyAuthorities(pem: pem), minimumVersion: .tls13)) == nil)
    }

    @Test func anUnknownAuthorityIsRefused() async throws {
        #expect(try await self.outcome(self.server, .system) == .certificateUntrusted)
        let other = TLSSettings(verification: .onlyAuthorities(pem: try TestCertificate("Another", isAuthority: true).pem))
        #expect(try await self.outcome(self.server, other) == .certificateUntrusted)
    }

    @Test func aFailureNamesNoSourceFileOfBoringSSL() async throws {
        try await withServer(tls: try self.server.serverConfiguration()) { server in
            let error = try #require(try await failure(Dialer(tls: .system), .host("localhost", port: server.port)))
            #expect(
                "\(error)"
                    == "certificateUntrusted: no trusted authority issued the certificate of localhost (CERTIFICATE_VERIFY_FAILED)")
            #expect(error.cause is NIOSSLError)
        }
    }

    @Test func aCertificateForAnotherHostIsRefused() async throws {
        let settings = TLSSettings.trusting(authoritiesPEM: try self.authority.pem)
        let other = try TestCertificate("Another", names: [.dnsName("example.com")], issuer: self.authority)
        #expect(try await self.outcome(other, settings) == .hostNameMismatch)
        #expect(try await self.outcome(other, settings, host: "127.0.0.1") == .hostNameMismatch)
        // A certificate for the address of the connection is not valid for the requested name.
        let address = try TestCertificate("An address", names: [.loopback], issuer: self.authority)
        #expect(try await self.outcome(address, settings) == .hostNameMismatch)
        #expect(try await self.outcome(address, settings, host: "127.0.0.1") == nil)
        let named = TLSSettings(verification: settings.verification, serverName: "example.com")
        #expect(try await self.outcome(other, named) == nil)
        #expect(
            try await self.outcome(self.server, TLSSettings(verification: settings.verification, serverName: "127.0.0.2"))
                == .hostNameMismatch)
    }

    @Test func anExpiredCertificateIsRefused() async throws {
        let old = try TestCertificate("Old", issuer: self.authority, expiresAfter: -60)
        #expect(try await self.outcome(old, .trusting(authoritiesPEM: try self.authority.pem)) == .certificateExpired)
    }

    @Test func aSelfSignedCertificateIsAcceptedOnlyWhenItIsNamed() async throws {
        let own = try TestCertificate("Own", names: [.dnsName("elsewhere.example")], expiresAfter: -60)
        let valid = try TestCertificate("Own")
        #expect(try await self.outcome(valid, .system) == .certificateSelfSigned)
        let fingerprint = try #require(CertificateFingerprint(bytes: try own.digest))
        #expect(try await self.outcome(own, .pinned(fingerprint)) == nil)
        #expect(try await self.outcome(own, .pinned(fingerprint), host: "127.0.0.1") == nil)
        #expect(try await self.outcome(valid, .pinned(fingerprint)) == .pinMismatch)
        #expect(try await self.outcome(own, .insecureSkipVerification) == nil)
        #expect(try await self.outcome(own, TLSSettings(verification: .pinned([]))) == .pinMismatch)
    }

    @Test func pinsRestrictTheTrustInAnAuthority() async throws {
        let pem = try self.authority.pem
        let right = try #require(PublicKeyFingerprint(bytes: self.server.keyDigest))
        let wrong = try #require(PublicKeyFingerprint(bytes: self.authority.keyDigest))
        func settings(_ pins: TLSPin...) -> TLSSettings { TLSSettings(verification: .additionalAuthorities(pem: pem), pins: pins) }
        #expect(try await self.outcome(self.server, settings(.publicKey(wrong), .publicKey(right))) == nil)
        #expect(try await self.outcome(self.server, settings(.publicKey(wrong))) == .pinMismatch)
        #expect(try await self.outcome(self.server, .pinned(right)) == nil)
        #expect(try await self.outcome(self.server, TLSSettings(pins: [.publicKey(right)])) == .certificateUntrusted)
        let certificate = try #require(CertificateFingerprint(bytes: try self.server.digest))
        #expect(try await self.outcome(self.server, settings(.certificate(certificate))) == nil)
    }

    @Test(arguments: [TLSSettings.Version.tls12, .tls13]) func anOldVersionIsRefused(minimum: TLSSettings.Version) async throws {
        let settings = TLSSettings(verification: .additionalAuthorities(pem: try self.authority.pem), minimumVersion: minimum)
        let code = try await self.outcome(self.server, settings) { configuration in
            configuration.minimumTLSVersion = .tlsv1
            configuration.maximumTLSVersion = minimum == .tls12 ? .tlsv11 : .tlsv12
        }
        #expect(code == .tlsVersion)
    }

    @Test func aClientShowsItsCertificate() async throws {
        let authority = self.authority
        var settings = TLSSettings.trusting(authoritiesPEM: try authority.pem)
        func demand(_ configuration: inout TLSConfiguration) {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = (try? NIOSSLCertificate(bytes: authority.der, format: .der)).map { .certificates([$0]) }
            // With TLS 1.3 the client completes its handshake before the server refuses.
            configuration.maximumTLSVersion = .tlsv12
        }
        let nothing = try await self.outcome(self.server, settings, change: demand)
        #expect(nothing == .tlsFailed)  // the alert only reports a failed handshake
        let stranger = try TestCertificate("A stranger")
        settings.clientIdentity = TLSIdentity(certificateChainPEM: try stranger.pem, privateKeyPEM: stranger.keyPEM)
        let foreign = try await self.outcome(self.server, settings, change: demand)
        #expect(foreign == .clientCertificateRefused)
        let client = try TestCertificate("A client", issuer: authority)
        settings.clientIdentity = TLSIdentity(certificateChainPEM: try client.pem, privateKeyPEM: client.keyPEM)
        #expect(try await self.outcome(self.server, settings, change: demand) == nil)
    }

    @Test func malformedPEMTextsAreReported() async throws {
        #expect(try await self.outcome(self.server, .trusting(authoritiesPEM: "nonsense")) == .invalidConfiguration)
        #expect(try await self.outcome(self.server, .trusting(authoritiesPEM: "")) == .invalidConfiguration)
        let identity = TLSIdentity(certificateChainPEM: try self.server.pem, privateKeyPEM: "nonsense")
        #expect(try await self.outcome(self.server, TLSSettings(clientIdentity: identity)) == .invalidConfiguration)
    }

    @Test func aServerWithoutTLSOrAnswer() async throws {
        let plain = try await ScriptedProxy([ScriptedProxy.Step([22], Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))])
        let answer = try await failure(Dialer(tls: .system), .host("localhost", port: plain.port))?.code
        await plain.close()
        #expect(answer == .tlsFailed)
        var dialer = Dialer(tls: .system)
        dialer.tlsTimeout = .milliseconds(50)
        for (setting, name) in [(nil, "tlsTimeout"), ("timeout", "timeout")] {
            dialer.timeoutSetting = setting
            let error = try await withBlackHole { [dialer] in try await failure(dialer, $0) }
            #expect(error?.code == .timeout)
            #expect(error?.message == "the TLS handshake was not complete within 0.05 seconds (`\(name)`)")
        }
    }
}
