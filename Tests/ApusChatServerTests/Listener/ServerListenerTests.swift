import ApusCertificates
import Foundation
import NIOCore
import Testing

@testable import ApusChatServer

/// The listeners of a configuration.
@Suite struct ServerListenerTests {
    private func listeners(_ configure: (inout ChatServerConfiguration) -> Void) throws -> [ServerListener] {
        var configuration = ChatServerConfiguration(port: 80)
        configure(&configuration)
        return try ServerListener.all(configuration)
    }

    private func text(_ listener: ServerListener) -> String {
        let transport =
            switch listener.transport {
            case .unchanged: ""
            case .redirects: " redirects"
            case .strict: " strict"
            }
        return
            "\(listener.scheme) \(listener.port)\(listener.isLegacy ? " legacy" : "")\(listener.isOptional ? " optional" : "")\(transport)"
    }

    @Test func theListenersWithoutFiles() throws {
        let cases: [((inout ChatServerConfiguration) -> Void, [String])] = [
            ({ $0.tls = .off }, ["http 80"]),
            ({ $0.tls = .selfSigned(port: 443) }, ["http 80", "https 443"]),
            (
                {
                    $0.tls = .selfSigned(port: 443)
                    $0.listensWithoutTLS = false
                }, ["https 443"]
            ),
            (
                {
                    $0.tls = .off
                    $0.legacyPort = 9
                }, ["http 80", "http 9 legacy"]
            ),
            (
                {
                    $0.tls = .selfSigned(port: 443)
                    $0.listensWithoutTLS = false
                    $0.legacyPort = 9
                }, ["https 443", "http 9 legacy"]
            ),
        ]
        for (configure, texts) in cases {
            let listeners = try self.listeners(configure)
            #expect(listeners.map { self.text($0) } == texts)
            for listener in listeners {
                #expect((listener.tls != nil) == (listener.scheme == "https"))
                #expect((listener.certificate != nil) == (listener.scheme == "https"))
            }
        }
    }

    /// The TLS listener is optional beside the listener of port 80, and required without it.
    @Test func theDefaultTLSListenerIsOptionalBesideAnother() throws {
        #expect(try self.listeners { _ in }.map { self.text($0) } == ["http 80", "https 3443 optional"])
        #expect(try self.listeners { $0.listensWithoutTLS = false }.map { self.text($0) } == ["https 3443"])
    }

    /// Strict transport security (RFC 6797, section 8.3), and the redirect of the other listener.
    @Test func aCertificateOfFilesRedirects() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let missing = folder.appendingPathComponent("missing.pem").path
        let junk = folder.appendingPathComponent("junk.pem").path
        try Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8).write(to: URL(fileURLWithPath: junk))
        for (certificates, key) in [(missing, missing), (junk, junk), (junk, missing), (folder.path, folder.path)] {
            #expect {
                try self.listeners { $0.tls = .files(port: 443, certificates: certificates, key: key) }
            } throws: { error in
                let error = error as? ChatServerError
                return error?.code == .certificate && error?.message.hasPrefix("the certificate or its key cannot be used: ") == true
            }
        }
    }

    // MARK: Errors

    @Test(arguments: [(EADDRINUSE, ChatServerError.Code.addressInUse), (EACCES, .cannotListen), (EADDRNOTAVAIL, .cannotListen)])
    func aFailureToListenNamesTheAddress(number: CInt, code: ChatServerError.Code) throws {
        let listener = ServerListener(scheme: "http", host: "192.0.2.1", port: 81)
        let error = try #require(listener.explain(IOError(errnoCode: number, reason: "bind")) as? ChatServerError)
        #expect(error.code == code && error.message.contains("192.0.2.1") && error.message.contains("81"))
        #expect(error.port == (code == .addressInUse ? 81 : nil))
    }

    @Test func anotherErrorIsUnchanged() {
        let listener = ServerListener(scheme: "http", host: "192.0.2.1", port: 81)
        #expect(listener.explain(CancellationError()) is CancellationError)
    }

    // MARK: Proxies

    @Test(arguments: [
        ("10.1.2.3", true), ("::ffff:10.1.2.3", true), ("11.1.2.3", false), ("192.0.2.1", true), ("192.0.2.2", false),
        ("2001:db8::5", true),
        ("2001:db9::5", false), ("::1", false), ("::ffff:11.1.2.3", false),
    ]) func thePeersMatchTheNetworks(address: String, isProxy: Bool) throws {
        let peers = ProxyPeers(["10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "proxy.example", ""])
        #expect(peers.contains(try SocketAddress(ipAddress: address, port: 1)) == isProxy)
    }

    @Test func aConnectionWithoutAnIPAddressIsNotAProxy() throws {
        for peers in [ProxyPeers(["0.0.0.0/0", "::/0"]), ProxyPeers([])] {
            #expect(!peers.contains(nil))
            #expect(!peers.contains(try SocketAddress(unixDomainSocketPath: "/tmp/a")))
        }
        #expect(!ProxyPeers([]).contains(try SocketAddress(ipAddress: "127.0.0.1", port: 1)))
    }
}
