import ApusConnectivity
import ApusEventLoop
public import ApusWebSocketProtocol
import HTTPTypes
public import Logging
package import NIOConcurrencyHelpers
public import NIOCore

/// A WebSocket server.
///
/// ```swift
/// let server = WebSocketServer { connection in
///     for try await message in connection.messages { try await connection.send(message) }
/// }
/// try await server.run(host: "127.0.0.1", port: 8080)
/// ```
///
/// The connection closes with 1000 when the handler returns, and with 1011 when it throws. For high
/// message rates, use a handler on the event loop, which needs no task:
///
/// ```swift
/// let server = WebSocketServer(onOpen: { connection in
///     connection.onMessage { connection, message in connection.post(message) }
/// })
/// ```
///
/// The server runs without a web framework (`run`) or inside a hummingbird server
/// (`channelHandlers`). ``WebSocketServerConfiguration`` sets its admission rules, limits and
/// deadlines.
///
/// Source: RFC 6455.
public final class WebSocketServer: Sendable {
    /// The configuration of the server.
    public let configuration: WebSocketServerConfiguration
    let logger: Logger
    private let handler: Handler
    package let state: NIOLockedValueBox<State>
    let budgets: ConnectionBudgets
    let buffers: PerEventLoop<WebSocketBuffers>
    let timers = PerEventLoop { EventLoopTimers(on: $0) }

    private enum Handler: Sendable {
        case synchronous(@Sendable (WebSocketConnection) -> Void)
        case asynchronous(@Sendable (WebSocketConnection) async throws -> Void)
    }

    /// The connections of one event loop.
    struct Bucket: Sendable {
        let eventLoop: any EventLoop
        var connections: [ObjectIdentifier: WebSocketConnection] = [:]
    }

    package struct State: DrainState {
        /// The connections that `run` accepted. The connections of a surrounding web server are not
        /// counted.
        var channels: ConnectionQuota
        /// The connections with an accepted handshake.
        var webSockets: ConnectionQuota
        var buckets: [ObjectIdentifier: Bucket] = [:]
        /// The number of connections between the 101 response and the call of the handler. A
        /// shutdown also waits for them.
        var opening = 0
        /// The running `async` handlers, by their connection.
        var tasks: [ObjectIdentifier: Task<Void, Never>] = [:]
        package var drainWaiters: [CheckedContinuation<Void, Never>] = []

        package var isEmpty: Bool { self.opening == 0 && self.tasks.isEmpty && self.buckets.allSatisfy(\.value.connections.isEmpty) }
        package var openConnections: [WebSocketConnection] { self.buckets.values.flatMap(\.connections.values) }

        package mutating func refuseNewConnections() {
            self.channels.drain()
            self.webSockets.drain()
        }
    }

    private init(_ configuration: WebSocketServerConfiguration, _ logger: Logger, _ handler: Handler) {
        self.configuration = configuration
        self.logger = logger
        self.handler = handler
        let budgets = ConnectionBudgets(unfinished: configuration.maximumUnfinishedBytes, queued: configuration.maximumTotalQueuedBytes)
        // The mark is at most half of `postedBytes`, because reading from a client must stop before
        // its queue overflows.
        let queueLowMark = min(configuration.flow.queueLowMark, max(1, configuration.flow.postedBytes / 2))
        self.budgets = budgets
        self.buffers = PerEventLoop { _ in WebSocketBuffers(queueLowMark: queueLowMark, budgets: budgets) }
        self.state = NIOLockedValueBox(
            State(
                channels: .channels(for: configuration.maximumConnections, perAddress: configuration.maximumConnectionsPerAddress),
                webSockets: ConnectionQuota(
                    maximum: configuration.maximumConnections, maximumPerAddress: configuration.maximumConnectionsPerAddress)))
    }

