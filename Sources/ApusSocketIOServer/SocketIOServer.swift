import ApusConnectivity
import ApusEngineIOProtocol
package import ApusEngineIOServer
import ApusEventLoop
import ApusSocketIOProtocol
import ApusWebSocket
public import Logging
import NIOConcurrencyHelpers
public import NIOCore
import NIOHTTP1

/// A Socket.IO server: namespaces of sockets over Engine.IO, by polling and WebSocket.
///
/// ```swift
/// let io = SocketIOServer()
/// io.namespace("/").onConnection { socket in
///     socket.on("chat message") { (text: String) in socket.broadcast.emit("chat message", text) }
///     socket.on("add") { (a: Int, b: Int) in a &+ b }      // the return value is the ack
/// }
/// try await io.run(host: "127.0.0.1", port: 3000)
/// ```
///
/// The server runs standalone on NIO (`run`) or inside a hummingbird server (`channelHandlers`).
/// Source: Socket.IO protocol v5 over Engine.IO protocol v4.
public final class SocketIOServer: Sendable {
    /// The server's configuration.
    public let configuration: SocketIOServerConfiguration
    let logger: Logger
    private let namespaces: SocketIONamespaceTable
    private let namespaceContext: SocketIONamespace.Context
    let sharedBySockets: PerEventLoop<SocketIOServerSocket.Shared>
    private let adminBox = NIOLockedValueBox<SocketIOAdmin?>(nil)
    /// The time of the server's creation, by the clock of `pendingRequests`.
    private let start: Duration
    private let engineBox = NIOLockedValueBox<EngineIOServer?>(nil)

    /// Creates a server, without listening.
    ///
    /// - Parameters:
    ///   - configuration: The settings. Default: those of socket.io for Node.
    ///   - logger: The logger for session events at `debug`, without payloads and tokens.
    public convenience init(configuration: SocketIOServerConfiguration = .init(), logger: Logger = Logger(label: "apus.socketio.server")) {
        self.init(configuration: configuration, logger: logger, clock: nil)
    }

    /// Creates a server, without listening.
    ///
    /// - Parameter clock: The event loop for the timers of pending requests, recovery, the cluster
    ///   and the admin page; `nil` for one of the process-wide group.
    package init(configuration: SocketIOServerConfiguration, logger: Logger, clock: (any EventLoop)?) {
        self.configuration = configuration
        self.logger = logger
        self.sharedBySockets = PerEventLoop { _ in SocketIOServerSocket.Shared(configuration) }
        let table = SocketIONamespaceTable(
            maximumDynamic: configuration.maximumDynamicNamespaces, removesEmpty: configuration.removesEmptyDynamicNamespaces)
        let pendingRequests = PendingRequests(
            node: SocketIONodeID(RandomID.random().description), maximumRequests: configuration.maximumPendingRequests, eventLoop: clock)
        let cluster = configuration.cluster.map { transport in
            SocketIOClusterNode(transport: transport, pendingRequests: pendingRequests, ackTimeout: configuration.ackTimeout)
        }
        self.namespaces = table
        self.start = pendingRequests.now
        self.namespaceContext = SocketIONamespace.Context(
            logger: logger, pendingRequests: pendingRequests, cluster: cluster, ackTimeout: configuration.ackTimeout,
            clusterTimeout: configuration.clusterTimeout, recovery: configuration.connectionStateRecovery,
            clock: { clock?.now ?? .now() }, parser: configuration.parser, deflate: configuration.engine.perMessageDeflate,
            becameIdle: { [weak table] namespace in table?.becameIdle(namespace) })
        cluster?.start(for: self)
    }

    deinit {
        // Otherwise the transport would retain the node, and the other servers would wait for its
        // responses.
        self.leaveCluster()
    }

    func leaveCluster() { self.namespaceContext.cluster?.stop() }

    var engine: EngineIOServer {
        self.engineBox.withLockedValue { engine in
            if let engine { return engine }
            var configuration = self.configuration.engine
            if let check = configuration.allowRequest {
                configuration.allowRequest = { request in
                    do { try await check(request) } catch let refusal as SocketIOConnectionRefusal {
                        throw EngineIOError(.forbidden, message: refusal.message)
                    }
                }
            }
            let made = EngineIOServer(configuration: configuration, logger: self.logger) { [weak self] session in
                SocketIOConnection(session: session, server: self)
            }
            engine = made
            return made
        }
    }

    /// Returns the namespace of this name, creating it on first use. Call it for every namespace
    /// before the server listens. A missing leading `/` is added.
    ///
    /// If a rule with a regular expression (``namespaces(matching:)``) matches the name, the
    /// namespace becomes a child of that rule, with its middleware and handlers. In contrast to a
    /// child created by a client's CONNECT, it is not removed when it is empty. A rule with a
    /// closure depends on a client's auth, so it does not apply to a namespace that this method
    /// creates. To send to a namespace only if it exists, use ``existingNamespace(_:)``.
    public func namespace(_ name: String) -> SocketIONamespace {
        self.namespaces.namespace(Self.whole(name)) { name, parent in
            SocketIONamespace(name: name, parent: parent, context: self.namespaceContext)
        }
    }

    /// Returns the namespace of this name if it exists, including one that a client's CONNECT
    /// created.
    public func existingNamespace(_ name: String) -> SocketIONamespace? { self.namespaces[Self.whole(name)] }

