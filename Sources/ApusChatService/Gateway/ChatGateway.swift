import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusEventLoop
import ApusJSON
package import ApusSocketIOServer
import NIOConcurrencyHelpers

/// The namespace of the chat on a Socket.IO server.
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

    /// Closes the connections of an account that was closed.
    package func end(account: Int64) {
        self.service.hub.onLoop { hub in hub.end(.accountClosed) { $0.user.rawValue == account } }
    }

    /// Tells all clients that the server stops.
    package func announceShutdown() { self.service.hub.onLoop { $0.announceShutdown() } }

    private func admit(_ handshake: SocketIOHandshake) async throws(ChatError) -> Requester {
        let requester = try await self.sessions.requester(of: handshake)
        if let refusal = self.service.charge(.connection, to: [.account(requester.user)] + requester.origin) { throw refusal }
        return requester
    }

    private func connected(_ socket: SocketIOServerSocket, _ requester: Requester) {
        let key = self.lastKey.withLockedValue { key in
            key += 1
            return SocketKey(key)
        }
        let connection = ChatConnection(key: key, requester: requester, socket: socket)
        // One closure for all verbs keeps an idle connection small.
        socket.onAny { [weak self] event in self?.received(event, on: connection) }
        socket.onDisconnect { [service = self.service] _ in
            connection.reads.close()
            service.hub.onLoop { $0.disconnect(key) }
        }
    }

    // MARK: Requests

    private func received(_ event: SocketIOReceivedEvent, on connection: ChatConnection) {
        let answer: @Sendable (Result<JSONValue, ChatError>) -> Void = { result in
            switch result {
            case .success(let value): event.acknowledge(value)
            case .failure(let error): event.acknowledge(error.json)
            }
        }
        let request = event.arguments.first ?? .null
        guard event.name != ChatVerbs.hello.name else { return self.hello(request, on: connection, answer) }
        guard connection.isGreeted else {
            return answer(.failure(ChatError(.unauthorized, message: "The first request of a connection is `hello`.")))
        }
        guard connection.beginRequest() else {
            let message = "At most \(ChatLimits.pendingRequests) requests can be pending. Wait for the answers."
            return answer(.failure(ChatError(.tooMany, message: message, retryAfter: 1_000)))
        }
        let finish: @Sendable (Result<JSONValue, ChatError>) -> Void = { result in
            connection.endRequest()
            answer(result)
        }
        if self.answerLive(event.name, request, on: connection, finish) { return }
        guard self.service.onlyReads(event.name) else {
            return self.service.answer(event.name, request, of: connection.requester, in: connection.lane, finish)
        }
        connection.reads.run { [service = self.service] in
            service.answer(event.name, request, of: connection.requester, in: connection.lane) { result in
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
            return answer(.failure(ChatError(.badRequest, message: "`hello` is the first request of a connection only.")))
        }
        let service = self.service
        let finish: @Sendable (Result<HelloAnswer, ChatError>) -> Void = { result in
            connection.endGreeting(succeeded: (try? result.get()) != nil)
            answer(result.map(\.json))
            if case .success = result { service.hub.onLoop { $0.greeted(connection.key) } }
        }
        let (environment, limits) = (service.configuration.environment, service.configuration.verbs.limits)
        // From here on the hub holds what is committed, and the sync is read after this.
        service.hub.onLoop { hub in
            do { try hub.connect(connection) } catch { return finish(.failure(ChatError(reading: error))) }
            service.read(
                for: connection.requester.user,
                { context in
                    try context.hello(request, limits: limits, device: connection.requester.device, at: environment.read().time)
                }, finish)
        }
    }
}
