public import ApusConnectivity
import ApusFramedProtocol
public import Logging
package import NIOConcurrencyHelpers
public import NIOCore
public import NIOPosix
package import NIOSSL

/// A server of framed connections.
///
/// ```swift
/// let server = FramedServer(configuration: .init(framing: .either())) { connection in
///     for try await message in connection.messages {
///         try await connection.send(
///             message.body, bodyLength: message.bodyLength, header: message.header)
///     }
/// }
/// try await server.run(host: "127.0.0.1", port: 8080)
/// ```
///
/// The handler runs in a separate task for each connection. The connection closes when the handler
/// returns or throws.
public final class FramedServer: Sendable {
    /// The configuration of the server.
    public let configuration: FramedServerConfiguration
    private let logger: Logger
    private let handler: @Sendable (FramedConnection) async throws -> Void
    package let state: NIOLockedValueBox<State>

    package struct State: DrainState {
        var quota: ConnectionQuota
        var connections: [ObjectIdentifier: FramedConnection] = [:]
        /// The tasks of the running handlers, by connection.
        var tasks: [ObjectIdentifier: Task<Void, Never>] = [:]
        package var drainWaiters: [CheckedContinuation<Void, Never>] = []

        package var isEmpty: Bool { self.connections.isEmpty && self.tasks.isEmpty }
        package var openConnections: [FramedConnection] { Array(self.connections.values) }

        package mutating func refuseNewConnections() { self.quota.drain() }
    }

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - configuration: The configuration. The defaults are safe for servers on the internet.
    ///   - logger: Logs connections at `debug`, without headers and bodies.
    ///   - handler: Called for each connection after its handshake. The connection closes when the
    ///     handler returns or throws.
    public init(
        configuration: FramedServerConfiguration = .init(), logger: Logger = Logger(label: "apus.framed.server"),
        handler: @escaping @Sendable (FramedConnection) async throws -> Void
    ) {
        self.configuration = configuration
        self.logger = logger
        self.handler = handler
        self.state = NIOLockedValueBox(
            State(
                quota: ConnectionQuota(
                    maximum: configuration.maximumConnections, maximumPerAddress: configuration.maximumConnectionsPerAddress)))
    }

    /// The open connections, including those in their handshake.
    public var connections: [FramedConnection] { self.state.withLockedValue { $0.openConnections } }

    /// The number of open connections, plus the closed ones whose handler has not returned.
    public var connectionCount: Int { self.state.withLockedValue { $0.quota.count } }

    // MARK: Listening

    /// Listens until the task is cancelled, then shuts down like ``shutdown()``.
    ///
    /// - Parameters:
    ///   - host: The name or address to listen on, IPv4 or IPv6.
    ///   - port: The port; 0 lets the system choose.
    ///   - tls: The certificate and the settings of TLS; `nil` (the default) listens without TLS.
    ///   - eventLoopGroup: The event loops of the connections. Default: the process-wide group, one
    ///     loop per core.
    ///   - onListening: Called once with the bound address.
    /// - Throws: The system's error when the address cannot be bound,
    ///   `FramedError.Code.invalidConfiguration` for an invalid configuration, `ConnectivityError`
    ///   for invalid TLS settings. Cancellation stops the server without an error.
    public func run(
        host: String, port: Int, tls: TLSServerSettings? = nil, eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        onListening: @Sendable (SocketAddress) -> Void = { _ in }
    ) async throws {
        try await self.serve(on: .host(host, port: port), tls: tls, eventLoopGroup, onListening: onListening)
    }

    /// Listens on a Unix socket; see ``run(host:port:tls:eventLoopGroup:onListening:)``.
    ///
    /// - Parameters:
    ///   - path: The path of the socket. A socket left over from an earlier run is replaced.
    ///   - eventLoopGroup: The event loops of the connections. Default: the process-wide group, one
    ///     loop per core.
    ///   - onListening: Called once with the bound address.
    public func run(
        unixDomainSocketPath path: String, eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        onListening: @Sendable (SocketAddress) -> Void = { _ in }
    ) async throws {
        try await self.serve(on: .unixDomainSocket(path: path), tls: nil, eventLoopGroup, onListening: onListening)
    }

