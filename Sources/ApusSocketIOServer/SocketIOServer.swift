import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusSocketIOProtocol
public import Logging
import NIOConcurrencyHelpers
public import NIOCore

/// A Socket.IO server: namespaces of sockets over Engine.IO, by polling and WebSocket.
///
/// ```swift
/// let io = SocketIOServer()
/// io.namespace("/").onConnection { socket in
///     socket.on("chat message") { (text: String) in socket.broadcast.emit("chat message", text) }
///     socket.on("add") { (a: Int, b: Int) in a + b }      // the return value is the ack
/// }
/// try await io.run(host: "127.0.0.1", port: 3000)
/// ```
///
/// It runs alone on NIO (`run`) or inside a hummingbird server (`channelHandlers`). Source: Socket.IO protocol v5 over Engine.IO protocol v4.
public final class SocketIOServer: Sendable {
    /// The configuration the server was made with.
    public let configuration: SocketIOServerConfiguration
    let logger: Logger
    private let namespaces = NIOLockedValueBox<[String: SocketIONamespace]>([:])
    private let engineBox = NIOLockedValueBox<EngineIOServer?>(nil)

    /// - Parameters:
    ///   - configuration: Defaults as the reference server's.
    ///   - logger: Gets session events at `debug`. Never payloads, never tokens.
    public init(configuration: SocketIOServerConfiguration = .init(), logger: Logger = Logger(label: "apus.socketio.server")) {
        self.configuration = configuration
        self.logger = logger
    }

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
    public func namespace(_ name: String) -> SocketIONamespace {
        let name = name.hasPrefix("/") ? name : "/" + name
        return self.namespaces.withLockedValue { namespaces in
            if let namespace = namespaces[name] { return namespace }
            let namespace = SocketIONamespace(
                name: name, parser: self.configuration.parser, logger: self.logger, deflate: self.configuration.engine.perMessageDeflate)
            namespaces[name] = namespace
            return namespace
        }
    }

    func existingNamespace(_ name: String) -> SocketIONamespace? {
        self.namespaces.withLockedValue { $0[name] }
    }

    /// The clients connected now, over all namespaces.
    public var clientCount: Int { self.engine.sessionCount }

    /// The handlers for one HTTP/1 connection that speaks `HTTPRequestPart` and `HTTPResponsePart`.
    ///
    /// They answer requests under the configured path and pass the others on. In a hummingbird application:
    ///
    /// ```swift
    /// Application(router: router, server: .http1(configuration: .init(additionalChannelHandlers: io.channelHandlers())))
    /// ```
    public func channelHandlers() -> [any RemovableChannelHandler] { [self.engine.makeHTTPHandler()] }

    /// Takes no more clients and closes those that are connected, in jittered batches; they see `transport close` and may connect to another
    /// server. Answers when the last has left, by `drainTimeout` at the latest: whoever is there then is cut.
    public func shutdown() async {
        await self.engine.shutdown()
    }
}
