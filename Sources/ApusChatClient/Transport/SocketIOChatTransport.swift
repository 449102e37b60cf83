import ApusChatProtocol
import ApusEngineIOClient
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import Logging

/// The connection to a chat server: the namespace `/chat` over Socket.IO.
final class SocketIOChatTransport: ChatTransport {
    private let mailbox: ChatMailbox
    private let manager: SocketIOManager
    private let socket: SocketIOClient
    private let requestTimeout: Duration

    init(session: ChatSession, configuration: ChatClientConfiguration, logger: Logger) {
        self.mailbox = ChatMailbox(capacity: configuration.pushBuffer)
        self.requestTimeout = configuration.requestTimeout
        var manager = SocketIOManagerConfiguration(
            reconnection: configuration.reconnection, timeout: configuration.requestTimeout, tls: configuration.tls)
        manager.engine.proxy = configuration.proxy
        self.manager = SocketIOManager(url: session.server, configuration: manager, logger: logger)
        self.socket = self.manager.socket(forNamespace: ChatVerb.namespace, auth: ["token": .string(session.token)])
        self.socket.onLifecycle { [mailbox = self.mailbox] event in
            if let event = Self.translated(event) { mailbox.put(event) }
        }
        self.socket.onAny { [mailbox = self.mailbox] name, data in
            mailbox.put(.push(name: name, payload: data.first ?? .null))
        }
    }

    var incoming: AsyncStream<ChatTransportEvent> { self.mailbox.events }

    func connect() { self.socket.open() }

    func request(_ event: String, _ payload: JSONValue) async throws(ChatClientError) -> JSONValue {
        // Does not use the socket's send buffer: the outbox keeps unsent messages durably.
        guard self.socket.state == .connected else { throw ChatClientError(.notConnected, message: "not connected to the server") }
        do {
            return try await self.socket.emitWithAck(event, arguments: [payload], timeout: self.requestTimeout).first ?? .null
        } catch let error as SocketIOError where error.code == .ackTimeout {
            throw ChatClientError(.timeout, message: "the server did not answer `\(event)` within \(self.requestTimeout)", cause: error)
        } catch is CancellationError {
            throw ChatClientError(.closed, message: "the client was closed")
        } catch {
            throw ChatClientError(.notConnected, message: "the connection was lost before `\(event)` was answered", cause: error)
        }
    }

    func close() async {
        self.socket.disconnect()
        self.manager.disconnect()
        self.mailbox.finish()
    }

    /// Maps a lifecycle event of the socket to an event of the transport; `nil` when it is not
    /// relevant.
    static func translated(_ event: SocketIOClientLifecycleEvent) -> ChatTransportEvent? {
        switch event {
        case .connect: return .connected
        case .disconnect(let reason): return .disconnected(reason: reason.description, comesBack: reason.permitsReconnect)
        case .error(let error) where error.code == .connectRefused:
            let code = error.data?["code"]?.stringValue
            // Recognized by the code, or by the message if the server sends no data.
            if code == ChatError.Code.unauthorized.rawValue || error.message == ChatError.Code.unauthorized.rawValue {
                return .refused(ChatError(.unauthorized, message: "the server rejected the session; log in again"))
            }
            return .disconnected(reason: error.message, comesBack: false)
        case .error(let error) where error.code == .invalidArguments:
            return .refused(ChatError(.badRequest, message: error.message))
        case .reconnectFailed: return .disconnected(reason: "the server could not be reached", comesBack: true)  // the policy has ended
        case .error, .reconnectAttempt, .reconnect, .statusChange, .ping, .pong, .upgrade, .upgradeError: return nil
        }
    }
}
