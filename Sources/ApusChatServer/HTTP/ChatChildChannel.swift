import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

/// Hummingbird's HTTP/1 connection with a connection limit and optional TLS. Both listeners run the
/// same application.
struct ChatChildChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let base: HTTP1Channel
    /// The TLS context; nil for a listener without TLS.
    let tls: NIOSSLContext?
    /// Counts a connection until it closes. Returns `false` at the limit.
    let admits: @Sendable (any Channel) -> Bool

    struct TooManyConnections: Error {}

    /// The maximum number of unsent bytes that the kernel buffers for a client. By default, Linux
    /// buffers up to 4 MiB for each client that does not read.
    private static let maximumUnsentBytes: SocketOptionValue = 128 << 10
    /// TCP_NOTSENT_LOWAT, which the Glibc module does not export.
    #if canImport(Darwin)
        private static let unsentBytesOption = ChannelOptions.tcpOption(.init(rawValue: 0x201))
    #else
        private static let unsentBytesOption = ChannelOptions.tcpOption(.init(rawValue: 25))
    #endif

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard self.admits(channel) else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(TooManyConnections())
        }
        return channel.eventLoop.makeCompletedFuture {
            // Without the option, the system keeps its default buffers.
            try? channel.syncOptions?.setOption(Self.unsentBytesOption, value: Self.maximumUnsentBytes)
            if let tls = self.tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
        }.flatMap {
            self.base.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Value, logger: Logger) async { await self.base.handle(value: value, logger: logger) }
}
