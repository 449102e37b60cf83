import ApusChatProtocol
import Testing

@testable import ApusChatClient

/// The number of syncs to disk of the client's operations.
@Suite("Syncs to disk")
struct SyncTests {
    let server = FakeServer()
    let device: TestDevice
    let pair: ConversationID

    init() throws { (self.device, self.pair) = try self.server.pair() }

    @Test func aSentMessageCostsOneSync() async throws {
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        let chat = alice.conversation(self.pair)
        func send(_ text: String) async throws {
            try await chat.send(text)
            // The message is acknowledged, and moves from the outbox to the log.
            try await eventually { try await chat.unsent.isEmpty }
        }
        // The first commit of a connection may also sync the header of SQLite's write-ahead log.
        try await send("first")
        let counter = try SyncCounter(alice.store)
        for number in 1...12 {
            try await send("text \(number)")
            #expect(counter.count == number)
        }
        try counter.stop()
        await alice.close()
        self.device.remove()
    }

    @Test func receivedMessagesCostNoSync() async throws {
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        let other = try TestDevice(self.server)
        let bob = try await other.signIn(Value.bob)
        try await bob.isOnline()
        try await bob.conversation(self.pair).send("first")
        try await eventually { try await alice.conversation(self.pair).texts == ["first"] }
        let counter = try SyncCounter(alice.store)
        for number in 1...5 { try await bob.conversation(self.pair).send("text \(number)") }
        try await eventually { try await alice.conversation(self.pair).texts.count == 6 }
        #expect(counter.count == 0)
        try counter.stop()
        await alice.close()
        await bob.close()
        self.device.remove()
        other.remove()
    }
}
