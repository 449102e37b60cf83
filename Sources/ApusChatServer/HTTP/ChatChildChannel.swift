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

    /// Most bytes that the kernel buffers for a client in addition to those in flight. By default
    /// Linux buffers up to 4 MiB for each client that does not read.
    private static let maximumUnsentBytes: SocketOptionValue = 128 << 10
    /// TCP_NOTSENT_LOWAT, which the Glibc module does not export.
    #if os(Linux) || os(Android)
        private static let unsentBytesOption = ChannelOptions.tcpOption(.init(rawValue: 25))
    #else
        private static let unsentBytesOption = ChannelOptions.tcpOption(.init(rawValue: 0x201))
    #endif

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard self.admits(channel) else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(TooManyConnections())
        }
        return channel.eventLoop.makeCompletedFuture {
            // A system without the option keeps its default buffers.
            try? channel.syncOptions?.setOption(Self.unsentBytesOption, value: Self.maximumUnsentBytes)
            if let tls = self.tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
        }.flatMap {
            self.base.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Value, logger: Logger) async { await self.base.handle(value: value, logger: logger) }
}
