import ApusConnectivity
import ApusEngineIOServer
import ApusSocketIOServer
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOSSL

/// The channel of a connection: Socket.IO in front of Hummingbird's HTTP/1, a connection limit, and
/// TLS and the PROXY protocol if they are configured. All listeners use the same application.
///
/// Hummingbird runs a task for each connection. The task ends when the connection becomes a
/// WebSocket.
struct ConnectionChannel: HTTPChannelHandler {
    let responder: Responder
    let io: SocketIOServer
    /// The timeouts of the requests that Hummingbird handles.
    let timeouts: PassThroughTimeouts
    /// The TLS context; nil for a listener without TLS.
    let tls: NIOSSLContext?
    /// The peers whose connections must begin with a PROXY header; nil if the PROXY protocol is not
    /// used.
    let proxies: ProxyPeers?

    struct Refused: Error {}

    /// An accepted connection. Its first request determines whether Hummingbird handles it.
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        /// The channel that Hummingbird handles; nil if the connection became a WebSocket or was
        /// closed.
        let requests: EventLoopFuture<UnhandledChannel<HTTPRequestPart, HTTPResponsePart>?>
    }

    /// The maximum number of unsent bytes that the kernel buffers for a client. By default, Linux
    /// buffers up to 4 MiB for each client that does not read.
    private static let maximumUnsentBytes: SocketOptionValue = 128 << 10
    /// The socket option `TCP_NOTSENT_LOWAT`, which the Glibc module does not export.
    #if canImport(Darwin)
        private static let unsentBytesOption = ChannelOptions.tcpOption(.init(rawValue: 0x201))
    #else
        private static let unsentBytesOption = ChannelOptions.tcpOption(.init(rawValue: 25))
    #endif

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard self.proxies?.contains(channel.remoteAddress) ?? true, self.io.admit(channel) else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(Refused())
        }
        return channel.eventLoop.makeCompletedFuture {
            // If the option is not supported, the system keeps its default buffer size.
            try? channel.syncOptions?.setOption(Self.unsentBytesOption, value: Self.maximumUnsentBytes)
            // Hummingbird's listener enables half-closure. Only HTTP requests can be answered after
            // the client has closed its side.
            try? channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false)
            let first = FirstRequest(on: channel)
            let connection = self.io.mountedConnection(
                passing: self.timeouts,
                addFramework: { _ in first.decide(UnhandledChannel(try Self.addFramework(to: channel, logger: logger))) },
                upgraded: { first.decide(nil) })
            if self.proxies == nil {
                try connection.fill(channel, tls: self.tls)
            } else {
                try connection.fillForHTTP(channel, tls: self.tls)
                try Self.addProxyHandlers(to: channel, logger: logger)
            }
            return Value(channel: channel, requests: first.requests)
        }
    }

    private static func addFramework(
        to channel: any Channel, logger: Logger
    ) throws -> NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart> {
        try? channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
        try channel.pipeline.syncOperations.addHandlers([
            HTTP1ToHTTPServerCodec(secure: false),
            HTTPConnectionStateHandler(logger: logger),  // closes the connection at a shutdown
        ])
        return try NIOAsyncChannel(
            wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
    }

    private static func addProxyHandlers(to channel: any Channel, logger: Logger) throws {
        let pipeline = channel.pipeline.syncOperations
        let client = ProxiedClient()
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(ForwardedClientHandler(client: client), position: .after(decoder))
        try pipeline.addHandler(ProxyProtocolHandler(client: client, logger: logger), position: .first)
    }

    func handle(value: Value, logger: Logger) async {
        guard let requests = try? await value.requests.get()?.take() else { return }
        await self.handleHTTP(asyncChannel: requests, logger: logger)
    }
}

/// The decision whether Hummingbird handles a connection. The first request of the connection
/// determines it.
///
/// Confined to the event loop of the connection.
private final class FirstRequest {
    typealias Requests = UnhandledChannel<HTTPRequestPart, HTTPResponsePart>

    let requests: EventLoopFuture<Requests?>
    private var promise: EventLoopPromise<Requests?>?

    init(on channel: any Channel) {
        let promise = channel.eventLoop.makePromise(of: Requests?.self)
        self.promise = promise
        self.requests = promise.futureResult
        channel.closeFuture.assumeIsolated().whenComplete { [weak self] _ in self?.decide(nil) }
    }

    // A promise must be completed, even if the connection ends before its first request.
    deinit { self.decide(nil) }

    func decide(_ requests: Requests?) { self.promise.take()?.succeed(requests) }
}

@available(*, unavailable)
extension FirstRequest: Sendable {}

/// The proxies whose connections begin with a PROXY header.
struct ProxyPeers: Sendable {
    let networks: [IPNetwork]

    /// - Parameter networks: Networks that were validated.
    init(_ networks: [String]) { self.networks = networks.compactMap { IPNetwork($0) } }

    func contains(_ peer: SocketAddress?) -> Bool {
        guard let address = peer.flatMap({ IPAddress($0) })?.unmapped else { return false }
        return self.networks.contains { $0.contains(address) }
    }
}
