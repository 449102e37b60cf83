import ApusChatProtocol
import ApusEventLoop
import Testing

@testable import ApusChatClient

/// A client whose disk is full: it loses nothing, and continues when there is space again.
@Suite("A full disk", .timeLimit(.minutes(5)))
struct FullDiskTests {
    private let server = FakeServer()
    private let long = String(repeating: "long ", count: 1_500)

    private func with(_ body: (ChatClient, ChatConversation) async throws -> Void) async throws {
        try await self.server.withPair { client, pair in try await body(client, client.conversation(pair)) }
    }

    /// The events that could not be stored are requested again. The application is informed.
    @Test func receivedMessagesAreRequestedAgain() async throws {
        try await self.with { client, chat in
            let updates = client.updates(bufferingPolicy: .unbounded)
            try client.store.limitPages(to: 1)
            for number in 1...3 { self.server.write("\(self.long)\(number)", by: Value.bob, in: chat.id) }
            for await update in updates {
                guard case .storeFailed(let error) = update else { continue }
                #expect(error.code == .store)
                break
            }
            #expect(try await chat.texts.isEmpty)
            try client.store.limitPages(to: nil)
            try await eventually { try await chat.texts.map(\.last) == ["1", "2", "3"] }
            try await client.isOnline()
            #expect(try await chat.head.unread == 3)
        }
    }

    /// A message that cannot be stored is an error of the call, and is not sent.
    @Test func aWrittenMessageIsRefused() async throws {
        try await self.with { client, chat in
            try await chat.setDraft("unfinished")
            try client.store.limitPages(to: 1)
            var stored = 0
            let error = await #expect(throws: ChatClientError.self) {
                for _ in 0..<100 {
                    try await chat.send(self.long)
                    stored += 1
                }
            }
            #expect(error?.code == .store && stored < 100)
            try client.store.limitPages(to: nil)
            try await chat.send("after")
            try await eventually { self.server.texts(in: chat.id, as: Value.bob).last == "after" }
            #expect(self.server.texts(in: chat.id, as: Value.bob).count == stored + 1)
        }
    }
}