    /// Creates a server with an `async` handler.
    ///
    /// - Parameters:
    ///   - configuration: The configuration. The defaults are safe on the public internet.
    ///   - logger: The logger for connection events at `debug`, without payloads and tokens.
    ///   - handler: The closure to call for every connection, in a separate task. The connection
    ///     closes when the closure returns or throws.
    public convenience init(
        configuration: WebSocketServerConfiguration = .init(), logger: Logger = Logger(label: "apus.websocket.server"),
        handler: @escaping @Sendable (WebSocketConnection) async throws -> Void
    ) {
        self.init(configuration, logger, .asynchronous(handler))
    }

    /// Creates a server with a handler on the event loop.
    ///
    /// - Parameters:
    ///   - configuration: The configuration. The defaults are safe on the public internet.
    ///   - logger: The logger for connection events at `debug`, without payloads and tokens.
    ///   - onOpen: The closure to call on the connection's event loop before the first message. It
    ///     sets the handlers of the connection, and must not block.
    @_disfavoredOverload
    public convenience init(
        configuration: WebSocketServerConfiguration = .init(), logger: Logger = Logger(label: "apus.websocket.server"),
        onOpen: @escaping @Sendable (WebSocketConnection) -> Void
    ) {
        self.init(configuration, logger, .synchronous(onOpen))
    }

    // MARK: Connections

    /// The open connections.
    public var connections: [WebSocketConnection] { self.state.withLockedValue { $0.openConnections } }

    /// The number of connections that are open or being opened, or whose `async` handler has not
    /// returned.
    public var connectionCount: Int { self.state.withLockedValue { $0.webSockets.count } }

    /// The number of connections accepted by `run`, including those in their handshake.
    var channelCount: Int { self.state.withLockedValue { $0.channels.count } }

    /// Sends a message to every open connection. Encodes and compresses it once, and does not wait.
    ///
    /// ``WebSocketServerConfiguration/flow`` applies to each slow reader, without an effect on
    /// other connections.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - excluded: A connection to exclude, for example the message's sender. Default: none.
    public func broadcast(_ message: WebSocketMessage, excluding excluded: WebSocketConnection? = nil) {
        let frame = WebSocketSharedFrame(message, deflate: self.configuration.compression)
        for bucket in self.state.withLockedValue({ Array($0.buckets.values) }) {
            self.deliver(bucket.connections.count, on: bucket.eventLoop) {
                for connection in bucket.connections.values where connection !== excluded { connection.post(frame) }
            }
        }
    }

    /// Returns the handlers for one HTTP/1 connection of a web framework on NIO.
    ///
    /// The handlers answer WebSocket requests for the configured path and pass on all other
    /// requests. In a hummingbird application:
    ///
    /// ```swift
    /// Application(router: router, server: .http1(configuration: .init(additionalChannelHandlers: server.channelHandlers())))
    /// ```
    ///
    /// When the application stops, it closes all connections at the same time. Call ``shutdown()``
    /// first to close them in batches.
    public func channelHandlers() -> [any RemovableChannelHandler] {
        [HTTPMountHandler(logger: self.logger) { WebSocketHTTPHandler(server: self, isSecure: $0) }]
    }

    // MARK: Opening

    /// Counts a client against the limits.
    ///
    /// - Throws: The refusal if a limit is exceeded or the server is shutting down.
    func admit(_ request: HTTPRequest, from peer: SocketAddress?) throws(WebSocketUpgradeRefusal) -> AdmissionPermit {
        let address =
            if let clientAddress = self.configuration.clientAddress {
                clientAddress(request, peer)
            } else {
                ClientAddress.key(of: peer)
            }
        guard !self.budgets.areNearlyFull else {
            throw .unavailable("The server's memory budget does not allow another connection", retryAfter: self.configuration.retryAfter)
        }
        switch self.state.withLockedValue({ $0.webSockets.opened(from: address) }) {
        case nil:
            return AdmissionPermit(state: self.state, address: address)
        case .full:
            throw .unavailable("The server has reached its connection limit", retryAfter: self.configuration.retryAfter)
        case .addressFull:
            throw .tooManyConnections("Too many connections from this address", retryAfter: self.configuration.retryAfter)
        case .draining:
            throw .unavailable("The server is shutting down", retryAfter: self.configuration.retryAfter)
        }
    }

