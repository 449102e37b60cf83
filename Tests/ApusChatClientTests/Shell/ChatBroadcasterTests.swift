import ApusChatProtocol
import ApusEventLoop
import NIOConcurrencyHelpers
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

    // MARK: Closures

    /// The updates that closures have received, with the number of the closure.
    private final class Log: Sendable {
        let lines = NIOLockedValueBox<[String]>([])
        func add(_ line: String) { self.lines.withLockedValue { $0.append(line) } }
    }

    @Test func closuresAreCalledInTheOrderOfTheirRegistration() {
        let log = Log()
        let ids = (1...3).map { number in self.broadcaster.observe { log.add("\(number) \(Self.name($0))") } }
        self.broadcaster.yield(.users([]))
        self.broadcaster.remove(ids[1])
        self.broadcaster.remove(ids[1])
        self.broadcaster.yield(.missed)
        #expect(log.lines.withLockedValue { $0 } == ["1 users", "2 users", "3 users", "1 missed", "3 missed"])
        #expect(self.broadcaster.count == 2)
    }

    /// A closure can remove itself, or add another one, while it is called.
    @Test func aClosureChangesTheListDuringACall() {
        let log = Log()
        let (broadcaster, id) = (self.broadcaster, NIOLockedValueBox(0))
        let first = broadcaster.observe { _ in
            log.add("first")
            broadcaster.remove(id.withLockedValue { $0 })
            _ = broadcaster.observe { _ in log.add("second") }
        }
        id.withLockedValue { $0 = first }
        broadcaster.yield(.missed)
        broadcaster.yield(.missed)
        #expect(log.lines.withLockedValue { $0 } == ["first", "second"])
    }

    @Test func nothingIsDeliveredAfterTheEnd() async {
        let log = Log()
        _ = self.broadcaster.observe { _ in log.add("update") }
        _ = self.broadcaster.observeCalls { _ in log.add("call") }
        let before = self.broadcaster.subscribe(bufferingPolicy: .unbounded)
        self.broadcaster.finish()
        self.broadcaster.finish()
        let after = self.broadcaster.subscribe(bufferingPolicy: .unbounded)
        self.broadcaster.yield(.missed)
        self.broadcaster.yield(call: .connection(.online))
        for stream in [before, after] { for await _ in stream { Issue.record("an update after the end") } }
        #expect(log.lines.withLockedValue { $0 }.isEmpty && self.broadcaster.count == 0)
    }

    /// Calls are observed apart from updates.
    @Test func signalsOfCallsReachTheirObserversOnly() {
        let log = Log()
        _ = self.broadcaster.observe { _ in log.add("update") }
        let id = self.broadcaster.observeCalls { _ in log.add("call") }
        self.broadcaster.yield(call: .gone([]))
        self.broadcaster.removeCalls(id)
        self.broadcaster.yield(call: .gone([]))
        #expect(log.lines.withLockedValue { $0 } == ["call"] && self.broadcaster.count == 1)
    }

    @Test func aReleasedStreamIsRemoved() async throws {
        do {
            let stream = self.broadcaster.subscribe(bufferingPolicy: .unbounded)
            #expect(self.broadcaster.count == 1)
            _ = consume stream
        }
        try await eventually { self.broadcaster.count == 0 }
        self.broadcaster.yield(.missed)
    }

    @Test func anObservationEndsWithItsValue() {
        let ended = NIOLockedValueBox(0)
        var observation: ChatObservation? = ChatObservation { ended.withLockedValue { $0 += 1 } }
        observation?.cancel()
        #expect(ended.withLockedValue { $0 } == 1)
        observation = nil
        #expect(ended.withLockedValue { $0 } == 2)
    }
}
