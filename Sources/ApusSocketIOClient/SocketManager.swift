import ApusSocketIOProtocol
public import Logging
import NIOCore
import NIOPosix

/// One connection to a Socket.IO server, shared by the namespaces used on it.
///
/// ```swift
/// let manager = SocketManager(url: "https://example.com", configuration: .init(auth: ["token": "…"]))
/// let socket = manager.defaultSocket
/// socket.on("chat message") { data, ack in print(data) }
/// try await socket.connect(timeout: .seconds(15))
/// ```
///
/// It connects with the first socket. It closes when the last socket disconnects, or when the
/// manager and all of its sockets are deallocated.
public final class SocketManager: Sendable {
    let lifetime: SocketManagerLifetime

    /// Creates a manager, without connecting.
    ///
    /// - Parameters:
    ///   - url: The scheme (`http`, `https`, `ws` or `wss`), host and port. With an invalid URL the
    ///     connect fails.
    ///   - configuration: See ``SocketManagerConfiguration``.
    ///   - logger: Receives fixed messages with metadata, never a payload or a token.
    public init(
        url: String, configuration: SocketManagerConfiguration = .init(), logger: Logger = Logger(label: "apus.socketio.client")
    ) {
        let core = SocketManagerCore(
            url: url, configuration: configuration, logger: logger, eventLoop: MultiThreadedEventLoopGroup.singleton.next())
        self.lifetime = SocketManagerLifetime(core: core)
    }

    /// The socket of the namespace `/`.
    public var defaultSocket: SocketIOClient { self.socket(forNamespace: "/") }

    /// Returns the socket of a namespace. Repeated calls return the same socket, with shared
    /// listeners and state.
    ///
    /// - Parameters:
    ///   - namespace: The name, which starts with `/`; a missing slash is added.
    ///   - auth: The auth of this namespace in place of the manager's. It applies only to the first
    ///     call for the namespace.
    public func socket(forNamespace namespace: String, auth: SocketAuthentication? = nil) -> SocketIOClient {
        SocketIOClient(
            lifetime: self.lifetime, core: self.lifetime.core.namespace(namespace.hasPrefix("/") ? namespace : "/" + namespace, auth: auth))
    }

    /// The round trip of the last ping; nil until one is measured. A server of Socket.IO 3 or later
    /// sends the pings, and does not report the time it measures.
    public var latency: Duration? { self.lifetime.core.latency }

    /// Connects now: cancels the wait before the next attempt, and replaces an open connection. Has
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
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            self.lifetime.core.onLoop { core in
                var waiting: CheckedContinuation<Void, Never>? = continuation
                let end = { waiting.take()?.resume() }
                let timer = core.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { end() }
                core.disconnectAll {
                    timer.cancel()
                    end()
                }
            }
        }
    }
}

/// Closes the connection when the manager and all of its sockets are deallocated.
final class SocketManagerLifetime: Sendable {
    let core: SocketManagerCore

    init(core: SocketManagerCore) {
        self.core = core
    }

    deinit {
        self.core.onLoop { $0.disconnectAll() }
    }
}
