import ApusConnectivity
import NIOCore
import NIOPosix

/// Connects, waits for the server's greeting, and returns it.
///
/// - Throws: The error of the attempt.
func greeting(_ dialer: Dialer, _ target: Dialer.Target, name: String? = nil) async throws -> String {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    return try await loop.flatSubmit {
        let promise = loop.makePromise(of: String.self)
        dialer.dial(target, name: name, on: loop).futureResult.assumeIsolated().whenComplete { result in
            do {
                let channel = try result.get()
                try channel.pipeline.syncOperations.addHandler(GreetingHandler(promise))
                channel.writeAndFlush(ByteBuffer(string: "application"), promise: nil)
            } catch {
                promise.fail(error)
            }
        }
        return promise.futureResult
    }.get()
}

/// Returns the error with which the connection attempt fails; `nil` if it succeeds.
func failure(_ dialer: Dialer, _ target: Dialer.Target, name: String? = nil) async throws -> ConnectivityError? {
    do {
        _ = try await greeting(dialer, target, name: name)
        return nil
    } catch let error as ConnectivityError {
        return error
    }
}

private final class GreetingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let promise: EventLoopPromise<String>
    private var text = ""

    init(_ promise: EventLoopPromise<String>) { self.promise = promise }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.text += String(buffer: self.unwrapInboundIn(data))
        if self.text.utf8.count >= TestServer.greeting.utf8.count {
            self.promise.succeed(self.text)
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { self.promise.fail(ChannelError.eof) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.promise.fail(error) }
}
