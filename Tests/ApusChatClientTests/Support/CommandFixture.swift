import ApusChatCore
import ApusChatProtocol
import ApusChatReference
import ApusChatStorage
import ApusChatTerminal
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

/// The host of a commander in a test, which records what commands print and show.
@MainActor final class TestHost: ChatCommandHost {
    var conversation: ChatConversation?
    var shownRows: [ChatMessage] = []
    var selectedSeq: Int64?
    var openThread: Int64?
    var said: [ChatSaid] = []
    var shown: [ConversationID] = []
    var jumps: [Int64] = []
    var threads: [Int64?] = []
    var openedFiles: [String] = []

    func say(_ line: ChatSaid) { self.said.append(line) }
    func show(_ conversation: ChatConversation) async throws { self.shown.append(conversation.id) }
    func jump(to seq: Int64) async throws { self.jumps.append(seq) }
    func showThread(_ root: Int64?) async throws { self.threads.append(root) }
    func sent(_ message: ChatMessage) {}
    func openFile(_ path: String) throws { self.openedFiles.append(path) }
}

/// A commander of alice in a group with three messages: #1 is of bob, #2 and the poll #3 are of
/// alice.
@MainActor struct CommandFixture {
    nonisolated static let now: Int64 = 1_795_519_800_000
    let server = FakeServer()
    let device: TestDevice
    let client: ChatClient
    let commander: ChatCommander
    let host = TestHost()
    let group: ConversationID
    let pair: ConversationID

    init() async throws {
        for name in [Value.alice, Value.bob, Value.name("carol")] { self.server.user(name) }
        self.group = self.server.conversation(.group, [Value.alice, Value.bob, Value.name("carol")])
        self.pair = self.server.conversation(.pair, [Value.alice, Value.bob])
        self.server.write("hello", by: Value.bob, in: self.group)
        self.server.write("mine", by: Value.alice, in: self.group)
        let poll = MessageContent(kind: .poll, body: #"{"question":"When?","options":["Mon","Tue"]}"#, options: 2)
        self.server.change(.send(SendCommand(conversation: ConversationKey(self.group.number), content: .success(poll))), by: Value.alice)
        self.device = try TestDevice(self.server)
        self.client = try await self.device.signIn()
        try await self.client.isOnline()
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        self.commander = ChatCommander(client: self.client, clock: ChatClock(now: { Self.now }, calendar: calendar))
        self.commander.host = self.host
        let chat = self.client.conversation(self.group)
        self.host.conversation = chat
        try await eventually { try await chat.storedMessages().messages.count == 3 }
        self.host.shownRows = try await chat.storedMessages().messages
        for verb in ChatReference.verbs
        where !["hello", "sync", "history", "send", "mark", "users", "subscribe", "typing"].contains(verb.name) {
            self.server.script(verb.name, try JSONReader.read(verb.examples.answer))
        }
        // These answers name the group, because the client has its log.
        let head = try await chat.head.json
        for verb in ["conversation.open", "conversation.create"] { self.server.script(verb, ["head": head]) }
        self.server.script("member.join", ["conv": .string(self.group.rawValue), "id": "x", "at": 1, "head": head])
    }

    /// Runs a test with a fixture, and ends the fixture.
    static func with(_ body: (CommandFixture) async throws -> Void) async throws {
        let fixture = try await CommandFixture()
        let result: Result<Void, any Error>
        do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
        await fixture.end()
        try result.get()
    }

    func perform(_ line: String) async { await self.commander.perform(ChatLine(line)) }

    /// Returns the texts that the commands printed since the last call.
    func told() -> [String] {
        defer { self.host.said = [] }
        return self.host.said.map(\.text)
    }

    /// Returns the last request of a verb without its id, and without its conversation if that is
    /// the group.
    func request(_ verb: String) -> JSONValue? {
        guard var fields = self.server.requests(of: verb).last?.objectValue else { return nil }
        fields["id"] = nil
        if fields["conv"]?.stringValue == self.group.rawValue { fields["conv"] = nil }
        return .object(fields)
    }

    func end() async {
        await self.client.close()
        self.device.remove()
    }
}
