import ApusConnectivity
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL

/// Hummingbird's HTTP/1 connection with a connection limit, and with TLS and the PROXY protocol if
/// they are configured. All listeners run the same application.
struct ConnectionChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let base: HTTP1Channel
    /// The TLS context; nil for a listener without TLS.
    let tls: NIOSSLContext?
    /// Decides which peers must begin with a PROXY header; nil if none does.
    let proxies: ProxyPeers?
    /// Counts a connection until it closes. Returns `false` at the limit.
    let admits: @Sendable (any Channel) -> Bool

    struct Refused: Error {}

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
        guard self.proxies?.contains(channel.remoteAddress) ?? true, self.admits(channel) else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(Refused())
        }
        return channel.eventLoop.makeCompletedFuture {
            // Without the option, the system keeps its default buffers.
            try? channel.syncOptions?.setOption(Self.unsentBytesOption, value: Self.maximumUnsentBytes)
            if let tls = self.tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
        }.flatMap {
            self.base.setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            if self.proxies != nil { try Self.addProxyHandlers(to: channel, logger: logger) }
            return value
        }
    }

    private static func addProxyHandlers(to channel: any Channel, logger: Logger) throws {
        let pipeline = channel.pipeline.syncOperations
        let client = ProxiedClient()
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(ForwardedClientHandler(client: client), position: .after(decoder))
        try pipeline.addHandler(ProxyProtocolHandler(client: client, logger: logger), position: .first)
    }

    func handle(value: Value, logger: Logger) async { await self.base.handle(value: value, logger: logger) }
}

/// The proxies that begin each connection with a PROXY header.
struct ProxyPeers: Sendable {
    let networks: [IPNetwork]

    /// - Parameter networks: Networks that were checked before.
    init(_ networks: [String]) { self.networks = networks.compactMap { IPNetwork($0) } }

    func contains(_ peer: SocketAddress?) -> Bool {
        guard let address = peer.flatMap({ IPAddress($0) })?.unmapped else { return false }
        return self.networks.contains { $0.contains(address) }
    }
}
