import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL

/// A server that answers each request with exact bytes and records the requests.
final class ScriptedHTTPServer: Sendable {
    enum Answer: Sendable {
        case bytes(String)
        case raw([UInt8])
        /// Sends the bytes and closes the connection.
        case last(String)
        case hangUp
        case silence

        /// A complete response of status 200.
        static func ok(_ body: String, _ fields: String = "") -> Self {
            .bytes("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
        }
    }

    struct Request: Sendable, Equatable {
        /// The number of the connection, starting at 1.
        var connection: Int
        var text: String
    }

    private struct State {
        var requests: [Request] = []
        var connections = 0
        var open = 0
    }

    private let state = NIOLockedValueBox(State())
    private let listener: NIOLockedValueBox<(any Channel)?> = .init(nil)

    var requests: [Request] { self.state.withLockedValue { $0.requests } }
    var connections: Int { self.state.withLockedValue { $0.connections } }
    var openConnections: Int { self.state.withLockedValue { $0.open } }
    var port: Int { self.listener.withLockedValue { $0?.localAddress?.port } ?? 0 }

    /// Runs `body` with a server that answers as in `script`, and closes the server.
    ///
    /// - Parameter prelude: The exchanges before the first request of a connection, as with a
    ///   proxy.
    static func with<Result>(
        tls: TLSConfiguration? = nil, at address: SocketAddress? = nil, prelude: [ScriptedProxy.Step] = [],
        _ script: @escaping @Sendable (_ request: Request, _ number: Int) -> Answer, _ body: (ScriptedHTTPServer) async throws -> Result
    ) async throws -> Result {
        let server = ScriptedHTTPServer()
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = Handler(server, script)
                    guard prelude.isEmpty else {
                        return try channel.pipeline.syncOperations.addHandler(
                            ScriptedProxy.Handler(prelude, context, then: { try $0.addHandler(handler) }))
                    }
                    if let context { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context)) }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(to: try address ?? SocketAddress(ipAddress: "127.0.0.1", port: 0)).get()
        server.listener.withLockedValue { $0 = channel }
        do {
            let result = try await body(server)
            try? await channel.close()
            return result
        } catch {
            try? await channel.close()
            throw error
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let server: ScriptedHTTPServer
        private let script: @Sendable (Request, Int) -> Answer
        private let number: Int
        private var received = ""

        init(_ server: ScriptedHTTPServer, _ script: @escaping @Sendable (Request, Int) -> Answer) {
            self.server = server
            self.script = script
            self.number = server.state.withLockedValue {
                $0.connections += 1
                $0.open += 1
                return $0.connections
            }
        }

        func channelInactive(context: ChannelHandlerContext) { self.server.state.withLockedValue { $0.open -= 1 } }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.received += String(buffer: self.unwrapInboundIn(data))
            while let request = self.takeRequest() {
                let number = self.server.state.withLockedValue {
                    $0.requests.append(request)
                    return $0.requests.count
                }
                switch self.script(request, number) {
                case .bytes(let text): context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
                case .raw(let bytes): context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
                case .last(let text):
                    context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
                    context.close(promise: nil)
                case .hangUp: context.close(promise: nil)
                case .silence: break
                }
            }
        }

        private func takeRequest() -> Request? {
            guard let end = self.received.firstRange(of: "\r\n\r\n") else { return nil }
            var length = 0
            for line in self.received[..<end.lowerBound].split(separator: "\r\n") where line.lowercased().hasPrefix("content-length:") {
                length = Int(line.dropFirst(15).filter { $0 != " " }) ?? 0
            }
            let rest = self.received[end.upperBound...]
            guard rest.utf8.count >= length, let cut = rest.utf8.index(rest.startIndex, offsetBy: length, limitedBy: rest.endIndex) else {
                return nil
            }
            let request = Request(connection: self.number, text: String(self.received[..<cut]))
            self.received = String(self.received[cut...])
            return request
        }
    }
}
