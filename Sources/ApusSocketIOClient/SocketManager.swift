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
/// Connects when the first socket does and closes when the last one leaves, or when the manager and all its sockets are released.
public final class SocketManager: Sendable {
    let lifetime: SocketManagerLifetime

    /// Makes a manager; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - url: `http`, `https`, `ws` or `wss`, host and port. A wrong one fails the connect.
    ///   - configuration: See ``SocketManagerConfiguration``.
    ///   - logger: Fixed messages with metadata; never a payload or a token.
    public init(
        url: String, configuration: SocketManagerConfiguration = .init(), logger: Logger = Logger(label: "apus.socketio.client")
    ) {
        let core = SocketManagerCore(
            url: url, configuration: configuration, logger: logger, eventLoop: MultiThreadedEventLoopGroup.singleton.next())
        self.lifetime = SocketManagerLifetime(core: core)
    }

    /// The socket of the namespace `/`.
    public var defaultSocket: SocketIOClient { self.socket(forNamespace: "/") }

    /// The socket of a namespace. Asked twice, both are the same socket: listeners and state are shared.
    ///
    /// - Parameters:
    ///   - namespace: Starts with `/`; a missing slash is added.
    ///   - auth: What this namespace shows in place of the manager's. Taken when the namespace is asked for the first time.
    public func socket(forNamespace namespace: String, auth: SocketAuthentication? = nil) -> SocketIOClient {
        SocketIOClient(
            lifetime: self.lifetime, core: self.lifetime.core.namespace(namespace.hasPrefix("/") ? namespace : "/" + namespace, auth: auth))
    }

    /// The round trip of the last ping; nil until one was measured. A server of Socket.IO 3 or later pings us, and does not tell what it measures.
    public var latency: Duration? { self.lifetime.core.latency }

    /// Connects now: the wait before the next attempt is cut short, and a connection that stands is closed and made anew. Does nothing while no
    /// socket wants to be connected.
    public func reconnect() {
        self.lifetime.core.onLoop { $0.reconnect() }
    }

    /// Disconnects all sockets and closes the connection. Returns at once; see ``close(timeout:)``.
    public func disconnect() {
        self.lifetime.core.onLoop { $0.disconnectAll() }
    }

    /// Disconnects all sockets, and returns when what was emitted before and the farewell have left, or cannot leave.
    ///
    /// - Parameter timeout: After this it returns in any case, and what has not left is left to itself. Default: 5 seconds.
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

/// Closes the connection when nobody holds the manager nor a socket of it any more.
final class SocketManagerLifetime: Sendable {
    let core: SocketManagerCore

    init(core: SocketManagerCore) {
        self.core = core
    }

    deinit {
        self.core.onLoop { $0.disconnectAll() }
    }
}
