import ApusConnectivity
import ApusEventLoop
package import ApusWebSocket
package import ApusWebSocketProtocol
package import HTTPTypes
package import NIOCore
import NIOHTTP1
package import NIOSSL

/// A connection of another server's listener, on which a web framework handles the requests that
/// are not Engine.IO.
///
/// If the first request is a WebSocket handshake under the server's path, the connection becomes a
/// WebSocket without the framework's handlers, which saves about 10 KiB for each idle connection.
/// Any other first request adds the HTTP handlers and the framework's handlers.
///
/// Confined to the connection's event loop.
package final class EngineIOMountedConnection {
    private let server: EngineIOServer
    private let passing: PassThroughTimeouts
    private let addFramework: (ChannelPipeline.SynchronousOperations) throws -> Void
    private let upgraded: () -> Void

    /// - Parameters:
    ///   - server: The Engine.IO server.
    ///   - passing: The timeouts of the framework's requests.
    ///   - addFramework: Adds the framework's handlers to the end of the pipeline. The handlers use
    ///     `HTTPServerRequestPart` and `HTTPServerResponsePart`.
    ///   - upgraded: Called instead of `addFramework` if the first request made the connection a
    ///     WebSocket.
    package init(
        server: EngineIOServer, passing: PassThroughTimeouts,
        addFramework: @escaping (ChannelPipeline.SynchronousOperations) throws -> Void, upgraded: @escaping () -> Void
    ) {
        self.server = server
        self.passing = passing
        self.addFramework = addFramework
        self.upgraded = upgraded
    }

    /// Sets up the pipeline of an accepted connection. Call before the channel reads.
    ///
    /// - Parameters:
    ///   - channel: The connection, counted by ``EngineIOServer/admit(_:)``.
    ///   - tls: The TLS context; `nil` for a connection without TLS.
    package func fill(_ channel: any Channel, tls: NIOSSLContext?) throws {
        try FastUpgradeHandler.fill(
            channel, tls: tls, for: self, timers: self.server.timers.value(on: channel.eventLoop),
            buffers: self.server.buffers.value(on: channel.eventLoop), timeout: self.server.configuration.requestTimeout)
    }

    /// Sets up the pipeline for HTTP without waiting for a request, for a connection whose requests
    /// another handler must receive first. The caller adds that handler after the decoder.
    package func fillForHTTP(_ channel: any Channel, tls: NIOSSLContext?) throws {
        let pipeline = channel.pipeline.syncOperations
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
        try self.addHTTPHandlers(
            to: pipeline, isSecure: tls != nil, deadline: .now() + TimeAmount(self.server.configuration.requestTimeout))
    }
}

extension EngineIOMountedConnection: FastUpgradeHost {
    package var handshakeLimits: WebSocketLimits { self.server.handshakeLimits }

    package func receive(_ request: HTTPRequest, at upgradeHandler: FastUpgradeHandler, on channel: any Channel) -> Bool {
        guard self.server.receive(request, at: upgradeHandler, on: channel) else { return false }
        self.upgraded()
        return true
    }

    package func addHTTPHandlers(to pipeline: ChannelPipeline.SynchronousOperations, isSecure: Bool, deadline: NIODeadline) throws {
        try pipeline.addHandlers([
            HTTPResponseEncoder(),
            EngineIOServer.makeDecoder(),
            HTTPRequestGuard(isAlone: false, logger: self.server.logger),
            self.server.makeHTTPHandler(isSecure: isSecure, isAlone: true, passing: self.passing, firstDeadline: deadline),
        ])
        try self.addFramework(pipeline)
    }
}

@available(*, unavailable)
extension EngineIOMountedConnection: Sendable {}
