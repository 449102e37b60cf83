import ApusChatProtocol
import ApusJSON
import ApusSeededRandom
import ApusSocketIOClient
import ApusSocketIOProtocol
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatClient

/// The events of Socket.IO as the engine receives them, and the queue between them.
@Suite("Events of the transport", .timeLimit(.minutes(5)))
struct TransportEventTests {
    private static func name(_ event: ChatTransportEvent?) -> String {
        switch event {
        case nil: "nothing"
        case .push(let name, _): name
        case .pushesLost: "lost"
        case .connected: "connected"
        case .disconnected(let reconnects): "disconnected \(reconnects)"
        case .refused(let error): "refused \(error.code.rawValue)"
        case .answer(let number, _): "answer \(number)"
        }
    }

    private static func refusal(_ message: String, _ data: SocketIOValue? = nil) -> SocketIOClientLifecycleEvent {
        .error(SocketIOError(.connectRefused, message: message, data: data))
    }

    private static let events: [(SocketIOClientLifecycleEvent, String)] = [
        (.connect(id: "a"), "connected"), (.disconnect(.serverDisconnect), "disconnected false"),
        (.disconnect(.clientDisconnect), "disconnected false"), (.disconnect(.pingTimeout), "disconnected true"),
        (.disconnect(.transportClose), "disconnected true"), (.disconnect(.transportError), "disconnected true"),
        (.disconnect(.parseError), "disconnected true"), (.reconnectFailed, "disconnected false"), (.reconnectAttempt(1), "nothing"),
        (.reconnect(attempts: 2), "nothing"), (.statusChange(.reconnecting), "nothing"), (.ping, "nothing"),
        (.pong(latency: nil), "nothing"),
        (.upgrade, "nothing"), (.upgradeError(SocketIOError(.transport, message: "")), "nothing"),
        // Errors that the manager repairs with a reconnection.
        (.error(SocketIOError(.connectTimeout, message: "")), "nothing"), (.error(SocketIOError(.transport, message: "")), "nothing"),
        // A wrong configuration is not repaired by another attempt.
        (.error(SocketIOError(.invalidUse, message: "M")), "refused bad_request"),
        // The data of a refusal is an error of the server, or the object around it.
        (refusal("x", ["code": "forbidden", "message": "M"]), "refused forbidden"),
        (refusal("x", ["error": ["code": "too_many", "message": "M"]]), "refused too_many"),
        (refusal("unauthorized", ["code": "forbidden", "message": "M"]), "refused forbidden"),
        (refusal("unauthorized", ["code": 7]), "refused unauthorized"), (refusal("unauthorized"), "refused unauthorized"),
        (refusal("Unauthorized"), "disconnected false"), (refusal("not now"), "disconnected false"),
        (refusal("not now", "text"), "disconnected false"), (refusal("not now", ["retry": 1]), "disconnected false"),
        (refusal("not now", ["error": [:]]), "disconnected false"),
        (refusal("not now", ["error": 1]), "disconnected false"),
    ]

    @Test(arguments: 0..<events.count) func anEventOfTheSocketIsOneOfTheTransport(index: Int) {
        let (event, name) = Self.events[index]
        #expect(Self.name(SocketIOChatTransport.translated(event)) == name, "\(event)")
    }

    @Test func aRefusalKeepsItsMessage() throws {
        let event = Self.refusal("x", ["code": "too_many", "message": "Wait.", "retry_after": 5_000])
        guard case .refused(let error)? = SocketIOChatTransport.translated(event) else { throw NeverTrue() }
        #expect(error.message == "Wait." && error.retryAfter == 5_000)
    }

    // MARK: The queue

