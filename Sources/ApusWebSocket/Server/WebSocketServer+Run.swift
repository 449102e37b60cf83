public import ApusConnectivity
import ApusEventLoop
package import ApusWebSocketProtocol
package import HTTPTypes
import NIOConcurrencyHelpers
public import NIOCore
import NIOHTTP1
public import NIOPosix
package import NIOSSL

extension WebSocketServer {
    /// Runs the server without a web framework until the task is cancelled, then calls
    /// ``shutdown()``.
    ///
    /// - Parameters:
    ///   - host: The name or address to listen on, for example `127.0.0.1`.
    ///   - port: The port; 0 lets the system choose one.
    ///   - tls: The certificate and the settings of TLS; `nil` (the default) listens without TLS.
    ///   - eventLoopGroup: The event loops of the connections. Default: the process-wide group, one
    ///     loop per core.
    ///   - onListening: The closure to call once with the bound address.
    /// - Throws: The system's error if the address cannot be used,
    ///   `WebSocketError.Code.invalidConfiguration` for an invalid configuration,
    ///   `ConnectivityError` for invalid TLS settings. Cancellation ends the server without an
    ///   error.
    public func run(
        host: String, port: Int, tls: TLSServerSettings? = nil, eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        onListening: @Sendable (SocketAddress) -> Void = { _ in }
    ) async throws {
        try await self.serve(on: .host(host, port: port), tls: tls, eventLoopGroup, onListening: onListening)
    }

    /// Runs the server on a Unix socket until the task is cancelled, then calls ``shutdown()``.
    ///
    /// - Parameters:
    ///   - path: The path of the socket. A stale socket of an earlier run is replaced.
    ///   - eventLoopGroup: The event loops of the connections. Default: the process-wide group, one
    ///     loop per core.
    ///   - onListening: The closure to call once with the bound address.
    /// - Throws: The system's error if the path cannot be used,
    ///   `WebSocketError.Code.invalidConfiguration` for an invalid configuration. Cancellation ends
    ///   the server without an error.
    public func run(
        unixDomainSocketPath path: String, eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        onListening: @Sendable (SocketAddress) -> Void = { _ in }
    ) async throws {
        try await self.serve(on: .unixDomainSocket(path: path), tls: nil, eventLoopGroup, onListening: onListening)
    }

    /// Stops accepting connections, closes all open connections with 1001 and waits until they have
    /// ended.
    ///
    /// The connections are closed in batches, in random order and at varying intervals, so that the
    /// clients do not reconnect at the same time. Connections still open after
    /// ``WebSocketServerConfiguration/drainTimeout`` are aborted. Cancelling the calling task does
    /// not shorten the wait.
    public func shutdown() async { await self.drain() }
}

extension WebSocketServer: ServerShell {
    package var drainSchedule: DrainSchedule {
        DrainSchedule(
            timeout: self.configuration.drainTimeout, batchSize: self.configuration.drainBatchSize, gap: self.configuration.drainBatchGap)
    }

    package func validate() throws { try self.configuration.validate() }

    /// Sets up the pipeline of an accepted connection.
    package func configure(_ channel: any Channel, tls: NIOSSLContext?) throws {
        guard self.admit(channel, countsAddress: self.configuration.clientAddress == nil, in: \.channels) else {
            // The error closes the channel.
            throw WebSocketUpgradeRefusal.unavailable(
                "The server has reached its connection limit", retryAfter: self.configuration.retryAfter)
        }
        try FastUpgradeHandler.fill(
            channel, tls: tls, for: self, timers: self.timers.value(on: channel.eventLoop),
            buffers: self.buffers.value(on: channel.eventLoop), timeout: self.configuration.handshakeTimeout)
    }

    package func startClosing(_ connection: WebSocketConnection) { connection.startClosing(code: .goingAway) }

    package func cutAll() {
        let (connections, tasks) = self.state.withLockedValue { ($0.openConnections, Array($0.tasks.values)) }
        for connection in connections { connection.abort() }
        for task in tasks { task.cancel() }
    }
}

extension WebSocketServer: FastUpgradeHost {
    package var handshakeLimits: WebSocketLimits { self.configuration.limits }

    package func receive(_ request: HTTPRequest, at upgradeHandler: FastUpgradeHandler, on channel: any Channel) -> Bool {
        let handshake = WebSocketServerHandshake(configuration: self.configuration)
        guard self.configuration.shouldUpgrade == nil, handshake.isOurs(request),
            let agreement = try? handshake.judge(request, hasBody: false),
            let permit = try? self.admit(request, from: channel.remoteAddress)
        else { return false }
        do throws(WebSocketUpgradeRefusal) {
            try self.beginOpening()
        } catch {
            permit.release()
            return false
        }
        self.open(request, agreement, permit, on: channel) { upgradeHandler.acceptUpgrade($0, answering: agreement.fields) }
        return true
    }

    package func addHTTPHandlers(to pipeline: ChannelPipeline.SynchronousOperations, isSecure: Bool, deadline: NIODeadline) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = self.configuration.limits.maximumHeaderBytes
        limits.maxHeaderListSize = self.configuration.limits.maximumHeaderBytes
        limits.maxHeaderFieldCount = self.configuration.limits.maximumHeaderFields
        try pipeline.addHandlers([
            HTTPResponseEncoder(),
            ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)),
            // RFC 6455 section 4.2.1: "The HTTP version MUST be at least 1.1"
            HTTPRequestGuard(isAlone: true, allowsHTTP10: false, logger: self.logger),
            WebSocketHTTPHandler(server: self, isSecure: isSecure, deadline: deadline),
            WebSocketFallbackHandler(path: self.configuration.path),
        ])
    }
}
