import ApusWebSocketProtocol
import NIOCore
import HTTPTypes

/// A keep-alive connection with one request in flight at a time.
final class BenchHTTPConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let target: String
    private let fields: String
    private let onEnd: (any Error) -> Void
    private var context: ChannelHandlerContext?
    private var scanner = BenchHTTPScanner()
    private var receive: ((BenchHTTPScanner.Response) -> Void)?

    init(url: WebSocketURL, headers: HTTPFields, onEnd: @escaping (any Error) -> Void) {
        self.target = url.requestTarget
        self.fields = headers.reduce("Host: \(url.authority)\r\n") { $0 + "\($1.name): \($1.value)\r\n" }
        self.onEnd = onEnd
    }

    func request(_ method: String, sid: String, body: String?, _ receive: @escaping (BenchHTTPScanner.Response) -> Void) {
        guard let context = self.context else { return }
        self.receive = receive
        let query = sid.isEmpty ? "" : "&sid=\(sid)"
        var bytes = ByteBuffer(string: "\(method) \(self.target)\(query) HTTP/1.1\r\n\(self.fields)")
        if let body {
            bytes.writeString("Content-Type: text/plain;charset=UTF-8\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        } else {
            bytes.writeString("\r\n")
        }
        context.writeAndFlush(self.wrapOutboundOut(bytes), promise: nil)
    }

    func close() {
        self.receive = nil
        self.context?.close(promise: nil)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.scanner.receivedBytes(self.unwrapInboundIn(data))
        do {
            while let response = try self.scanner.next() { self.receive.take()?(response) }
        } catch {
            self.onEnd(error)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.onEnd(BenchError("the server closed a connection"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.onEnd(error) }
}

@available(*, unavailable)
extension BenchHTTPConnection: Sendable {}