    /// The queue compared with an array without a limit, of which the pushes beyond the capacity
    /// are removed.
    @Test(arguments: 1...6) func anyEventsKeepTheirOrder(capacity: Int) async {
        var generator = SplitMix64(state: UInt64(capacity) &* 977)
        let queue = ChatEventQueue(capacity: capacity)
        var events = queue.events.makeAsyncIterator()
        var expected: [String] = []
        for step in 0..<2_000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                queue.put(.push(name: "push \(step)", payload: .null))
                if expected.count(where: { $0.hasPrefix("push") }) < capacity {
                    expected.append("push \(step)")
                } else if !expected.contains("lost") {
                    expected.append("lost")
                }
            case 5:
                queue.put(.answer(step, .success(.null)))
                expected.append("answer \(step)")
            case 6:
                queue.put(.disconnected(reconnects: step.isMultiple(of: 2)))
                expected.append("disconnected \(step.isMultiple(of: 2))")
            default:
                guard !expected.isEmpty else { continue }
                #expect(Self.name(await events.next()) == expected.removeFirst(), "step \(step)")
            }
        }
        queue.finish()
        while let event = await events.next() {
            #expect(!expected.isEmpty && Self.name(event) == expected.removeFirst())
        }
        #expect(expected.isEmpty)
    }

    /// Answers of several threads are neither lost nor repeated, and those of one thread keep their
    /// order.
    @Test func concurrentAnswersAreAllDelivered() async {
        let queue = ChatEventQueue(capacity: 1)
        let numbers = await withTaskGroup(of: [Int].self) { group in
            group.addTask {
                var numbers: [Int] = []
                for await event in queue.events {
                    if case .answer(let number, _) = event { numbers.append(number) }
                    if numbers.count == 800 { queue.finish() }
                }
                return numbers
            }
            for writer in 0..<8 {
                group.addTask {
                    for number in 0..<100 {
                        queue.put(.push(name: "p", payload: .null))
                        queue.put(.answer(writer * 100 + number, .success(.null)))
                    }
                    return []
                }
            }
            return await group.reduce(into: [Int]()) { $0 += $1 }
        }
        #expect(numbers.sorted() == Array(0..<800))
        for writer in 0..<8 {
            let own = numbers.filter { $0 / 100 == writer }
            #expect(own == own.sorted(), "writer \(writer)")
        }
    }

    // MARK: Tokens

    /// Answers `refresh` after the test releases it.
    private final class SlowServer: ChatHTTPTransport {
        private let answers: AsyncStream<Result<JSONValue, ChatClientError>>
        let answer: AsyncStream<Result<JSONValue, ChatClientError>>.Continuation
        let asked = NIOLockedValueBox(0)

        init() { (self.answers, self.answer) = AsyncStream.makeStream() }

        func post(_ path: String, _ payload: JSONValue, access: String?) async throws(ChatClientError) -> JSONValue {
            self.asked.withLockedValue { $0 += 1 }
            guard let answer = await self.answers.first(where: { _ in true }) else { throw .closed }
            return try answer.get()
        }
        func createUpload(_ upload: UploadDescription, access: String) async throws(ChatClientError) -> String { "" }
        func uploadOffset(_ location: String, access: String) async throws(ChatClientError) -> Int64? { nil }
        func append(_ bytes: [UInt8], at offset: Int64, to location: String, access: String) async throws(ChatClientError) -> UploadProgress
        {
            UploadProgress(offset: 0)
        }
        func removeUpload(_ location: String, access: String) async throws(ChatClientError) {}
        func download(_ blob: BlobID, size: Int?, owner: BlobOwner?, access: String) async throws(ChatClientError) -> [UInt8] { [] }
        func save(_ path: String, to file: String, access: String) async throws(ChatClientError) {}
        func shutdown() {}
    }

    private static func tokens(_ server: SlowServer) -> SessionTokens {
        let account = StoredAccount(
            server: "http://a", user: Value.alice, device: DeviceID(number: 1), access: "a0", accessExpiresAt: 0, refresh: "r0")
        return SessionTokens(account, http: server, now: { 1 }) { (_) throws(ChatClientError) in }
    }

    private static let session = SessionAnswer(
        user: ChatUser(name: Value.alice), device: DeviceID(number: 1), access: "a1", accessExpiresAt: 9_000_000, refresh: "r1")

    /// A failed renewal is the failure of each request that waits for it, and of no later one.
    @Test func aFailedRenewalFailsTheWaitingRequestsOnly() async throws {
        let server = SlowServer()
        let tokens = Self.tokens(server)
        let first = Task { try? await tokens.access() }
        try await eventually { server.asked.withLockedValue { $0 } == 1 }
        let others = (0..<3).map { _ in Task { try? await tokens.access() } }
        for _ in 0..<100 { await Task.yield() }
        server.answer.yield(.failure(ChatClientError(.unreachable, message: "")))
        server.answer.yield(.success(Self.session.json))
        #expect(await first.value == nil)
        for task in others { #expect([nil, "a1"].contains(await task.value)) }
        #expect(try await tokens.access() == "a1" && server.asked.withLockedValue { $0 } == 2)
    }

    /// The task of the first request ends, and the renewal continues for the others.
    @Test func aCancelledRequestDoesNotEndTheRenewal() async throws {
        let server = SlowServer()
        let tokens = Self.tokens(server)
        let first = Task { try? await tokens.access() }
        try await eventually { server.asked.withLockedValue { $0 } == 1 }
        first.cancel()
        server.answer.yield(.success(Self.session.json))
        #expect(try await tokens.access() == "a1")
        #expect(server.asked.withLockedValue { $0 } == 1, "the refresh token is used once")
        #expect(await tokens.refreshToken == "r1")
    }
}
