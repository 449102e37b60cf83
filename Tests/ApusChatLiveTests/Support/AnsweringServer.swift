import ApusChatProtocol
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

@testable import ApusChatClient

/// A client of a server that answers every request with the same bytes, and a folder for downloads.
struct AnsweredClient {
    let client: ChatHTTPClient
    let folder: String
    let heads: NIOLockedValueBox<[String]>

    /// The names of the files in the folder.
    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: self.folder).sorted()) ?? [] }

    /// The received text, from the first request line on.
    var received: [String] { self.heads.withLockedValue { $0 } }

    func save(_ name: String) async throws(ChatClientError) {
        try await self.client.save("/api/account/export", to: "\(self.folder)/\(name)", access: "token")
    }
}

/// Runs a test with a server that answers every request with the same bytes and closes the
/// connection. `{port}` in the answer stands for the port of the server.
func withAnswer(
    _ answer: String, _ body: [UInt8] = [], base: String = "", _ test: (AnsweredClient) async throws -> Void
) async throws {
    let heads = NIOLockedValueBox<[String]>([])
    let bytes = NIOLockedValueBox<[UInt8]>([])
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AnsweringHandler(bytes, heads)) }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    let port = listener.localAddress?.port ?? 0
    bytes.withLockedValue { $0 = Array(answer.replacing("{port}", with: String(port)).utf8) + body }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-download-" + UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let client = try ChatHTTPClient(server: "http://127.0.0.1:\(port)\(base)", configuration: ChatClientConfiguration())
    let result: Result<Void, any Error>
    do { result = .success(try await test(AnsweredClient(client: client, folder: folder, heads: heads))) } catch {
        result = .failure(error)
    }
    client.shutdown()
    try? await listener.close()
    try? FileManager.default.removeItem(atPath: folder)
    try result.get()
}

/// Returns the code of the error of the client that `body` throws; nil if it throws none.
func codeOfError(_ body: () async throws -> Void) async -> ChatClientError.Code? {
    do { try await body() } catch { return (error as? ChatClientError)?.code }
    return nil
}

/// Answers a request after its end and closes the connection.
private final class AnsweringHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: NIOLockedValueBox<[UInt8]>
    private let heads: NIOLockedValueBox<[String]>
    private var received = ""

    init(_ answer: NIOLockedValueBox<[UInt8]>, _ heads: NIOLockedValueBox<[String]>) {
        self.answer = answer
        self.heads = heads
    }

    /// Whether the head and the body that it announces were received.
    private var isComplete: Bool {
        guard let end = self.received.range(of: "\r\n\r\n") else { return false }
        let length = self.received[..<end.lowerBound].lowercased().split(separator: "\r\n").compactMap { line in
            line.hasPrefix("content-length:") ? Int(line.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)) : nil
        }
        return self.received[end.upperBound...].utf8.count >= length.first ?? 0
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.received += String(buffer: self.unwrapInboundIn(data))
        guard self.isComplete else { return }
        self.heads.withLockedValue { [received] in $0.append(received) }
        self.received = ""
        let (channel, written) = (context.channel, context.eventLoop.makePromise(of: Void.self))
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        let answer = self.answer.withLockedValue { ByteBuffer(bytes: $0) }
        context.writeAndFlush(self.wrapOutboundOut(answer), promise: written)
    }
}
