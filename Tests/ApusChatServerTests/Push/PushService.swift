import ApusCertificates
import ApusConnectivity
import ApusJSON
import Crypto
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Testing

@testable import ApusChatServer
@testable import ApusWebPush

/// A push service over TLS that records its requests, with the keys of a browser to decrypt them.
final class PushService: Sendable {
    struct Received: Sendable {
        var path: String
        var headers: HTTPHeaders
        var body: [UInt8]
    }

    let port: Int
    let authority: String
    let browser = P256.KeyAgreement.PrivateKey()
    let secret: [UInt8] = Array(1...16)
    private let channel: any Channel
    private let requests: AsyncStream<Received>
    private let statuses: NIOLockedValueBox<[UInt]>
    private let paths: NIOLockedValueBox<[String]>

    /// The paths of all requests so far.
    var requestedPaths: [String] { self.paths.withLockedValue { $0 } }

    /// - Parameter statuses: The statuses of the first answers; the others are 201.
    init(statuses: [UInt] = []) async throws {
        let identity = try SelfSignedCertificate.makeIdentity(host: "localhost", now: Date())
        let context = try TLSServerSettings(identity: identity).makeContext()
        let left = NIOLockedValueBox(statuses)
        let paths = NIOLockedValueBox<[String]>([])
        let (requests, continuation) = AsyncStream.makeStream(of: Received.self)
        self.paths = paths
        self.authority = identity.certificateChainPEM
        self.statuses = left
        self.requests = requests
        self.channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(Answering(left, paths, continuation))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.port = self.channel.localAddress?.port ?? 0
    }

    func close() async throws { try await self.channel.close() }

    /// Returns the body of a request `push.set`.
    func subscription(path: String = "/push/1", host: String = "localhost") throws -> String {
        let endpoint = try #require(PushEndpoint("https://\(host):\(self.port)\(path)"))
        let subscription = PushSubscription(endpoint: endpoint, key: self.browser.publicKey, secret: self.secret)
        let json = try JSONValue.object(subscription.json).jsonString()
        return #"{"id":"push-1","kind":"web","data":\#(json)}"#
    }

    /// Returns the next request, without a time limit. Throws `CancellationError` if the task is
    /// cancelled.
    func next() async throws -> Received {
        for await request in self.requests { return request }
        throw CancellationError()
    }

    /// Decrypts a body as a browser does (RFC 8291).
    func decrypt(_ body: [UInt8]) throws -> JSONValue {
        let salt = Array(body[0..<16])
        try #require(body[20] == 65)
        let sender = Array(body[21..<86])
        let shared = try self.browser.sharedSecretFromKeyAgreement(with: P256.KeyAgreement.PublicKey(x963Representation: sender))
        func hmac(_ data: [UInt8], _ key: [UInt8]) -> [UInt8] {
            Array(HMAC<SHA256>.authenticationCode(for: data, using: SymmetricKey(data: key)))
        }
        let first = hmac(shared.withUnsafeBytes { Array($0) }, self.secret)
        let input = hmac(Array("WebPush: info\0".utf8) + self.browser.publicKey.x963Representation + sender + [1], first)
        let key = hmac(input, salt)
        let contentKey = hmac(Array("Content-Encoding: aes128gcm\0".utf8) + [1], key).prefix(16)
        let nonce = hmac(Array("Content-Encoding: nonce\0".utf8) + [1], key).prefix(12)
        let box = try AES.GCM.SealedBox(combined: nonce + body[86...])
        let content = try AES.GCM.open(box, using: SymmetricKey(data: contentKey))
        return try JSONReader.read(Array(content.dropLast()))
    }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let statuses: NIOLockedValueBox<[UInt]>
        private let paths: NIOLockedValueBox<[String]>
        private let requests: AsyncStream<Received>.Continuation
        private var request: Received?

        init(
            _ statuses: NIOLockedValueBox<[UInt]>, _ paths: NIOLockedValueBox<[String]>, _ requests: AsyncStream<Received>.Continuation
        ) {
            self.statuses = statuses
            self.paths = paths
            self.requests = requests
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch self.unwrapInboundIn(data) {
            case .head(let head): self.request = Received(path: head.uri, headers: head.headers, body: [])
            case .body(let piece): self.request?.body += Array(piece.readableBytesView)
            case .end:
                if let path = self.request?.path { self.paths.withLockedValue { $0.append(path) } }
                let status = self.statuses.withLockedValue { $0.isEmpty ? 201 : $0.removeFirst() }
                let head = HTTPResponseHead(
                    version: .http1_1, status: HTTPResponseStatus(statusCode: Int(status)),
                    headers: ["Content-Length": "0", "Location": "https://localhost/private"])
                context.write(self.wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
                if let request = self.request { self.requests.yield(request) }
            }
        }
    }
}
