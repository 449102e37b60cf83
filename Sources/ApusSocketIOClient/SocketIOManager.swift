import ApusEventLoop
import ApusJSON
import ApusSocketIOProtocol
public import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// One connection to a Socket.IO server, shared by the sockets of all namespaces.
///
/// ```swift
/// let manager = SocketIOManager(url: "https://example.com", configuration: .init(auth: ["token": "…"]))
/// let socket = manager.defaultSocket
/// socket.on("chat message") { data, ack in print(data) }
/// try await socket.connect(timeout: .seconds(15))
/// ```
///
/// The manager connects when the first socket is opened. The connection closes when the last socket
/// disconnects, or when the manager and all of its sockets are deallocated.
public final class SocketIOManager: Sendable {
    let lifetime: SocketIOManagerLifetime

    /// Creates a manager, without connecting.
    ///
    /// - Parameters:
    ///   - url: The scheme (`http`, `https`, `ws` or `wss`), host and port. With an invalid URL or
    ///     setting, connecting fails with `invalidUse`.
    ///   - configuration: See ``SocketIOManagerConfiguration``.
    ///   - logger: The logger for fixed messages with metadata, never a payload or a token.
    public init(
        url: String, configuration: SocketIOManagerConfiguration = .init(), logger: Logger = Logger(label: "apus.socketio.client")
    ) {
        self.lifetime = SocketIOManagerLifetime(
            url: url, configuration: configuration, logger: logger, eventLoop: MultiThreadedEventLoopGroup.singleton.next())
    }

    /// The socket of the namespace `/`.
    public var defaultSocket: SocketIOClient { self.socket(forNamespace: "/") }

    /// Returns a socket of a namespace. All sockets of one namespace share its connection,
    /// listeners and state.
    ///
    /// - Parameters:
    ///   - namespace: The name, which starts with `/`; a missing slash is added.
    ///   - auth: The auth of this namespace in place of the auth of the manager. Only the first
    ///     call for a namespace uses this value. Default: `nil`, the auth of the manager.
    public func socket(forNamespace namespace: String, auth: SocketIOClientAuthentication? = nil) -> SocketIOClient {
        SocketIOClient(
            lifetime: self.lifetime, handle: self.lifetime.namespace(namespace.hasPrefix("/") ? namespace : "/" + namespace, auth: auth))
    }

    /// The round-trip time of the last heartbeat or ping; `nil` before the first measurement.
    ///
    /// With a server of Socket.IO 2.x, this is the time from the client's ping to the server's
    /// pong. With a server of Socket.IO 3 or later, which sends the pings, it is the time until the
    /// client's pong has reached the server: measured with the response to the pong's POST or, on
    /// a WebSocket, with a WebSocket Ping sent after the pong.
    public var latency: Duration? { self.lifetime.latency.withLockedValue { $0 } }

    /// Opens the socket of the namespace `/`, and waits until no socket is open because the policy
    /// permits no further attempt, or the server refused or disconnected the last one.
    ///
    /// - Throws: The `SocketIOError` after which the client makes no further attempt;
    ///   `CancellationError`.
    package func runUntilGivenUp() async throws {
        let core = self.lifetime.core
        let root = self.defaultSocket.core
        try await withLoopOperation(on: core.eventLoop, returning: Void.self) { operation in
            core.value.waitUntilGivenUp(operation)
            root.value.connect()
        }
    }

    /// Connects now: cancels the wait before the next attempt, or replaces the open connection. Has
    /// no effect while all sockets are disconnected.
    public func reconnect() {
        self.lifetime.core.onLoop { $0.reconnect() }
    }

    /// Disconnects all sockets and closes the connection. Returns immediately; see
    /// ``close(timeout:)``.
    public func disconnect() {
        self.lifetime.core.onLoop { $0.disconnectAll() }
    }

    /// Disconnects all sockets, and returns when all earlier packets have been sent or cannot be
    /// sent.
    ///
    /// - Parameter timeout: The maximum wait, after which sending continues in the background.
    ///   Default: 5 seconds.
    public func close(timeout: Duration = .seconds(5)) async {
        let core = self.lifetime.core
        let departed = core.eventLoop.makePromise(of: Void.self)
        core.onLoop { core in
            let timer = core.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { departed.succeed() }
            core.disconnectAll {
                timer.cancel()
                departed.succeed()
            }
        }
        try? await departed.futureResult.get()  // ignores cancellation
    }
}

/// The parts of a namespace that are accessible from any thread.
struct SocketIOClientNamespaceHandle: Sendable {
    let name: String
    let status: NIOLockedValueBox<SocketIOClientNamespaceCore.Status>
    let core: NIOLoopBoundBox<SocketIOClientNamespaceCore>
}

/// The parts of a manager that are accessible from any thread.
///
/// Closes the connection when the manager and all of its sockets are deallocated. Otherwise the
/// connection would reconnect until the process ends, because no caller can close it.
final class SocketIOManagerLifetime: Sendable {
    let core: NIOLoopBoundBox<SocketIOManagerCore>
    let latency = NIOLockedValueBox<Duration?>(nil)
    private let configuration: SocketIOManagerConfiguration
    private let callbacks: SocketIOClientCallbackQueue?
    private let namespaces = NIOLockedValueBox<[UTF8Key: SocketIOClientNamespaceHandle]>([:])

    init(url: String, configuration: SocketIOManagerConfiguration, logger: Logger, eventLoop: any EventLoop) {
        self.configuration = configuration
        self.callbacks = configuration.callbacks.makeQueue(
            maximumCount: configuration.maximumPendingCallbacks, maximumBytes: configuration.maximumPendingCallbackBytes)
        self.core = .sending(
            SocketIOManagerCore(url: url, configuration: configuration, logger: logger, latency: self.latency, eventLoop: eventLoop),
            to: eventLoop)
    }

    // No reference is left through which the connection could be closed. In contrast to `close()`,
    // this does not wait until events have been sent.
    deinit {
        self.core.onLoop { $0.disconnectAll() }
    }

    func namespace(_ name: String, auth: SocketIOClientAuthentication?) -> SocketIOClientNamespaceHandle {
        self.namespaces.withLockedValue { namespaces in
            if let known = namespaces[UTF8Key(name)] { return known }
            let eventLoop = self.core.eventLoop
            let status = NIOLockedValueBox(SocketIOClientNamespaceCore.Status())
            let namespace = NIOLoopBoundBox<SocketIOClientNamespaceCore>.sending(
                SocketIOClientNamespaceCore(
                    name: name, auth: auth ?? self.configuration.auth, configuration: self.configuration, callbacks: self.callbacks,
                    status: status, eventLoop: eventLoop),
                to: eventLoop)
            // Called under the lock, so that it precedes all calls through the handle.
            self.core.onLoop { $0.add(namespace.value) }
            let handle = SocketIOClientNamespaceHandle(name: name, status: status, core: namespace)
            namespaces[UTF8Key(name)] = handle
            return handle
        }
    }
}
