import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatClient

/// An open conversation whose pages arrive late, or not at all.
@MainActor @Suite("Threads and late pages", .timeLimit(.minutes(5)))
struct ThreadLoadTests {
    let fixture: ThreadFixture
    private var server: FakeServer { self.fixture.server }

    init() throws { self.fixture = try ThreadFixture() }

    /// Runs `body` with a thread of 300 messages, all read, that shows the newest 20.
    private func with(_ body: (ChatClient, ThreadModel) async throws -> Void) async throws {
        self.fixture.write(1...300)
        self.fixture.read(300)
        try await self.fixture.with { client, thread in
            await thread.open()
            try await body(client, thread)
        }
    }

    /// Begins to load the rows around a message that the store does not have. The server leaves the
    /// request without an answer.
    private func begin(_ thread: ThreadModel) async throws -> Task<Void, Never> {
        self.server.withhold("history")
        let count = self.server.count(of: "history")
        let load = Task { await thread.jump(to: 40) }
        try await eventually { self.server.count(of: "history") > count }
        #expect(thread.isLoading)
        return load
    }

    @Test func theEndIsShownWhileAPageIsMissing() async throws {
        try await self.with { _, thread in
            let load = try await self.begin(thread)
            await thread.jumpToEnd()
            #expect(thread.rows.compactMap(\.text) == self.fixture.texts(281...300) && !thread.isLoading)
            load.cancel()
            await load.value
            // The cancelled load has no effect, and its failure is not shown.
            #expect(thread.rows.compactMap(\.text) == self.fixture.texts(281...300) && !thread.isLoading && thread.error == nil)
        }
    }

    @Test func replacedDataAreShownWhileAPageIsMissing() async throws {
        try await self.with { client, thread in
            let load = try await self.begin(thread)
            // The request of the lost connection stays without an answer; later ones are answered.
            self.server.release("history")
            let hellos = self.server.count(of: "hello")
            self.server.renewEpoch()
            self.server.disconnectAll()
            try await eventually { self.server.count(of: "hello") > hellos }
            try await client.isOnline()
            self.fixture.write(301...301)
            try await eventually { thread.rows.last?.text == "301" && !thread.isLoading }
            load.cancel()
            await load.value
            #expect(thread.rows.last?.text == "301" && !thread.hasLater && thread.error == nil)
        }
    }

    @Test func theLastOfSeveralJumpsIsShown() async throws {
        try await self.with { _, thread in
            await thread.jump(to: 290)
            let shown = thread.rows.compactMap(\.text)
            #expect(shown.contains("290"))
            await withTaskGroup(of: Void.self) { group in
                for seq in [20, 120, 220] as [Int64] { group.addTask { await thread.jump(to: seq) } }
            }
            #expect(!thread.isLoading && thread.error == nil)
            // The window is that of one of the jumps, as a whole.
            let numbers = thread.rows.compactMap(\.text).compactMap { Int($0) }
            #expect(numbers == Array((numbers.first ?? 0)..<(numbers.first ?? 0) + numbers.count))
            #expect([20, 120, 220].count { numbers.contains($0) } == 1)
        }
    }

    /// A second page is not loaded while the first one is being loaded.
    @Test func pagesAreLoadedOneAtATime() async throws {
        try await self.with { _, thread in
            await withTaskGroup(of: Void.self) { group in for _ in 0..<4 { group.addTask { await thread.loadEarlier() } } }
            let numbers = thread.rows.compactMap(\.text).compactMap { Int($0) }
            #expect(numbers == Array((numbers.first ?? 0)...300) && Set(numbers).count == numbers.count)
            #expect(!thread.isLoading)
        }
    }

    /// The failure of a page is shown, and the next attempt succeeds.
    @Test func aFailedPageIsReported() async throws {
        try await self.with { _, thread in
            let before = thread.rows.compactMap(\.text)
            self.server.fail("history", with: ChatError(.forbidden, message: "Not you."))
            await thread.jump(to: 40)
            #expect(thread.error?.message == "Not you." && !thread.isLoading && thread.rows.compactMap(\.text) == before)
            await thread.jump(to: 40)
            #expect(thread.error == nil && thread.rows.contains { $0.text == "40" })
        }
    }

    @Test(arguments: [Int64(0), -1, 301, .max]) func aJumpToNoMessageShowsRowsAtThatEnd(seq: Int64) async throws {
        try await self.with { _, thread in
            await thread.jump(to: seq)
            #expect(!thread.isLoading)
            let numbers = thread.rows.compactMap(\.text).compactMap { Int($0) }
            #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        }
    }
}
