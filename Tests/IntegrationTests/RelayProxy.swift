import Foundation
import NIOCore
import NIOPosix

/// A proxy that requires credentials and relays every connection to one port of this machine.
final class RelayProxy: Sendable {
    enum Kind: Sendable { case httpConnect, socks5 }

    private let listener: any Channel
    var port: Int { self.listener.localAddress?.port ?? 0 }

    /// - Parameters:
    ///   - kind: The protocol between the client and the proxy.
    ///   - port: The port that every connection is relayed to.
    ///   - username: The required user name.
    ///   - password: The required password.
    init(_ kind: Kind, to port: Int, username: String, password: String) async throws {
        self.listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = Handshake(kind, port: port, username: username, password: password)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func close() async { try? await self.listener.close() }

    /// Makes the handshake with the client step by step, then connects and relays.
    private final class Handshake: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        /// The expected messages and their responses. The last response is sent after the
        /// connection to the server.
        private var steps: [(expected: (ArraySlice<UInt8>) -> Int?, answer: [UInt8])]
        private let port: Int
        private var received: ArraySlice<UInt8> = []

        init(_ kind: Kind, port: Int, username: String, password: String) {
            self.port = port
            switch kind {
            case .httpConnect:
                let credentials = Data("\(username):\(password)".utf8).base64EncodedString()
                self.steps = [
                    (
                        { bytes in
                            let text = String(decoding: bytes, as: UTF8.self)
                            guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
                            return text.contains("Proxy-Authorization: Basic \(credentials)\r\n")
                                ? text[..<end.upperBound].utf8.count : .max
                        }, Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
                    )
                ]
            case .socks5:
                let login = [1, UInt8(username.utf8.count)] + username.utf8 + [UInt8(password.utf8.count)] + password.utf8
                self.steps = [
                    ({ $0.count >= 2 && $0.count >= 2 + Int($0[$0.startIndex + 1]) ? 2 + Int($0[$0.startIndex + 1]) : nil }, [5, 2]),
                    ({ $0.count < login.count ? nil : $0.starts(with: login) ? login.count : .max }, [1, 0]),
                    (
                        { bytes in
                            guard bytes.count >= 5 else { return nil }
                            // An address of four bytes, or a name after its length.
                            let count = bytes[bytes.startIndex + 3] == 1 ? 10 : 7 + Int(bytes[bytes.startIndex + 4])
                            return bytes.count >= count ? count : nil
                        }, [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
                    ),
                ]
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.received += self.unwrapInboundIn(data).readableBytesView
            while let step = self.steps.first, let count = step.expected(self.received) {
                guard count <= self.received.count else { return context.close(promise: nil) }
                self.received = self.received.dropFirst(count)
                self.steps.removeFirst()
                if self.steps.isEmpty { self.connect(context, step.answer) } else { self.write(step.answer, context) }
            }
        }

        private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }

        private func connect(_ context: ChannelHandlerContext, _ answer: [UInt8]) {
            let channel = context.channel
            ClientBootstrap(group: context.eventLoop)
                .channelInitializer { upstream in
                    upstream.eventLoop.makeCompletedFuture { try upstream.pipeline.syncOperations.addHandler(Relay(to: channel)) }
                }
                .connect(host: "127.0.0.1", port: self.port).assumeIsolated()
                .whenComplete { result in
                    guard let upstream = try? result.get() else { return context.close(promise: nil) }
                    self.write(answer, context)
                    try? context.pipeline.syncOperations.addHandler(Relay(to: upstream))
                    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
                }
        }
    }

    private final class Relay: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let other: any Channel

        init(to other: any Channel) { self.other = other }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.other.writeAndFlush(self.unwrapInboundIn(data), promise: nil)
        }
        func channelInactive(context: ChannelHandlerContext) { self.other.close(promise: nil) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
