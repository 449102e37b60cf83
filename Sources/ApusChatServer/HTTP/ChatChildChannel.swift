import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

/// hummingbird's HTTP/1 connection, counted, and behind TLS when the listener wants it: both listeners run the same application.
struct ChatChildChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let base: HTTP1Channel
    /// Nil listens in the clear.
    let tls: NIOSSLContext?
    /// Counts a connection until it closes. `false`: there are too many.
    let admits: @Sendable (any Channel) -> Bool

    struct TooManyConnections: Error {}

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard self.admits(channel) else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(TooManyConnections())
        }
        return channel.eventLoop.makeCompletedFuture {
            if let tls = self.tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
        }.flatMap {
            self.base.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Value, logger: Logger) async { await self.base.handle(value: value, logger: logger) }
}