    /// Stops accepting connections, closes the open ones, and waits until their handlers have
    /// returned.
    ///
    /// Connections that remain after ``FramedServerConfiguration/drainTimeout`` are aborted.
    /// Cancelling the calling task does not shorten the wait.
    public func shutdown() async { await self.drain() }
}

extension FramedServer: ServerShell {
    package var drainSchedule: DrainSchedule {
        DrainSchedule(timeout: self.configuration.drainTimeout, batchSize: .max, gap: .zero)
    }

    package var applicationProtocols: [String] { [] }

    package func validate() throws { try self.configuration.validate() }

    package func configure(_ channel: any Channel, tls: NIOSSLContext?) throws {
        let address = ClientAddress.key(of: channel.remoteAddress)
        let configuration = self.configuration.connection
        let connection = FramedConnection(
            on: channel.eventLoop, remoteAddress: channel.remoteAddress, isClient: false, configuration: configuration)
        let handler = try FramedHandler(
            isClient: false, configuration: configuration, waitsForTLS: tls != nil, connection: connection)
        let tlsHandler = tls.map { NIOSSLServerHandler(context: $0) }
        switch self.state.withLockedValue({ $0.quota.opened(from: address) }) {
        case nil: break
        case .full: throw FramedError(.closed, message: "the server has reached its maximum number of connections (`maximumConnections`)")
        case .addressFull:
            throw FramedError(
                .closed, message: "the address has reached its maximum number of connections (`maximumConnectionsPerAddress`)")
        case .draining: throw FramedError(.closed, message: "the server is shutting down")
        }
        let id = ObjectIdentifier(connection)
        self.state.withLockedValue { $0.connections[id] = connection }
        // A handler that outlives its connection is still counted, so that its memory is bounded
        // too.
        connection.onClose { closure in
            self.logger.debug("Connection closed", metadata: ["framed.initiator": "\(closure.initiator)"])
            self.state.update { state in
                state.connections[id] = nil
                if state.tasks[id] == nil { state.quota.closed(from: address) }
            }
        }
        FramedConnection.setOptions(of: channel)
        connection.attach(handler).assumeIsolated().whenSuccess { self.start(connection, from: address) }
        do {
            if let tlsHandler { try channel.pipeline.syncOperations.addHandler(tlsHandler) }
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            connection.handlerEnded(
                FramedError(.connectionLost, message: "the connection ended while its handlers were added", cause: error))
            throw error
        }
    }

    /// Handles the completion of the handshake.
    private func start(_ connection: FramedConnection, from address: String?) {
        let id = ObjectIdentifier(connection)
        self.logger.debug("Connection opened")
        // `state.tasks` owns the task: a shutdown waits for it and finally cancels it.
        self.state.withLockedValue { state in
            guard state.connections[id] != nil else { return }
            state.tasks[id] = Task {
                do {
                    try await self.handler(connection)
                } catch {
                    self.logger.debug("Handler threw", metadata: ["error": "\(error)"])
                }
                connection.startClosing()
                self.state.update { state in
                    state.tasks[id] = nil
                    if state.connections[id] == nil { state.quota.closed(from: address) }
                }
            }
        }
        if self.state.withLockedValue({ $0.quota.isDraining }) { connection.startClosing() }
    }

    package func startClosing(_ connection: FramedConnection) { connection.startClosing() }

    package func cutAll() {
        let (connections, tasks) = self.state.withLockedValue { ($0.openConnections, Array($0.tasks.values)) }
        for connection in connections { connection.abort() }
        for task in tasks { task.cancel() }
    }
}
