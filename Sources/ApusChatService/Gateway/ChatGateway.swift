import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusEventLoop
import ApusJSON
package import ApusSocketIOServer
import NIOConcurrencyHelpers

/// Serves the namespace of the chat on a Socket.IO server.
package final class ChatGateway: Sendable {
    let service: ChatService
    let sessions: any ChatSessions
    private let lastKey = NIOLockedValueBox<Int64>(0)
    private static let requesterKey = "chat.requester"

    /// Serves the namespace `/chat` of a server.
    package init(_ service: ChatService, sessions: any ChatSessions, on server: SocketIOServer) {
        self.service = service
        self.sessions = sessions
        let namespace = server.namespace(ChatVerbs.namespace)
        namespace.use { socket in
            do throws(ChatError) {
                let requester = try await self.admit(socket.handshake)
                socket.setValue(requester, for: Self.requesterKey)
            } catch {
                throw SocketIOConnectionRefusal(message: error.code.rawValue, data: error.json.objectValue?["error"])
            }
        }
        namespace.onConnection { socket in
            guard let requester = socket.value(for: Self.requesterKey, as: Requester.self) else { return socket.disconnect() }
            self.connected(socket, requester)
        }
    }

    /// Closes the connections of devices whose session has ended.
    package func end(_ devices: Set<Int64>) {
        self.service.hub.onLoop { hub in hub.end(.signedOut) { devices.contains($0.device.rawValue) } }
    }

    /// Closes the connections of a suspended or deleted account.
    package func end(account: Int64) {
        self.service.hub.onLoop { hub in hub.end(.accountClosed) { $0.user.rawValue == account } }
    }

    /// Notifies all clients that the server is closing.
    package func announceShutdown() { self.service.hub.onLoop { $0.announceShutdown() } }

    private func admit(_ handshake: SocketIOHandshake) async throws(ChatError) -> Requester {
        let requester = try await self.sessions.requester(of: handshake)
        if let refusal = self.service.charge(.connection, to: [.account(requester.user)] + requester.origin) { throw refusal }
        return requester
    }

    private func connected(_ socket: SocketIOServerSocket, _ requester: Requester) {
        let key = self.makeKey()
        let connection = ChatConnection(key: key, requester: requester, socket: socket)
        // One closure for all verbs reduces the memory of an idle connection.
        socket.onAny { [weak self] event in self?.receivedEvent(event, on: connection) }
        socket.onDisconnect { [service = self.service] _ in
            connection.reads.close()
            service.hub.onLoop { $0.disconnect(key) }
        }
    }

    func makeKey() -> SocketKey {
        self.lastKey.withLockedValue { key in
            key += 1
            return SocketKey(key)
        }
    }

    // MARK: Requests

    private func receivedEvent(_ event: SocketIOReceivedEvent, on connection: ChatConnection) {
        let answer: @Sendable (Result<JSONValue, ChatError>) -> Void = { result in
            switch result {
            case .success(let value): event.acknowledge(value)
            case .failure(let error): event.acknowledge(error.json)
            }
        }
        self.respond(to: event.name, event.arguments.first ?? .null, on: connection, answer)
    }

    /// Answers a request of a connection. Calls `answer` exactly once, on any thread.
    func respond(
        to verb: String, _ request: JSONValue, on connection: ChatConnection,
        _ answer: @escaping @Sendable (Result<JSONValue, ChatError>) -> Void
    ) {
        guard verb != ChatVerbs.hello.name else { return self.hello(request, on: connection, answer) }
        guard connection.isGreeted else {
            return answer(
                .failure(
                    ChatError(
                        .unauthorized,
                        message: "`\(verb.prefix(64))` was sent before `hello`, which must be the first request of a connection.")))
        }
        guard connection.beginRequest() else {
            let message = "The connection has reached the maximum of \(ChatLimits.pendingRequests) pending requests. Wait for the answers."
            return answer(.failure(ChatError(.tooMany, message: message, retryAfter: 1_000)))
        }
        let finish: @Sendable (Result<JSONValue, ChatError>) -> Void = { result in
            connection.endRequest()
            answer(result)
        }
        if self.answerLive(verb, request, on: connection, finish) { return }
        // The server itself receives the answers for a translated client, whose connection may
        // already be closed.
        guard self.service.onlyReads(verb), connection.receive == nil else {
            return self.service.answer(verb, request, of: connection.requester, in: connection.lane, finish)
        }
        connection.reads.run { [service = self.service] in
            service.answer(verb, request, of: connection.requester, in: connection.lane) { result in
                finish(result)
                connection.reads.answered()
            }
        }
    }

    private func hello(
        _ json: JSONValue, on connection: ChatConnection, _ answer: @escaping @Sendable (Result<JSONValue, ChatError>) -> Void
    ) {
        let request: HelloRequest
        do throws(WireError) { request = try HelloRequest(json: json) } catch { return answer(.failure(ChatError(error))) }
        guard connection.beginGreeting() else {
            return answer(.failure(ChatError(.badRequest, message: "`hello` was already sent on this connection.")))
        }
        let service = self.service
        let finish: @Sendable (Result<HelloAnswer, ChatError>) -> Void = { result in
            connection.endGreeting(succeeded: (try? result.get()) != nil)
            answer(result.map(\.json))
            if case .success = result { service.hub.onLoop { $0.greeted(connection.key) } }
        }
        let (environment, limits) = (service.configuration.environment, service.configuration.verbs.limits)
        let features = service.features
        // The hub holds the frames of the connection from now on. The sync is read afterwards, so
        // that no change is missed.
        service.hub.onLoop { hub in
            do { try hub.connect(connection, omitting: request.omittedPushes) } catch { return finish(.failure(ChatError(reading: error))) }
            service.read(
                for: connection.requester.user,
                { context in
                    try context.hello(
                        request, limits: limits, features: features, device: connection.requester.device, at: environment.read().time)
                }, finish)
        }
    }
}