    /// Registers a connection before its 101 is written. A call of ``open`` must follow. Call it
    /// after the application's check, during which a shutdown may have begun.
    ///
    /// - Throws: The refusal if the server is shutting down or has shut down.
    func beginOpening() throws(WebSocketUpgradeRefusal) {
        let isDraining = self.state.withLockedValue { state in
            if !state.webSockets.isDraining { state.opening += 1 }
            return state.webSockets.isDraining
        }
        if isDraining { throw .unavailable("The server is shutting down", retryAfter: self.configuration.retryAfter) }
    }

    /// Opens a connection. Must be called on its event loop, once after ``beginOpening()``.
    ///
    /// - Parameter install: A closure that replaces the channel's HTTP handlers with the WebSocket
    ///   handler.
    func open(
        _ request: HTTPRequest, _ agreement: WebSocketServerHandshake.Agreement, _ permit: AdmissionPermit, on channel: any Channel,
        installing install: (WebSocketHandler) -> Void
    ) {
        let connection = WebSocketConnection(
            on: channel.eventLoop, subprotocol: agreement.settled.subprotocol, remoteAddress: channel.remoteAddress,
            flow: self.configuration.flow,
            request: request)
        let handler = WebSocketHandler(
            role: .server, limits: self.configuration.limits, deflate: agreement.settled.deflate, delegate: connection,
            buffers: self.buffers.value(on: channel.eventLoop))
        install(handler)
        connection.attach(handler)
        connection.keep(ServerKeepAlive(server: self, timers: self.timers.value(on: channel.eventLoop), connection: connection))
        self.logger.debug("WebSocket opened", metadata: ["websocket.subprotocol": "\(agreement.settled.subprotocol ?? "")"])
        let isDraining = self.state.withLockedValue { state in
            state.buckets[ObjectIdentifier(channel.eventLoop), default: Bucket(eventLoop: channel.eventLoop)]
                .connections[ObjectIdentifier(connection)] = connection
            return state.webSockets.isDraining
        }
        // An asynchronous handler retains the permit until it returns, even after its connection
        // has ended. This limits the number of running handlers.
        if case .asynchronous = self.handler { permit.share() }
        // The closure retains the connection until the connection ends and releases the closure. A
        // weak reference would slow down each use.
        connection.onClose { closure in
            permit.release()
            self.logger.debug("WebSocket closed", metadata: ["websocket.code": "\(closure.code)"])
            self.closed(connection)
        }
        self.start(connection, permit)
        if isDraining { connection.startClosing(code: .goingAway) }  // the shutdown began after `beginOpening`
        self.state.update { $0.opening -= 1 }
    }

    private func start(_ connection: WebSocketConnection, _ permit: AdmissionPermit) {
        switch self.handler {
        case .synchronous(let onOpen):
            onOpen(connection)
        case .asynchronous(let body):
            let id = ObjectIdentifier(connection)
            // `state.tasks` owns the task. A shutdown waits for it, and cancels it at the deadline.
            self.state.withLockedValue { state in
                state.tasks[id] = Task {
                    do {
                        try await body(connection)
                        connection.startClosing(code: .normalClosure)
                    } catch {
                        self.logger.debug("WebSocket handler threw", metadata: ["error": "\(error)"])
                        connection.startClosing(code: .internalError)
                    }
                    permit.release()
                    self.state.update { $0.tasks[id] = nil }
                }
            }
        }
    }

    private func closed(_ connection: WebSocketConnection) {
        self.state.update { state in
            state.buckets[ObjectIdentifier(connection.eventLoop)]?.connections[ObjectIdentifier(connection)] = nil
        }
    }
}

extension WebSocketServer {
    /// Runs `body` for connections of an event loop: immediately if called on that loop, otherwise
    /// in its next turn.
    private func deliver(_ count: Int, on eventLoop: any EventLoop, _ body: @escaping @Sendable () -> Void) {
        self.budgets.backlog.deliver(count, on: eventLoop, turn: { self.buffers.value(on: $0).turn }, body)
    }
}
