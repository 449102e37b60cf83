import ApusConnectivity
@testable import ApusWebSocket
import ApusWebSocketProtocol
import Crypto
import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import SwiftASN1
import Testing
import X509

/// The server with TLS.
@Suite struct WebSocketServerTLSTests {
    /// A self-signed certificate for 127.0.0.1.
    private static func makeCertificate() throws -> (settings: TLSServerSettings, pem: String) {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("apus test") }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: Date.now.addingTimeInterval(-3600), notValidAfter: Date.now.addingTimeInterval(3600), issuer: name,
            subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))])
            }, issuerPrivateKey: Certificate.PrivateKey(key))
        let pem = try certificate.serializeAsPEM().pemString
        return (TLSServerSettings(identity: TLSIdentity(certificateChainPEM: pem, privateKeyPEM: key.pemRepresentation)), pem)
    }

    @Test(.timeLimit(.minutes(5))) func messagesThroughTLS() async throws {
        let (settings, pem) = try Self.makeCertificate()
        let server = WebSocketServer(onOpen: { connection in connection.onMessage { $0.post($1) } })
        try await withServer(server, tls: settings) { port in
            var configuration = WebSocketClientConfiguration()
            configuration.tls = .trusting(authoritiesPEM: pem)
            configuration.headers = [.origin: "https://127.0.0.1:\(port)"]
            try await WebSocketClient.withConnection(to: "wss://127.0.0.1:\(port)/", configuration: configuration) { connection in
                var messages = connection.messages.makeAsyncIterator()
                let message = WebSocketMessage.binary(ByteBuffer(repeating: 7, count: 300_000))
                try await connection.send(message)
                #expect(try await messages.next() == message)
            }
        }
    }

    /// docs/hazards.md, 14.
    @Test func aClientThatDoesNotFinishTLSIsClosedByTheSameDeadline() throws {
        let (settings, _) = try Self.makeCertificate()
        let server = WebSocketServer(onOpen: { _ in })
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "203.0.113.7", port: 1)).wait()
        try server.configure(channel, tls: settings.makeContext())
        // Announces a record of 512 bytes and sends one byte per second.
        for byte: UInt8 in [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC] {
            try channel.writeInbound(ByteBuffer(bytes: [byte]))
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(channel.isActive)
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        channel.embeddedEventLoop.advanceTime(by: .seconds(6))  // NIOSSL waits five seconds for the TLS closure
        #expect(!channel.isActive)
    }

    @Test func plainConnectionsAreClosed() throws {
        let (settings, _) = try Self.makeCertificate()
        let server = WebSocketServer(onOpen: { _ in })
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "203.0.113.7", port: 1)).wait()
        try server.configure(channel, tls: settings.makeContext())
        _ = try? channel.writeInbound(ByteBuffer(string: EmbeddedWebSocketServer.request()))
        channel.embeddedEventLoop.run()
        #expect(!channel.isActive)
    }
}
