import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

@testable import ApusChatClient

/// The conversation of alice and bob, as a thread of 20 rows a page and at most 60 rows on alice's
/// device.
@MainActor struct ThreadFixture {
    let server = FakeServer()
    let device: TestDevice
    let pair: ConversationID

    init() throws { (self.device, self.pair) = try self.server.pair() }

    /// Sends messages of bob whose texts are the numbers.
    func write(_ numbers: ClosedRange<Int>) {
        for number in numbers { self.server.write("\(number)", by: Value.bob, in: self.pair) }
    }

    /// Moves alice's read position, as another device of hers does.
    func read(_ n: Int64) {
        self.server.change(.mark(MarkCommand(conversation: ConversationKey(self.pair.number), read: n)), by: Value.alice)
    }

    /// Runs `body` with a client that is online, and with its thread, which is not open.
    func with(_ body: (ChatClient, ThreadModel) async throws -> Void) async throws {
        let client = try await self.device.signIn()
        try await client.isOnline()
        let thread = ThreadModel(client: client, conversation: self.pair, pageSize: 20, maximumRows: 60)
        let result: Result<Void, any Error>
        do { result = .success(try await body(client, thread)) } catch { result = .failure(error) }
        await thread.close()
        await client.close()
        self.device.remove()
        try result.get()
    }

    func texts(_ numbers: ClosedRange<Int>) -> [String] { numbers.map { "\($0)" } }
}
