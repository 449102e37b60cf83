import ApusChatProtocol
import ApusEngineIOClient
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import Logging

/// A connection to a chat server: the namespace `/chat` over Socket.IO.
final class SocketIOChatTransport: ChatTransport {
    private let queue: ChatEventQueue
    private let manager: SocketIOManager
    private let socket: SocketIOClient
    private let requestTimeout: Duration

    /// - Parameter access: A function that returns the access token for each connection.
    init(
        server: String, access: @escaping @Sendable () async throws -> String, configuration: ChatClientConfiguration, logger: Logger
    ) {
        self.queue = ChatEventQueue(capacity: configuration.pushBuffer)
        self.requestTimeout = configuration.requestTimeout
        var manager = SocketIOManagerConfiguration(
            reconnection: configuration.reconnection, timeout: configuration.requestTimeout, tls: configuration.tls)
        manager.engine.proxy = configuration.proxy
        self.manager = SocketIOManager(url: server, configuration: manager, logger: logger)
        let queue = self.queue
        self.socket = self.manager.socket(
            forNamespace: ChatVerbs.namespace,
            auth: .closure {
                do { return ["token": .string(try await access())] } catch {
                    if let error = error as? ChatClientError, error.code == .signedOut { queue.put(.refused(error.asServerError)) }
                    throw error
                }
            })
        self.socket.onLifecycle { event in if let event = Self.translated(event) { queue.put(event) } }
        self.socket.onAny { name, data in queue.put(.push(name: name, payload: data.first ?? .null)) }
    }

    var incoming: AsyncStream<ChatTransportEvent> { self.queue.events }

    func connect() { self.socket.open() }

    func disconnect() { self.socket.disconnect() }

    func send(_ verb: String, _ payload: JSONValue, number: Int) {
        let (queue, timeout) = (self.queue, self.requestTimeout)
        // The send buffer of the socket is not used, because the store contains the unsent
        // messages.
        guard self.socket.state == .connected else {
            let error = ChatClientError(.notConnected, message: "there is no connection to the server")
            return queue.put(.answer(number, .failure(error)))
        }
        // The socket calls this closure and the listener of pushes in the order of receipt.
        self.socket.emitWithAck(verb, arguments: [payload], timeout: timeout) { result in
            queue.put(.answer(number, result.map { $0.first ?? .null }.mapError { Self.translated($0, of: verb, within: timeout) }))
        }
    }

    private static func translated(_ error: SocketIOError, of verb: String, within timeout: Duration) -> ChatClientError {
        if error.code == .ackTimeout { return ChatClientError(.timeout, message: "the server did not answer `\(verb)` within \(timeout)") }
        return ChatClientError(.notConnected, message: "the connection was lost before `\(verb)` was answered")
    }

    func close() async {
        self.socket.disconnect()
        self.manager.disconnect()
        self.queue.finish()
    }

    /// Returns the transport event of a Socket.IO event; nil for an event that the engine does not
    /// handle.
    static func translated(_ event: SocketIOClientLifecycleEvent) -> ChatTransportEvent? {
        switch event {
        case .connect: return .connected
        case .disconnect(let reason): return .disconnected(reconnects: reason.permitsReconnect)
        case .error(let error) where error.code == .connectRefused:
            if let refusal = error.data.flatMap(Self.refusal) { return .refused(refusal) }
            let isUnauthorized = error.message == ChatError.Code.unauthorized.rawValue
            return isUnauthorized
                ? .refused(ChatError(.unauthorized, message: "the server refused the connection: the access token is not valid"))
                : .disconnected(reconnects: false)
        case .error(let error) where error.code == .invalidUse: return .refused(ChatError(.badRequest, message: error.message))
        case .reconnectFailed: return .disconnected(reconnects: false)  // no attempts remain
        case .error, .reconnectAttempt, .reconnect, .statusChange, .ping, .pong, .upgrade, .upgradeError: return nil
        }
    }

    /// Returns the error in the data of a refusal: the error itself, or the object around it. Nil
    /// for other data, such as those of a proxy: an error without a code would end the session.
    private static func refusal(_ data: JSONValue) -> ChatError? {
        let error = data["error"] ?? data
        return error["code"] == nil ? nil : try? ChatError(json: ["error": error])
    }
}
