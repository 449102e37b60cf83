import ApusChatCore
import ApusChatProtocol
import Foundation
import Testing

@testable import ApusChatClient

/// A closed client releases its objects.
@MainActor @Suite("Release")
struct ReleaseTests {
    let server = FakeServer()
    let device: TestDevice
    let pair: ConversationID

    init() throws { (self.device, self.pair) = try self.server.pair() }

    /// Weak references to a client and its objects.
    private final class Remains {
        weak var client: ChatClient?
        weak var engine: ChatEngine?
        weak var store: ChatStore?
        weak var tokens: SessionTokens?
        weak var broadcaster: ChatBroadcaster?
        var isEmpty: Bool {
            self.client == nil && self.engine == nil && self.store == nil && self.tokens == nil && self.broadcaster == nil
        }

        init(_ client: ChatClient) {
            self.client = client
            self.engine = client.engine
            self.store = client.store
            self.tokens = client.engine.tokens
            self.broadcaster = client.engine.broadcaster
        }
    }

    /// Uses a client in all ways that start a task, and closes it.
    private func use(_ name: UserName) async throws -> Remains {
        let client = try await self.device.signIn(name)
        let remains = Remains(client)
        try await client.isOnline()
        let observation = client.observe { _ in }
        let thread = ThreadModel(client: client, conversation: self.pair)
        let composer = ComposerModel(client: client, conversation: self.pair)
        let list = ConversationListModel(client: client)
        await thread.open()
        await list.start()
        composer.text = "unfinished @b"
        try await client.conversation(self.pair).send("hello")
        try await eventually { thread.rows.contains { $0.text == "hello" } }
        // The connection and the upload fail, and wait for their next attempt.
        self.server.setReachable(false)
        let path = "\(self.device.folder)/\(name).bin"
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
        try await client.conversation(self.pair).send(file: path, type: "application/octet-stream")
        self.server.disconnectAll()
        try await eventually { await client.state == .connecting }
        observation.cancel()
        await thread.close()
        await client.close()
        self.server.setReachable(true)
        return remains
    }

    @Test func aClosedClientIsReleased() async throws {
        let remains = try await self.use(Value.alice)
        try await eventually { remains.isEmpty }
        self.device.remove()
    }

    @Test func aSwitchOfAccountsReleasesTheOneBefore() async throws {
        let first = try await self.use(Value.alice)
        let second = try await self.use(Value.bob)
        try await eventually { first.isEmpty && second.isEmpty }
        #expect(self.device.accounts.all.map(\.user) == [Value.alice, Value.bob])
        self.device.remove()
    }

    @Test func composersListsAndSearchesAreReleased() async throws {
        let client = try await self.device.signIn()
        try await client.isOnline()
        weak var composer: ComposerModel?
        weak var search: SearchModel?
        weak var members: MembersModel?
        await {
            let one = ComposerModel(client: client, conversation: self.pair)
            let two = SearchModel(client: client)
            let three = MembersModel(client: client, conversation: self.pair)
            one.text = "hi @bo"
            two.query = "words"
            await three.load()
            (composer, search, members) = (one, two, three)
        }()
        try await eventually { composer == nil && search == nil && members == nil }
        await client.close()
        self.device.remove()
    }
}
