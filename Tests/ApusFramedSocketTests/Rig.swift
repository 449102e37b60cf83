import ApusConnectivity
import ApusFramedProtocol
import ApusFramedSocket
import Crypto
import Foundation
import NIOCore
import SwiftASN1
import X509

/// Runs a server on a free port, passes the port to `body`, and waits until the server has shut
/// down.
func withServer(
    _ server: FramedServer, tls: TLSServerSettings? = nil, host: String = "127.0.0.1", _ body: (_ port: Int) async throws -> Void
)
    async throws
{
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    let running = Task { try await server.run(host: host, port: 0, tls: tls) { port.yield($0.port ?? 0) } }
    var iterator = ports.makeAsyncIterator()
    guard let number = await iterator.next() else { return }
    let result: Result<Void, any Error>
    do { result = .success(try await body(number)) } catch { result = .failure(error) }
    running.cancel()
    try await running.value
    try result.get()
}

/// A server that echoes every message, with its body as it arrives.
func echoServer(_ configuration: FramedServerConfiguration = .init()) -> FramedServer {
    FramedServer(configuration: configuration) { connection in
        for try await message in connection.messages {
            try await connection.send(message.body, bodyLength: message.bodyLength, header: message.header)
        }
    }
}

/// A prime number of bytes, so that no two chunks begin at the same position of the pattern.
private let block = ByteBuffer(bytes: (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })

/// Returns bytes that identify their position.
func pattern(_ count: Int) -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.reserveCapacity(count)
    while buffer.readableBytes < count, let piece = block.getSlice(at: 0, length: min(65_521, count - buffer.readableBytes)) {
        buffer.writeImmutableBuffer(piece)
    }
    return buffer
}

/// Returns a self-signed certificate for 127.0.0.1.
func makeCertificate() throws -> (settings: TLSServerSettings, pem: String) {
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

/// Returns the code of the error that `body` throws.
func code(_ body: () async throws -> Void) async -> FramedError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? FramedError)?.code
    }
}
