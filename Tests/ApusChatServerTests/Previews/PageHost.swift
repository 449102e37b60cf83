import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP server with pages by path, on a free port of 127.0.0.1.
final class PageHost: Sendable {
    struct Page: Sendable {
        var status = 200
        var headers: [(String, String)] = [("Content-Type", "text/html; charset=utf-8")]
        var body = ""
        /// Whether the server leaves requests of the page without an answer.
        var isSilent = false

        static func html(_ head: String) -> Self { Self(body: "<!doctype html><html><head>\(head)</head><body></body></html>") }
        static func redirect(_ location: String, status: Int = 302) -> Self { Self(status: status, headers: [("Location", location)]) }
    }

    let port: Int
    private let channel: any Channel
    private let pages: NIOLockedValueBox<[String: Page]>
    private let received: NIOLockedValueBox<[HTTPRequestHead]>

    /// The requests, in the order of their arrival.
    var requests: [HTTPRequestHead] { self.received.withLockedValue { $0 } }

    init(_ pages: [String: Page] = [:]) async throws {
        let pages = NIOLockedValueBox(pages)
        let received = NIOLockedValueBox<[HTTPRequestHead]>([])
        self.pages = pages
        self.received = received
        self.channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Answering(pages: pages, received: received))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.port = self.channel.localAddress?.port ?? 0
    }

    subscript(path: String) -> Page? {
        get { self.pages.withLockedValue { $0[path] } }
        set { self.pages.withLockedValue { $0[path] = newValue } }
    }

    func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(self.port)\(path)" }

    func close() async throws { try await self.channel.close() }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        let pages: NIOLockedValueBox<[String: Page]>
        let received: NIOLockedValueBox<[HTTPRequestHead]>

        init(pages: NIOLockedValueBox<[String: Page]>, received: NIOLockedValueBox<[HTTPRequestHead]>) {
            self.pages = pages
            self.received = received
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .head(let request) = self.unwrapInboundIn(data) else { return }
            self.received.withLockedValue { $0.append(request) }
            let page = self.pages.withLockedValue { $0[request.uri] } ?? Page(status: 404)
            guard !page.isSilent else { return }
            var headers = HTTPHeaders(page.headers)
            headers.add(name: "Content-Length", value: String(page.body.utf8.count))
            let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: page.status), headers: headers)
            context.write(self.wrapOutboundOut(.head(head)), promise: nil)
            context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: page.body)))), promise: nil)
            context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
