import ApusChatProtocol
import ApusEventLoop
import ApusJSON
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatClient

@Suite("Transport of the client")
struct TransportTests {
    // MARK: The queue of pushes

    private func names(_ queue: ChatEventQueue) async -> [String] {
        queue.finish()
        var names: [String] = []
        for await event in queue.events {
            switch event {
            case .push(let name, _): names.append(name)
            case .pushesLost: names.append("lost")
            case .connected: names.append("connected")
            case .disconnected(let reconnects): names.append("disconnected \(reconnects)")
            case .refused(let error): names.append("refused \(error.code.rawValue)")
            case .answer(let number, _): names.append("answer \(number)")
            }
        }
        return names
    }

    @Test func pushesBeyondTheCapacityAreOneLoss() async {
        let queue = ChatEventQueue(capacity: 2)
        for index in 0..<10 { queue.put(.push(name: "p\(index)", payload: .null)) }
        #expect(await self.names(queue) == ["p0", "p1", "lost"])
    }

    @Test func eventsOfTheConnectionAreNeverDropped() async {
        let queue = ChatEventQueue(capacity: 1)
        queue.put(.connected)
        queue.put(.push(name: "a", payload: .null))
        queue.put(.push(name: "b", payload: .null))
        queue.put(.disconnected(reconnects: true))
        queue.put(.push(name: "c", payload: .null))
        queue.put(.refused(ChatError(.unauthorized, message: "")))
        #expect(await self.names(queue) == ["connected", "a", "lost", "disconnected true", "refused unauthorized"])
    }

    /// The loss of pushes is reported before the answers that were received after the lost pushes.
    @Test func answersKeepTheirPlaceAndAreNeverDropped() async {
        let queue = ChatEventQueue(capacity: 1)
        queue.put(.push(name: "a", payload: .null))
        queue.put(.answer(1, .success(.null)))
        queue.put(.push(name: "b", payload: .null))
        queue.put(.answer(2, .success(.null)))
        queue.put(.answer(3, .success(.null)))
        #expect(await self.names(queue) == ["a", "answer 1", "lost", "answer 2", "answer 3"])
    }

