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

    private struct State: Sendable {
        var admission: FramedAdmission
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
                admission: FramedAdmission(
                    maximumConnections: configuration.maximumConnections,
                    maximumConnectionsPerAddress: configuration.maximumConnectionsPerAddress)))
    }

    /// The connections that stand, those in their handshake included.
    public var connections: [FramedConnection] { self.state.withLockedValue { Array($0.connections.values) } }

    /// How many connections are counted: those that stand, and those whose handler has not returned.
    public var connectionCount: Int { self.state.withLockedValue { $0.admission.count } }

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
        try self.configuration.validate()
        try await self.run(until: self.bootstrap(on: eventLoopGroup, tls: tls).bind(host: host, port: port), onListening)
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
        try self.configuration.validate()
        let listener = self.bootstrap(on: eventLoopGroup, tls: nil).bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true)
        try await self.run(until: listener, onListening)
    }

    private func run(until bound: EventLoopFuture<any Channel>, _ onListening: (SocketAddress) -> Void) async throws {
        let listener = try await bound.get()
        if let address = listener.localAddress { onListening(address) }
        await withTaskCancellationHandler {
            try? await listener.closeFuture.get()
        } onCancel: {
            listener.close(promise: nil)
        }
        await self.shutdown()
    }

    private func bootstrap(on group: any EventLoopGroup, tls: NIOSSLContext?) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler()) }
            }
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.configure(channel, tls: tls) }
            }
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
        guard self.state.withLockedValue({ $0.admission.opened(from: address) }) else {
            throw FramedError(.closed, message: "the server is full, or goes down")
        }
        let id = ObjectIdentifier(connection)
        self.state.withLockedValue { $0.connections[id] = connection }
        // A handler that outlives its connection keeps its place: what it holds is bounded by the same number.
        connection.onClose { closure in
            self.logger.debug("Connection closed", metadata: ["framed.initiator": "\(closure.initiator)"])
            self.update { state in
                state.connections[id] = nil
                if state.tasks[id] == nil { state.admission.closed(from: address) }
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
                self.update { state in
                    state.tasks[id] = nil
                    if state.connections[id] == nil { state.admission.closed(from: address) }
                }
            }
        }
        if self.state.withLockedValue({ $0.admission.isDraining }) { connection.startClosing() }
    }

    // MARK: Going down

    /// Lets nobody in any more, says goodbye to everybody and waits until they have left and their handlers have returned.
    ///
    /// Whoever is still there after ``FramedServerConfiguration/drainTimeout`` is cut. Cancelling the calling task does not shorten that.
    public func shutdown() async {
        self.state.withLockedValue { $0.admission.drain() }
        let timeout = self.configuration.drainTimeout
        // In a task of its own: the caller's is often cancelled already, which is why the server goes down.
        let cutter = Task {
            guard (try? await Task.sleep(for: timeout)) != nil else { return }
            self.cutAll()
        }
        for connection in self.connections { connection.startClosing() }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isEmpty = self.state.withLockedValue { state in
                if !state.isEmpty { state.drainWaiters.append(continuation) }
                return state.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
        cutter.cancel()
    }

    private func cutAll() {
        let (connections, tasks, waiters) = self.state.withLockedValue { state in
            defer { state.drainWaiters = [] }
            return (Array(state.connections.values), Array(state.tasks.values), state.drainWaiters)
        }
        for connection in connections { connection.abort() }
        for task in tasks { task.cancel() }
        // A handler that does not listen to its cancellation is not waited for.
        for waiter in waiters { waiter.resume() }
    }

    /// Changes the state and wakes a shutdown that waits for its end.
    private func update(_ change: (inout State) -> Void) {
        let waiters = self.state.withLockedValue { state -> [CheckedContinuation<Void, Never>] in
            change(&state)
            guard state.isEmpty else { return [] }
            defer { state.drainWaiters = [] }
            return state.drainWaiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
