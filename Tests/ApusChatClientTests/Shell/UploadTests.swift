import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

/// Files of unsent messages: interruptions, restarts, refusals, and uploads of discarded
/// messages.
@Suite("Uploads", .timeLimit(.minutes(5)))
struct UploadTests {
    let server = FakeServer()
    let device: TestDevice
    let pair: ConversationID
    private let file: String
    private static let part: Int64 = 262_144

    init() throws {
        self.server.user(Value.alice)
        self.server.user(Value.bob)
        self.pair = self.server.conversation(.pair, [Value.alice, Value.bob])
        self.device = try TestDevice(self.server)
        self.file = self.device.folder + "/film.bin"
        try Self.write(1_000_000, to: self.file)
    }

    private static func write(_ size: Int, to path: String) throws {
        try Data(repeating: 7, count: size).write(to: URL(fileURLWithPath: path))
    }

    private func online(_ device: TestDevice? = nil) async throws -> ChatClient {
        let client = try await (device ?? self.device).signIn()
        try await client.isOnline()
        return client
    }

    @discardableResult
    private func send(_ client: ChatClient, _ path: String? = nil) async throws -> ClientID {
        let message = try await client.conversation(self.pair).send(
            file: path ?? self.file, type: "application/octet-stream", caption: "film")
        return try #require(message.event.id)
    }

    private func end(_ client: ChatClient) async {
        await client.close()
        self.device.remove()
    }

    private var parts: [Int64] { (0..<4).map { $0 * Self.part } }

    private func delivery(_ id: ClientID, _ client: ChatClient) async throws -> DeliveryState? {
        try await client.conversation(self.pair).unsent.first { $0.event.id == id }?.delivery
    }

    // MARK: Restored servers

    /// The server has lost the message, which it had acknowledged, and the file of the message.
    private func lose(_ client: ChatClient) async throws -> ClientID {
        self.server.forgetSends(1)
        let id = try await self.send(client)
        try await eventually { try await self.delivery(id, client) == .sent }
        self.server.setReachable(false)
        self.server.disconnectAll()
        try await eventually { await client.state == .connecting }
        return id
    }

    private func restore(refusals: Int = 1) {
        let error = ChatError(.notFound, message: "The blob does not exist, or you may not read it.", field: "blob")
        for _ in 0..<refusals { self.server.fail("send", with: error) }
        self.server.renewEpoch()
        self.server.setReachable(true)
    }

    private func refusal(of id: ClientID, _ client: ChatClient) async throws -> ChatError? {
        if case .failed(let error)? = try await self.delivery(id, client) { error } else { nil }
    }