    /// Returns the namespace of this name, without applying rules. Used for namespaces of the
    /// server itself.
    func ownNamespace(_ name: String) -> SocketIONamespace {
        self.namespaces.namespace(Self.whole(name), appliesRules: false) { name, _ in
            SocketIONamespace(name: name, context: self.namespaceContext)
        }
    }

    private static func whole(_ name: String) -> String { name.hasPrefix("/") ? name : "/" + name }

    /// Creates a rule for namespaces that are created by the first client's CONNECT.
    ///
    /// ```swift
    /// let workspaces = io.namespaces { name, auth in name.hasPrefix("/workspace-") }
    /// workspaces.onConnection { socket in socket.broadcast.emit("joined", socket.namespace.name) }
    /// ```
    ///
    /// A CONNECT selects an existing namespace or, if there is none, the first matching rule in the
    /// order of creation.
    ///
    /// - Parameter matches: A closure that returns whether a name may exist, given the auth of the
    ///   client's CONNECT. The closure runs on the client's event loop and must not block.
    public func namespaces(where matches: @escaping SocketIOParentNamespace.Predicate) -> SocketIOParentNamespace {
        self.namespaces.add(SocketIOParentNamespace(matches: matches))
    }

    /// Creates a rule for namespaces whose whole name matches a regular expression, for example
    /// `/\\/workspace-\d+/`.
    public func namespaces<Output>(matching pattern: sending Regex<Output>) -> SocketIOParentNamespace {
        self.namespaces.add(SocketIOParentNamespace(pattern: SocketIONamePattern(pattern)))
    }

    /// Calls `handler` for every namespace that is created after this call, before its first client
    /// is admitted. The handler must not block.
    public func onNewNamespace(_ handler: @escaping @Sendable (SocketIONamespace) -> Void) { self.namespaces.onNew(handler) }

    /// All existing namespaces.
    public var allNamespaces: [SocketIONamespace] { self.namespaces.all }

    /// Returns the namespace of a client's CONNECT, reserved until it is released; `nil` if the
    /// namespace does not exist and no rule creates it.
    func admit(to name: String, auth: SocketIOValue) -> SocketIONamespace? {
        self.namespaces.admit(name, auth: auth) { parent in
            SocketIONamespace(name: name, parent: parent, context: self.namespaceContext)
        }
    }

    /// The number of connected clients in all namespaces.
    public var clientCount: Int { self.engine.sessionCount }

    /// Returns the handlers for one HTTP/1 connection of a web framework on NIO.
    ///
    /// The handlers answer HTTP requests under the configured path and pass other requests to the
    /// framework. In a hummingbird application:
    ///
    /// ```swift
    /// Application(router: router, server: .http1(configuration: .init(additionalChannelHandlers: io.channelHandlers())))
    /// ```
    public func channelHandlers() -> [any RemovableChannelHandler] {
        [HTTPMountHandler(logger: self.logger) { self.engine.makeHTTPHandler(isSecure: $0) }]
    }

    /// Returns the setup of one connection of a listener with a web framework. The setup limits the
    /// time of every request and the idle time between two requests.
    package func mountedConnection(
        passing: PassThroughTimeouts, addFramework: @escaping (ChannelPipeline.SynchronousOperations) throws -> Void,
        upgraded: @escaping () -> Void
    ) -> EngineIOMountedConnection {
        EngineIOMountedConnection(server: self.engine, passing: passing, addFramework: addFramework, upgraded: upgraded)
    }

    /// Counts a connection of an external listener until it closes. Returns `false` if the limit is
    /// reached; the caller must then close the connection.
    package func admit(_ channel: any Channel) -> Bool { self.engine.admit(channel) }

    /// Refuses new clients and closes the connected ones in jittered batches. The clients receive
    /// `transport close` and may connect to another server. Returns when the last client has
    /// disconnected. Closes the remaining connections after `drainTimeout`.
    public func shutdown() async {
        // Leave the cluster last: clients of a draining server still receive broadcasts of other
        // servers.
        await self.engine.shutdown()
        self.leaveCluster()
    }

    // MARK: Admin page

    /// Enables an admin page that observes the server and, unless it is read-only, sends events,
    /// moves sockets between rooms and disconnects them.
    ///
    /// ```swift
    /// guard let password = SocketIOAdminPassword(text: environment["ADMIN_PASSWORD_HASH"] ?? "") else { … }
    /// io.enableAdmin(.init(authentication: .basic(username: "admin", password: password)))
    /// ```
    ///
    /// The page is `@socket.io/admin-ui`. Its origin must be in `origins`. Call this method once,
    /// before the server listens.
    public func enableAdmin(_ configuration: SocketIOAdminConfiguration) {
        let admin = SocketIOAdmin(configuration, server: self, pendingRequests: self.namespaceContext.pendingRequests)
        let isFirst = self.adminBox.withLockedValue { box in
            guard box == nil else { return false }
            box = admin
            return true
        }
        if isFirst { admin.start() }
    }

    var admin: SocketIOAdmin? { self.adminBox.withLockedValue { $0 } }

    /// The time since the server was created, in seconds.
    var uptime: Double { (self.namespaceContext.pendingRequests.now - self.start) / .seconds(1) }
}
