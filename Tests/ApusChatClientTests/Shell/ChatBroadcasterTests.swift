import ApusChatProtocol
import ApusEventLoop
import Testing

@testable import ApusChatClient

@Suite struct ChatBroadcasterTests {
    private let broadcaster = ChatBroadcaster()

    /// Returns the updates that a subscriber with a policy receives if it begins to read after
    /// `count` updates.
    private func read(_ policy: BufferingPolicy, after count: Int) async -> [String] {
        let stream = self.broadcaster.subscribe(bufferingPolicy: policy)
        for _ in 0..<count { self.broadcaster.yield(.users([])) }
        self.broadcaster.finish()
        var texts: [String] = []
        for await update in stream { texts.append(Self.name(update)) }
        return texts
    }

    private static func name(_ update: ChatUpdate) -> String {
        switch update {
        case .users: "users"
        case .missed: "missed"
        default: "another"
        }
    }

    @Test func aFastReaderMissesNothing() async {
        #expect(await self.read(.bufferingNewest(3), after: 3) == ["users", "users", "users"])
    }

    @Test func anUnboundedReaderMissesNothing() async {
        #expect(await self.read(.unbounded, after: 100).allSatisfy { $0 == "users" })
    }

    @Test func aReaderOfTheNewestIsInformedThatItMissedSome() async {
        #expect(await self.read(.bufferingNewest(3), after: 4).contains("missed"))
        #expect(await ChatBroadcasterTests().read(.bufferingNewest(3), after: 50).contains("missed"))
    }

    @Test func aReaderOfTheOldestIsInformedAfterTheKeptElements() async {
        let stream = self.broadcaster.subscribe(bufferingPolicy: .bufferingOldest(2))
        for _ in 0..<5 { self.broadcaster.yield(.users([])) }
        var updates = stream.makeAsyncIterator()
        for _ in 0..<2 { #expect(await updates.next().map(Self.name) == "users") }
        self.broadcaster.yield(.users([]))
        #expect(await updates.next().map(Self.name) == "users")
        #expect(await updates.next().map(Self.name) == "missed")
    }
}