    @Test(arguments: [false, true]) func aFileThatTheServerHasLostIsUploadedAgain(isReopened: Bool) async throws {
        var client = try await self.online()
        let id = try await self.lose(client)
        if isReopened {
            await client.close()
            let device = try TestDevice(self.server, folder: self.device.folder)
            client = try await device.accounts.open(try #require(device.accounts.current))
        }
        try await client.conversation(self.pair).send("later")
        self.restore()
        try await eventually { try await client.conversation(self.pair).unsent.isEmpty }
        #expect(self.server.uploadOffsets == [self.parts, self.parts])
        let events = self.server.events(in: self.pair, as: Value.bob)
        // A text does not wait for the upload of an earlier message.
        #expect(events.map(\.kind) == [.text, .file] && events.last?.id == id)
        #expect(events.last?.body["blob"]?.stringValue == String(repeating: "a", count: 64))
        await self.end(client)
    }

    @Test func aLostFileThatNoLongerExistsFailsTheMessage() async throws {
        let client = try await self.online()
        let id = try await self.lose(client)
        try FileManager.default.removeItem(atPath: self.file)
        self.restore()
        try await eventually { try await self.refusal(of: id, client) != nil }
        let error = try #require(try await self.refusal(of: id, client))
        #expect(error.code == .notFound && error.message == "the file \(self.file) does not exist or cannot be read")
        await self.end(client)
    }

    @Test func aLostFileThatWasChangedFailsTheMessage() async throws {
        let client = try await self.online()
        let id = try await self.lose(client)
        self.server.setBlob(String(repeating: "b", count: 64))
        self.restore()
        try await eventually { try await self.refusal(of: id, client) != nil }
        #expect(try await self.refusal(of: id, client)?.message.contains("was changed since it was sent") == true)
        #expect(self.server.events(in: self.pair, as: Value.bob).isEmpty)
        await self.end(client)
    }

    /// A server that repeats the refusal does not cause upload after upload.
    @Test func aLostFileIsUploadedAgainOnce() async throws {
        let client = try await self.online()
        let id = try await self.lose(client)
        self.restore(refusals: 2)
        try await eventually { try await self.refusal(of: id, client) != nil }
        #expect(try await self.refusal(of: id, client)?.field == "blob" && self.server.createdUploads == 2)
        // Another attempt of the user sends the blob, without an upload.
        _ = try await client.conversation(self.pair).retry(id)
        try await eventually { try await client.conversation(self.pair).unsent.isEmpty }
        #expect(self.server.createdUploads == 2 && self.server.events(in: self.pair, as: Value.bob).count == 1)
        await self.end(client)
    }

    // MARK: Interruptions

    @Test func aFileIsUploadedInPartsAndSent() async throws {
        let client = try await self.online()
        try await self.send(client)
        try await eventually { try await client.conversation(self.pair).unsent.isEmpty }
        #expect(self.server.uploadOffsets == [self.parts] && self.server.removedUploads.isEmpty)
        let row = try #require(try await client.conversation(self.pair).storedMessages().messages.first)
        guard case .file(let body)? = row.body else { throw NeverTrue() }
        #expect(body.size == 1_000_000 && body.name == "film.bin" && body.text == "film")
        #expect(body.blob.rawValue == String(repeating: "a", count: 64))
        await self.end(client)
    }

    /// The server stored a part whose answer was lost. The client asks for the offset and does not
    /// send the part again.
    @Test func aLostAnswerRepeatsNoPart() async throws {
        let client = try await self.online()
        self.server.loseUploadAnswers(2)
        try await self.send(client)
        try await eventually { try await client.conversation(self.pair).unsent.isEmpty }
        #expect(self.server.uploadOffsets == [self.parts] && self.server.createdUploads == 1)
        await self.end(client)
    }

    @Test(arguments: [
        ChatClientError(.unreachable, message: "down"), ChatClientError(.timeout, message: "late"),
        ChatClientError(server: ChatError(.tooMany, message: "wait", retryAfter: 5)),
        ChatClientError(server: ChatError(.storage, message: "full")), ChatClientError(server: ChatError(.internal, message: "bug")),
    ])
    func aTemporaryFailureIsRepeated(error: ChatClientError) async throws {
        let client = try await self.online()
        self.server.failUploads(error, error)
        try await self.send(client)
        try await eventually { try await client.conversation(self.pair).unsent.isEmpty }
        #expect(self.server.uploadOffsets == [self.parts] && self.server.createdUploads == 1)
        await self.end(client)
    }

    @Test func anUploadWaitsForTheConnection() async throws {
        let client = try await self.online()
        self.server.setReachable(false)
        self.server.disconnectAll()
        let id = try await self.send(client)
        #expect(try await self.delivery(id, client) == .uploading)
        self.server.setReachable(true)
        try await eventually { try await client.conversation(self.pair).unsent.isEmpty }
        #expect(self.server.createdUploads == 1)
        await self.end(client)
    }

    @Test func anUploadThatTheServerRemovedBeginsAgain() async throws {
        let client = try await self.online()
        self.server.stallUploads(after: 2)
        try await self.send(client)
        try await eventually { self.server.uploadOffsets == [[0, Self.part]] }
        await client.close()
        self.server.expireUploads()
        self.server.stallUploads(after: nil)
        let again = try TestDevice(self.server, folder: self.device.folder)
        let later = try await self.online(again)
        try await eventually { try await later.conversation(self.pair).unsent.isEmpty }
        #expect(self.server.uploadOffsets == [self.parts] && self.server.createdUploads == 2)
        await self.end(later)
    }

    // MARK: Restarts

    @Test func aRestartResumesWhereTheUploadWas() async throws {
        let client = try await self.online()
        self.server.stallUploads(after: 2)
        let id = try await self.send(client)
        try await eventually { self.server.uploadOffsets == [[0, Self.part]] }
        await client.close()
        self.server.stallUploads(after: nil)
        let again = try TestDevice(self.server, folder: self.device.folder)
        let later = try await self.online(again)
        try await eventually { try await later.conversation(self.pair).unsent.isEmpty }
        #expect(self.server.uploadOffsets == [self.parts] && self.server.createdUploads == 1)
        #expect(self.server.requests(of: "send").map { $0["id"]?.stringValue } == [id.rawValue], "the same message")
        await self.end(later)
    }

    @Test func severalFilesAndTextsSurviveARestart() async throws {
        let client = try await self.online()
        let other = self.device.folder + "/other.bin"
        try Self.write(10, to: other)
        self.server.stallUploads(after: 0)
        try await self.send(client)
        try await self.send(client, other)
        try await client.conversation(self.pair).send("text")
        try await eventually { self.server.count(of: "send") == 1 }
        await client.close()
        self.server.stallUploads(after: nil)
        let later = try await self.online(try TestDevice(self.server, folder: self.device.folder))
        try await eventually { try await later.conversation(self.pair).unsent.isEmpty }
        let kinds = self.server.requests(of: "send").compactMap { $0["kind"]?.stringValue }
        #expect(kinds.sorted() == ["file", "file", "text"] && kinds.first == "text")
        await self.end(later)
    }

    // MARK: The end of a session

    /// An unsent file waits for the next sign-in if the session ends, as a text does.
    @Test func anEndedSessionKeepsTheUpload() async throws {
        let client = try await self.online()
        self.server.stallUploads(after: 1)
        let id = try await self.send(client)
        try await eventually { self.server.uploadOffsets == [[0]] }
        self.server.revoke()
        self.server.disconnectAll()
        self.server.stallUploads(after: nil)
        try await eventually { if case .signedOut = await client.state { true } else { false } }
        try await eventually { await client.engine.uploads.isEmpty }
        #expect(try await self.delivery(id, client) == .uploading)
        await client.close()
        #expect(self.server.removedUploads.isEmpty)
        self.device.remove()
    }

    /// The access token expires before its announced time, for example because the server has a
    /// new key.
    @Test func aRefusedTokenIsRenewedDuringAnUpload() async throws {
        let client = try await self.online()
        self.server.stallUploads(after: 2)
        try await self.send(client)
        try await eventually { self.server.uploadOffsets == [[0, Self.part]] }
        let before = self.server.refreshes
        self.server.expireTokens()
        self.server.stallUploads(after: nil)
        try await eventually { try await client.conversation(self.pair).unsent.isEmpty }
        #expect(self.server.uploadOffsets == [self.parts] && self.server.refreshes == before + 1)
        await self.end(client)
    }

    // MARK: Discarded messages

    /// The upload of a discarded message ends, and is removed from the server, which limits the
    /// number of unfinished uploads.
    @Test func aDiscardedMessageEndsItsUpload() async throws {
        let client = try await self.online()
        self.server.stallUploads(after: 2)
        let id = try await self.send(client)
        try await eventually { self.server.uploadOffsets == [[0, Self.part]] }
        try await client.conversation(self.pair).discard(id)
        #expect(try await client.conversation(self.pair).unsent.isEmpty)
        self.server.stallUploads(after: nil)
        try await eventually { self.server.removedUploads.count == 1 }
        #expect(self.server.count(of: "upload") <= 3, "no part follows the pending one")
        #expect(self.server.count(of: "send") == 0)
        await self.end(client)
    }

    @Test func aMessageThatIsDiscardedWithoutAConnectionLeavesNoUpload() async throws {
        let client = try await self.online()
        self.server.stallUploads(after: 2)
        let id = try await self.send(client)
        try await eventually { self.server.uploadOffsets == [[0, Self.part]] }
        self.server.setReachable(false)
        self.server.disconnectAll()
        self.server.stallUploads(after: nil)
        try await client.conversation(self.pair).discard(id)
        try await eventually { await client.engine.uploads.isEmpty }
        self.server.setReachable(true)
        try await client.isOnline()
        #expect(self.server.count(of: "send") == 0)
        try await client.conversation(self.pair).send("text")
        try await eventually { self.server.texts(in: self.pair, as: Value.bob) == ["text"] }
        await self.end(client)
    }

    // MARK: Refusals

    @Test func aRefusedUploadFailsAloneAndIsRepeatedOnRequest() async throws {
        let client = try await self.online()
        let chat = client.conversation(self.pair)
        self.server.failUploads(ChatClientError(server: ChatError(.limit, message: "Too many uploads.")))
        let id = try await self.send(client)
        try await eventually { try await self.delivery(id, client) == .failed(ChatError(.limit, message: "Too many uploads.")) }
        try await chat.send("text")
        try await eventually { self.server.texts(in: self.pair, as: Value.bob) == ["text"] }
        let again = try #require(try await chat.retry(id))
        #expect(again.event.id != id && again.delivery == .uploading)
        try await eventually { try await chat.unsent.isEmpty }
        #expect(self.server.requests(of: "send").count == 2 && self.server.createdUploads == 1, "the upload was resumed")
        #expect(try await chat.retry(id) == nil)
        await self.end(client)
    }

    @Test func aMissingFileFailsWithItsName() async throws {
        let client = try await self.online()
        self.server.stallUploads(after: 2)
        let id = try await self.send(client)
        try await eventually { self.server.uploadOffsets == [[0, Self.part]] }
        await client.close()
        try FileManager.default.removeItem(atPath: self.file)
        self.server.stallUploads(after: nil)
        let later = try await self.online(try TestDevice(self.server, folder: self.device.folder))
        try await eventually { if case .failed = try await self.delivery(id, later) { true } else { false } }
        guard case .failed(let error) = try await self.delivery(id, later) else { throw NeverTrue() }
        #expect(error.code == .notFound && error.message.contains(self.file))
        try await later.conversation(self.pair).discard(id)
        #expect(try await later.conversation(self.pair).unsent.isEmpty)
        await self.end(later)
    }

    @Test func aFileThatBecameShorterFails() async throws {
        let client = try await self.online()
        self.server.stallUploads(after: 1)
        let id = try await self.send(client)
        try await eventually { self.server.uploadOffsets == [[0]] }
        let handle = try #require(FileHandle(forWritingAtPath: self.file))
        try handle.truncate(atOffset: 300_000)
        self.server.stallUploads(after: nil)
        try await eventually { if case .failed = try await self.delivery(id, client) { true } else { false } }
        guard case .failed(let error) = try await self.delivery(id, client) else { throw NeverTrue() }
        #expect(error.code == .badRequest && error.message.contains("changed during its upload"))
        await self.end(client)
    }

    @Test func anEmptyOrTooLargeFileIsNotStored() async throws {
        var limits = HelloLimits()
        limits.blobBytes = 999_999
        self.server.setLimits(limits)
        let client = try await self.online()
        let empty = self.device.folder + "/empty"
        try Self.write(0, to: empty)
        for path in [empty, self.device.folder + "/none", self.device.folder, self.file] {
            let error = await #expect(throws: ChatClientError.self) { try await self.send(client, path) }
            #expect(error?.code == .invalidUse && error?.message.contains(path) == true)
        }
        #expect(try await client.unsent.isEmpty && self.server.createdUploads == 0)
        await self.end(client)
    }

    @Test func aLinkToAFileIsTheFile() async throws {
        let client = try await self.online()
        let link = self.device.folder + "/link.bin"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: self.file)
        try await self.send(client, link)
        try await eventually { try await client.conversation(self.pair).unsent.isEmpty }
        let row = try #require(try await client.conversation(self.pair).storedMessages().messages.first)
        guard case .file(let body)? = row.body else { throw NeverTrue() }
        #expect(body.size == 1_000_000 && body.name == "link.bin")
        await self.end(client)
    }

    @Test func theOutboxOfAnUnknownConversationIsRefused() async throws {
        let client = try await self.online()
        let nowhere = client.conversation(ConversationID(number: 99_999))
        await #expect { try await nowhere.send("text") } throws: { ($0 as? ChatClientError)?.code == .notFound }
        await #expect {
            try await nowhere.send(file: self.file, type: "image/png")
        } throws: { ($0 as? ChatClientError)?.code == .notFound }
        #expect(try await client.unsent.isEmpty && self.server.createdUploads == 0)
        await self.end(client)
    }
}
