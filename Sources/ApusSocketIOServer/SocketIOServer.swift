import ApusConnectivity
import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusSocketIOProtocol
import ApusWebSocket
public import Logging
import NIOConcurrencyHelpers
public import NIOCore
package import NIOHTTP1

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
/// It runs alone on NIO (`run`) or inside a hummingbird server (`channelHandlers`). Source: Socket.IO protocol v5 over Engine.IO protocol v4.
public final class SocketIOServer: Sendable {
    /// The configuration the server was made with.
    public let configuration: SocketIOServerConfiguration
    let logger: Logger
    private let namespaces: SocketIONamespaceTable
    private let namespaceContext: SocketIONamespace.Context
    let socketLimits: PerEventLoop<SocketIOServerSocket.Limits>
    private let adminBox = NIOLockedValueBox<SocketIOAdmin?>(nil)
    /// When the server was made, by the clock of what waits.
    private let start: Duration
    private let engineBox = NIOLockedValueBox<EngineIOServer?>(nil)

    /// - Parameters:
    ///   - configuration: Defaults as the reference server's.
    ///   - logger: Gets session events at `debug`. Never payloads, never tokens.
    public convenience init(configuration: SocketIOServerConfiguration = .init(), logger: Logger = Logger(label: "apus.socketio.server")) {
        self.init(configuration: configuration, logger: logger, clock: nil)
    }

    /// - Parameter clock: Keeps the time of what waits for other servers and of the admin page. Default: a loop of the process-wide group.
    package init(configuration: SocketIOServerConfiguration, logger: Logger, clock: (any EventLoop)?) {
        self.configuration = configuration
        self.logger = logger
        self.socketLimits = PerEventLoop { _ in SocketIOServerSocket.Limits(configuration) }
        let table = SocketIONamespaceTable(
            maximumDynamic: configuration.maximumDynamicNamespaces, removesEmpty: configuration.removesEmptyDynamicNamespaces)
        let pendingRequests = PendingRequests(
            node: SocketIONodeID(EngineIOID.random().description), maximumRequests: configuration.maximumWaitingRequests, eventLoop: clock)
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

    /// The namespace of this name; made on first use, so name every namespace before the server listens. A name begins with `/`.
    ///
    /// One that a rule by a regular expression (``namespaces(matching:)``) fits is that rule's child, with its middleware and handlers, as if a client
    /// had asked for it; but it does not go when it is empty. Whether a rule by a closure fits cannot be known without a client: a namespace named
    /// here has none of that rule's middleware. To send to a namespace only if it is there, use ``existingNamespace(_:)``.
    public func namespace(_ name: String) -> SocketIONamespace {
        self.namespaces.namespace(Self.whole(name)) { name, parent in
            SocketIONamespace(name: name, parent: parent, context: self.namespaceContext)
        }
    }

    /// The namespace of this name, if there is one: for those that clients bring about by asking for them.
    public func existingNamespace(_ name: String) -> SocketIONamespace? { self.namespaces[Self.whole(name)] }

    /// The namespace of this name, whatever rules there are: for the server's own ends.
    func ownNamespace(_ name: String) -> SocketIONamespace {
        self.namespaces.namespace(Self.whole(name), obeysRules: false) { name, _ in
            SocketIONamespace(name: name, context: self.namespaceContext)
        }
    }

    private static func whole(_ name: String) -> String { name.hasPrefix("/") ? name : "/" + name }

    /// Namespaces that are made when the first client asks for one of them.
    ///
    /// ```swift
    /// let workspaces = io.namespaces { name, auth in name.hasPrefix("/workspace-") }
    /// workspaces.onConnection { socket in socket.broadcast.emit("joined", socket.namespace.name) }
    /// ```
    ///
    /// A namespace that exists comes first, then the rules in the order they were made.
    ///
    /// - Parameter matches: Says whether a name may exist, given the auth of the client that asks for it. It runs on the client's event loop.
    public func namespaces(where matches: @escaping SocketIOParentNamespace.Predicate) -> SocketIOParentNamespace {
        self.namespaces.add(SocketIOParentNamespace(matches: matches))
    }

    /// Namespaces whose whole name matches a regular expression, for example `/\\/workspace-\d+/`, made when the first client asks for one.
    public func namespaces<Output>(matching pattern: sending Regex<Output>) -> SocketIOParentNamespace {
        self.namespaces.add(SocketIOParentNamespace(pattern: SocketIONamePattern(pattern)))
    }

    /// Calls `handler` for every namespace that is made from now on, before its first client comes in. It must not block.
    public func onNewNamespace(_ handler: @escaping @Sendable (SocketIONamespace) -> Void) { self.namespaces.onNew(handler) }

    /// The namespaces that exist now.
    public var allNamespaces: [SocketIONamespace] { self.namespaces.all }

    /// The namespace a client asks for, until it is released; `nil` when there is none.
    func admit(to name: String, auth: SocketIOValue) -> SocketIONamespace? {
        self.namespaces.admit(name, auth: auth) { parent in
            SocketIONamespace(name: name, parent: parent, context: self.namespaceContext)
        }
    }

    /// The clients connected now, over all namespaces.
    public var clientCount: Int { self.engine.sessionCount }

    /// The handlers for one HTTP/1 connection of a web framework on NIO.
    ///
    /// They answer requests under the configured path and pass the others on. In a hummingbird application:
    ///
    /// ```swift
    /// Application(router: router, server: .http1(configuration: .init(additionalChannelHandlers: io.channelHandlers())))
    /// ```
    public func channelHandlers() -> [any RemovableChannelHandler] {
        [HTTPMountHandler(logger: self.logger) { self.engine.makeHTTPHandler(isSecure: $0) }]
    }

    /// The same for a connection that nobody else watches: they give every request its time, and the silence between two.
    ///
    /// - Parameters:
    ///   - requestTimeout: Time a request that is passed on may take to come whole.
    ///   - answerTimeout: Time its answer may take until the client has taken all of it.
    package func channelHandlers(
        requestTimeout: @escaping @Sendable (HTTPRequestHead) -> Duration, answerTimeout: Duration
    ) -> [any RemovableChannelHandler] {
        let passing = PassThroughTimeouts(requestTimeout: requestTimeout, answerTimeout: answerTimeout)
        return [
            HTTPMountHandler(logger: self.logger) { self.engine.makeHTTPHandler(isSecure: $0, isAlone: true, passing: passing) }
        ]
    }

    /// Counts a connection until it closes, for whoever listens for this server. `false`: there are too many; close it at once.
    package func admit(_ channel: any Channel) -> Bool { self.engine.admit(channel) }

    /// Takes no more clients and closes those that are connected, in jittered batches; they see `transport close` and may connect to another
    /// server. Answers when the last has left, by `drainTimeout` at the latest: whoever is there then is cut.
    public func shutdown() async {
        // In the cluster to the end: who drains still has clients that the others mean.
        await self.engine.shutdown()
        self.leaveCluster()
    }

    // MARK: Admin page

    /// Lets an admin page look at the server and, unless it is read-only, send, move and disconnect.
    ///
    /// ```swift
    /// let password = SocketIOAdminPassword(text: environment["ADMIN_PASSWORD"])
    /// io.enableAdmin(.init(authentication: .basic(username: "admin", password: password)))
    /// ```
    ///
    /// The page is the reference's (`@socket.io/admin-ui`); its origin has to be allowed by `origins`. Call it once, before the server listens.
    /// What is not enabled costs nothing.
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

    /// The time since the server was made, in seconds.
    var uptime: Double { (self.namespaceContext.pendingRequests.now - self.start) / .seconds(1) }
}
