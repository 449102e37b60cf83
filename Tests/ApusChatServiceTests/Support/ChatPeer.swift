import ApusChatProtocol
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol

/// A client that sends requests and records pushes, without a store. A request fails after 60
/// seconds without an answer. The waits for pushes have no time limit.
final class ChatPeer: Sendable {
    let socket: SocketIOClient
    private let pushes: AsyncStream<(name: String, payload: JSONValue)>
    private let continuation: AsyncStream<(name: String, payload: JSONValue)>.Continuation
    private let ends: AsyncStream<String>

    init(url: String, token: String) {
        let manager = SocketIOManager(url: url, configuration: SocketIOManagerConfiguration(reconnection: .none))
        self.socket = manager.socket(forNamespace: ChatVerbs.namespace, auth: .closure { ["token": .string(token)] })
        let (pushes, continuation) = AsyncStream.makeStream(of: (name: String, payload: JSONValue).self)
        self.pushes = pushes
        self.continuation = continuation
        let (ends, end) = AsyncStream.makeStream(of: String.self)
        self.ends = ends
        self.socket.onAny { name, data in continuation.yield((name, data.first ?? .null)) }
        self.socket.on(clientEvent: .disconnect) { event in
            end.yield("\(event)")
            continuation.finish()
        }
    }

    func connect() async throws { try await self.socket.connect(timeout: .seconds(60)) }

    func disconnect() { self.socket.disconnect() }

    /// Waits until the connection is closed.
    func waitUntilClosed() async { for await _ in self.ends { return } }

    /// Sends a request and returns its answer.
    ///
    /// - Throws: The `ChatError` of a refusal, or the error of the connection.
    func ask<Request, Answer>(_ verb: ChatVerb<Request, Answer>, _ request: Request) async throws -> Answer {
        let answer = try await self.raw(verb.name, request.json)
        return try Answer(json: answer)
    }

    /// Sends a request immediately, in the order of the calls.
    ///
    /// - Returns: A function that waits for the answer. It throws `unavailable` if none arrives.
    func begin<Request, Answer>(_ verb: ChatVerb<Request, Answer>, _ request: Request) -> () async throws -> Answer {
        let (answers, continuation) = AsyncStream.makeStream(of: JSONValue.self)
        self.socket.emitWithAck(verb.name, arguments: [request.json], timeout: .seconds(60)) { result in
            if let answer = try? result.get().first { continuation.yield(answer) }
            continuation.finish()
        }
        return {
            for await answer in answers { return try Answer(json: answer) }
            throw ChatError(.unavailable, message: "There was no answer to `\(verb.name)`.")
        }
    }

    /// Sends a request with any name and value, and returns and throws as ``ask(_:_:)`` does.
    func raw(_ verb: String, _ request: JSONValue) async throws -> JSONValue {
        let answer = try await self.socket.emitWithAck(verb, arguments: [request], timeout: .seconds(60)).first ?? .null
        if answer.objectValue?["error"] != nil { throw try ChatError(json: answer) }
        return answer
    }

    /// Returns the next push of a kind that `fits` accepts, and drops the pushes before it.
    ///
    /// - Throws: `unavailable` if the connection closes before it.
    func next<Payload>(_ push: ChatPush<Payload>, where fits: (Payload) -> Bool = { _ in true }) async throws -> Payload {
        for await (name, payload) in self.pushes where name == push.name {
            let payload = try Payload(json: payload)
            if fits(payload) { return payload }
        }
        throw ChatError(.unavailable, message: "The connection closed before `\(push.name)`.")
    }

    /// Returns the next push. Throws `unavailable` if the connection closes before it.
    func nextPush() async throws -> (name: String, payload: JSONValue) {
        for await push in self.pushes { return push }
        throw ChatError(.unavailable, message: "The connection closed before a push.")
    }

    /// Waits until the connection closes, and returns the pushes that were not read.
    func rest() async -> [(name: String, payload: JSONValue)] {
        var rest: [(name: String, payload: JSONValue)] = []
        for await push in self.pushes { rest.append(push) }
        return rest
    }
}

extension ChatPeer {
    func send(_ text: String, to conversation: ConversationID, id: String) async throws -> SendAnswer {
        try await self.ask(
            ChatVerbs.send, SendRequest(id: .make(id), conversation: conversation, kind: .text, body: ["text": .string(text)]))
    }

    /// Opens the pair with a user and returns its id.
    func open(_ user: String, id: String = "open") async throws -> ConversationID {
        try await self.ask(ChatVerbs.conversationOpen, OpenRequest(id: .make(id), user: UserName(prepared: user))).head.conversation
    }

    func history(_ conversation: ConversationID) async throws -> HistoryAnswer {
        try await self.ask(ChatVerbs.history, HistoryRequest(conversation: conversation, range: .newest))
    }
}

extension ClientID {
    static func make(_ text: String) -> ClientID { ClientID(text) ?? ClientID("invalid").unsafelyUnwrapped }
}
