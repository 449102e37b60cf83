import ApusConnectivity
import ApusFramedProtocol
public import Logging
import NIOConcurrencyHelpers
public import NIOCore
public import NIOPosix
public import NIOSSL

/// A server of framed connections.
///
/// ```swift
/// let server = FramedServer(configuration: .init(framing: .either())) { connection in
///     for try await message in connection.messages {
///         try await connection.send(message.body, bodyLength: message.bodyLength, header: message.header)
///     }
/// }
/// try await server.run(host: "127.0.0.1", port: 8080)
/// ```
///
/// The handler runs in a task of its own for every connection, which closes when it returns or throws.
public final class FramedServer: Sendable {
    /// The configuration the server was made with.
    public let configuration: FramedServerConfiguration
    private let logger: Logger
    private let handler: @Sendable (FramedConnection) async throws -> Void
    private let state: NIOLockedValueBox<State>

    private struct State: DrainState {
        var quota: ConnectionQuota
        var connections: [ObjectIdentifier: FramedConnection] = [:]
        /// The running handlers, by their connection.
        var tasks: [ObjectIdentifier: Task<Void, Never>] = [:]
        var drainWaiters: [CheckedContinuation<Void, Never>] = []

        var isEmpty: Bool { self.connections.isEmpty && self.tasks.isEmpty }
    }

    /// A server.
    ///
    /// - Parameters:
    ///   - configuration: Defaults that are safe on the internet.
    ///   - logger: Gets connections at `debug`. Never headers, never bodies.
    ///   - handler: Called for every connection that has finished its handshake. The connection closes when it returns or throws.
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

    /// The connections that stand, those in their handshake included.
    public var connections: [FramedConnection] { self.state.withLockedValue { Array($0.connections.values) } }

    /// How many connections are counted: those that stand, and those whose handler has not returned.
    public var connectionCount: Int { self.state.withLockedValue { $0.quota.count } }

    // MARK: Listening

    /// Listens until the task is cancelled; then it goes down as ``shutdown()`` says.
    ///
    /// - Parameters:
    ///   - host: The name or address to listen on, IPv4 or IPv6.
    ///   - port: The port; 0 lets the system choose.
    ///   - tls: The TLS context; `nil` (the default) listens in the clear.
    ///   - eventLoopGroup: Where the connections live. Default: the process-wide group, one loop a core.
    ///   - onListening: Called once with the address in use.
    /// - Throws: The system's error when the address cannot be used, ``FramedError/Code/invalidUse`` for a configuration that contradicts
    ///   itself. Cancellation ends the server and throws nothing.
    public func run(
        host: String, port: Int, tls: NIOSSLContext? = nil, eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        onListening: @Sendable (SocketAddress) -> Void = { _ in }
    ) async throws {
        try await self.run(on: .host(host, port: port), tls: tls, eventLoopGroup, onListening)
    }

    /// Listens on a Unix socket; see ``run(host:port:tls:eventLoopGroup:onListening:)``.
    ///
    /// - Parameters:
    ///   - path: Where the socket lies. A socket that is left from an earlier run is replaced.
    ///   - eventLoopGroup: Where the connections live. Default: the process-wide group, one loop a core.
    ///   - onListening: Called once with the address in use.
    public func run(
        unixDomainSocketPath path: String, eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        onListening: @Sendable (SocketAddress) -> Void = { _ in }
    ) async throws {
        try await self.run(on: .unixDomainSocket(path: path), tls: nil, eventLoopGroup, onListening)
    }

    private func run(
        on address: ListenerAddress, tls: NIOSSLContext?, _ group: any EventLoopGroup, _ onListening: (SocketAddress) -> Void
    ) async throws {
        try self.configuration.validate()
        try await Listener.run(on: address, group, onListening: onListening) { try self.configure($0, tls: tls) }
        await self.shutdown()
    }

    /// Fills the pipeline of an accepted connection. An error closes it.
    func configure(_ channel: any Channel, tls: NIOSSLContext?) throws {
        let address = ClientAddress.key(of: channel.remoteAddress)
        let configuration = self.configuration.connection
        let connection = FramedConnection(
            on: channel.eventLoop, remoteAddress: channel.remoteAddress, isClient: false, configuration: configuration)
        let handler = try FramedHandler(
            isClient: false, configuration: configuration, waitsForTLS: tls != nil, connection: connection)
        let tlsHandler = tls.map { NIOSSLServerHandler(context: $0) }
        guard self.state.withLockedValue({ $0.quota.opened(from: address) }) == nil else {
            throw FramedError(.closed, message: "the server is full, or goes down")
        }
        let id = ObjectIdentifier(connection)
        self.state.withLockedValue { $0.connections[id] = connection }
        // A handler that outlives its connection keeps its place: what it holds is bounded by the same number.
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
            connection.handlerEnded(FramedError(.connectionLost, message: "the connection ended at once", cause: error))
            throw error
        }
    }

    /// The handshake is done.
    private func start(_ connection: FramedConnection, from address: String?) {
        let id = ObjectIdentifier(connection)
        self.logger.debug("Connection opened")
        // Its owner is `state.tasks`: a shutdown waits for it and cancels it in the end.
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

    // MARK: Going down

    /// Lets nobody in any more, says goodbye to everybody and waits until they have left and their handlers have returned.
    ///
    /// Whoever is still there after ``FramedServerConfiguration/drainTimeout`` is cut. Cancelling the calling task does not shorten that.
    public func shutdown() async {
        self.state.withLockedValue { $0.quota.drain() }
        await self.state.drain(
            self.connections, pace: .init(timeout: self.configuration.drainTimeout, batchSize: .max, gap: .zero),
            telling: { $0.startClosing() }, cutting: self.cutAll)
    }

    private func cutAll() {
        let (connections, tasks) = self.state.withLockedValue { (Array($0.connections.values), Array($0.tasks.values)) }
        for connection in connections { connection.abort() }
        for task in tasks { task.cancel() }
    }
}