    @Test func aReaderMakesRoom() async {
        let queue = ChatEventQueue(capacity: 1)
        var events = queue.events.makeAsyncIterator()
        for name in ["a", "b"] {
            queue.put(.push(name: name, payload: .null))
            guard case .push(name, _)? = await events.next() else { return #expect(Bool(false), "\(name) is missing") }
        }
        queue.put(.push(name: "c", payload: .null))
        queue.put(.push(name: "d", payload: .null))
        guard case .push("c", _)? = await events.next(), case .pushesLost? = await events.next() else {
            return #expect(Bool(false), "not a push and a loss")
        }
        queue.put(.push(name: "e", payload: .null))
        queue.put(.push(name: "f", payload: .null))
        #expect(await self.names(queue) == ["e", "lost"])  // each loss is reported
    }

    @Test func aFinishedQueueTakesNothing() async {
        let queue = ChatEventQueue(capacity: 5)
        queue.put(.connected)
        queue.finish()
        queue.put(.connected)
        #expect(await self.names(queue) == ["connected"])
    }

    @Test func aWaitingReaderIsWoken() async {
        let queue = ChatEventQueue(capacity: 5)
        async let names = {
            var names: [String] = []
            for await event in queue.events { if case .push(let name, _) = event { names.append(name) } }
            return names
        }()
        for index in 0..<5 {
            await Task.yield()
            queue.put(.push(name: "\(index)", payload: .null))
        }
        queue.finish()
        #expect(await names == ["0", "1", "2", "3", "4"])
    }

    // MARK: Addresses

    @Test(arguments: [
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"), ("https://chat.example/", "https://chat.example"),
        (" https://chat.example/// ", "https://chat.example"), ("https://chat.example/base/", "https://chat.example/base"),
        ("http://[::1]:3000/", "http://[::1]:3000"), ("HTTPS://chat.example", "HTTPS://chat.example"),
    ])
    func addressesHaveOneForm(text: String, canonical: String) throws { #expect(try ChatHTTPClient.canonical(text) == canonical) }

    @Test(arguments: [
        "", " ", "chat.example", "ftp://chat.example", "http://", "https:///path", "file:///etc/passwd", "http://chat.example?x=1",
        "http://chat.example#x", "http://alice@chat.example", "http://alice:secret@chat.example", "javascript:alert(1)", "//chat.example",
    ])
    func otherTextsAreNotAddresses(text: String) {
        #expect(throws: ChatClientError.self) { try ChatHTTPClient.canonical(text) }
        do { _ = try ChatHTTPClient.canonical(text) } catch { #expect(error.code == .badAddress) }
    }

    @Test func blobsHaveTheirPaths() throws {
        let blob = try #require(BlobID(String(repeating: "0f", count: 32)))
        let path = "/api/blobs/" + blob.rawValue
        #expect(ChatHTTPClient.path(of: blob, size: nil, owner: nil) == path)
        #expect(ChatHTTPClient.path(of: blob, size: 96, owner: .conversation(Value.room)) == path + "?size=96&conv=" + Value.room.rawValue)
        #expect(ChatHTTPClient.path(of: blob, size: nil, owner: .user(Value.name("王小明"))) == path + "?user=%E7%8E%8B%E5%B0%8F%E6%98%8E")
        #expect(ChatHTTPClient.path(of: blob, size: nil, owner: .user(Value.name("a.b_c"))) == path + "?user=a%2Eb%5Fc")
    }

    // MARK: Answers

    @Test(arguments: [
        (ChatError.Code.unauthorized, ChatClientError.Code.signedOut), (.notFound, .notFound), (.forbidden, .refused), (.tooMany, .refused),
        (.storage, .refused), (.unknown, .refused),
    ])
    func refusalsHaveTheirCodes(server: ChatError.Code, client: ChatClientError.Code) {
        let refusal = ChatError(server, message: "M", field: "f")
        let error = ChatClientError(server: refusal)
        #expect(error.code == client && error.message == "M" && error.asServerError == refusal)
        #expect(throws: error) { try ChatAnswer.read(refusal.json, as: WireEmpty.self, verb: "v") }
    }

    @Test(arguments: [
        (ChatClientError.Code.invalidUse, ChatError.Code.badRequest), (.notFound, .notFound), (.timeout, .unavailable),
        (.unreachable, .unavailable), (.signedOut, .unauthorized), (.wrongCredentials, .unauthorized),
        (.closed, .unavailable), (.store, .unavailable), (.badAnswer, .unavailable),
    ])
    func otherErrorsAreThoseThatPass(client: ChatClientError.Code, server: ChatError.Code) {
        let error = ChatClientError(client, message: "M")
        #expect(error.asServerError == ChatError(server, message: "M") && "\(error)".contains("M"))
    }

    // MARK: Tokens

    /// Answers `refresh` with scripted results, and records the tokens. An attempt without a result
    /// fails with `unreachable`.
    private final class TokenServer: ChatHTTPTransport {
        let answers = NIOLockedValueBox<[Result<JSONValue, ChatClientError>]>([])
        let asked = NIOLockedValueBox<[String]>([])

        func post(_ path: String, _ payload: JSONValue, access: String?) async throws(ChatClientError) -> JSONValue {
            self.asked.withLockedValue { $0.append(payload["refresh"]?.stringValue ?? "") }
            for _ in 0..<10 { await Task.yield() }
            return try self.answers.withLockedValue { $0.isEmpty ? .failure(ChatClientError(.unreachable, message: "")) : $0.removeFirst() }
                .get()
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

    private static func session(_ number: Int) -> SessionAnswer {
        SessionAnswer(
            user: ChatUser(name: Value.alice), device: DeviceID(number: 1), access: "a\(number)",
            accessExpiresAt: Int64(number) * 1_000_000,
            refresh: "r\(number)")
    }

    private static func account(expiresAt: Int64) -> StoredAccount {
        StoredAccount(
            server: "http://a", user: Value.alice, device: DeviceID(number: 1), access: "a0", accessExpiresAt: expiresAt, refresh: "r0")
    }

    @Test func aTokenIsRenewedOnceForAllWaitingRequests() async throws {
        let server = TokenServer()
        server.answers.withLockedValue { $0 = [.success(Self.session(1).json)] }
        let saved = NIOLockedValueBox<[String]>([])
        let tokens = SessionTokens(Self.account(expiresAt: 60_000), http: server, now: { 1 }) { (account) throws(ChatClientError) in
            saved.withLockedValue { $0.append(account.refresh) }
        }
        let found = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<8 { group.addTask { try? await tokens.access() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found == Array(repeating: "a1", count: 8))
        #expect(server.asked.withLockedValue { $0 } == ["r0"] && saved.withLockedValue { $0 } == ["r1"])
        #expect(try await tokens.access() == "a1")
        #expect(await tokens.refreshToken == "r1")
    }

    @Test func aTokenIsRenewedBeforeItsEnd() async throws {
        for (now, isRenewed) in [(Int64(0), false), (39_999, false), (40_000, true), (100_000, true)] {
            let server = TokenServer()
            server.answers.withLockedValue { $0 = [.success(Self.session(1).json)] }
            let tokens = SessionTokens(Self.account(expiresAt: 100_000), http: server, now: { now }) { (_) throws(ChatClientError) in }
            #expect(try await tokens.access() == (isRenewed ? "a1" : "a0"), "\(now)")
        }
    }

    @Test func aRejectedTokenIsRenewed() async throws {
        let server = TokenServer()
        server.answers.withLockedValue { $0 = [.success(Self.session(1).json)] }
        let tokens = SessionTokens(Self.account(expiresAt: .max), http: server, now: { 1 }) { (_) throws(ChatClientError) in }
        #expect(try await tokens.access() == "a0")
        await tokens.reject()
        #expect(try await tokens.access() == "a1")
    }

    @Test func aFailedRenewalIsRetried() async throws {
        let server = TokenServer()
        let answers: [Result<JSONValue, ChatClientError>] = [
            .failure(ChatClientError(.unreachable, message: "")), .success(ChatError(.unauthorized, message: "ended").json),
            .success(["access": 1]), .success(Self.session(2).json),
        ]
        server.answers.withLockedValue { $0 = answers }
        let tokens = SessionTokens(Self.account(expiresAt: 0), http: server, now: { 1 }) { (_) throws(ChatClientError) in }
        var codes: [ChatClientError.Code] = []
        for _ in 0..<3 {
            do { _ = try await tokens.access() } catch { codes.append(error.code) }
        }
        #expect(codes == [.unreachable, .signedOut, .badAnswer])
        #expect(try await tokens.access() == "a2")
        #expect(server.asked.withLockedValue { $0 } == ["r0", "r0", "r0", "r0"])
    }

    /// A refresh token is used once: a successor that cannot be stored is not used.
    @Test func aTokenThatCannotBeStoredIsNotUsed() async throws {
        let server = TokenServer()
        server.answers.withLockedValue { $0 = [.success(Self.session(1).json), .success(Self.session(1).json)] }
        let isFull = NIOLockedValueBox(true)
        let saved = NIOLockedValueBox<[String]>([])
        let tokens = SessionTokens(Self.account(expiresAt: 0), http: server, now: { 1 }) { (account) throws(ChatClientError) in
            if isFull.withLockedValue({ $0 }) { throw ChatClientError(.store, message: "full") }
            saved.withLockedValue { $0.append(account.refresh) }
        }
        await #expect(throws: ChatClientError.self) { try await tokens.access() }
        #expect(await tokens.refreshToken == "r0")
        isFull.withLockedValue { $0 = false }
        #expect(try await tokens.access() == "a1")
        #expect(saved.withLockedValue { $0 } == ["r1"] && server.asked.withLockedValue { $0 } == ["r0", "r0"])
    }
}
