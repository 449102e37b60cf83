import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

/// hummingbird's HTTP/1 connection behind TLS, so that both listeners run the same application.
struct TLSChildChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let base: HTTP1Channel
    let context: NIOSSLContext

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: self.context))
        }.flatMap {
            self.base.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Value, logger: Logger) async { await self.base.handle(value: value, logger: logger) }
}
