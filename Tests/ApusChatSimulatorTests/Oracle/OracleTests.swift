import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSimulator

/// The rules of the oracle that few seeds of the simulation reach.
@Suite struct OracleTests {
    private let ann = UserKey(1)
    private let bob = UserKey(2)
    private let group = ConversationKey(10)
    private let oracle: Oracle
    private let book: Book

    init() {
        self.oracle = Oracle(
            own: [self.ann: ConversationKey(1), self.bob: ConversationKey(2)],
            names: [UserName(prepared: "ann"), UserName(prepared: "bob")], rules: ChatRules())
        var settings = ConversationSettings()
        settings.slow = 10
        self.book = Book(key: self.group, kind: .group, settings: settings)
        self.book.people = [self.ann: Person(state: .joined, role: .owner), self.bob: Person(state: .joined, role: .member)]
        self.oracle.books[self.group] = self.book
    }

    private func send(_ text: String, by user: UserKey, at time: Int64) throws -> Verdict {
        let id = try #require(ClientID(text))
        let content = MessageContent(kind: .text, body: "{\"text\":\"\(text)\"}")
        return self.oracle.judge(
            Command(
                actor: user, device: DeviceKey(1), request: RequestIdentity(id: id, hash: RequestHash(1, 0, 0, 0)),
                action: .send(SendCommand(conversation: self.group, content: .success(content)))), at: time)
    }

    @Test func slowModeCountsFromTheLastMessage() throws {
        #expect(try self.send("a", by: self.bob, at: 100_000) == .accepted(seq: 1, n: 1))
        #expect(try self.send("b", by: self.bob, at: 109_999) == .refused(.tooMany))
        #expect(try self.send("c", by: self.ann, at: 109_999) == .accepted(seq: 2, n: 2))
        #expect(try self.send("d", by: self.ann, at: 109_999) == .accepted(seq: 3, n: 3))
        #expect(try self.send("b", by: self.bob, at: 110_000) == .accepted(seq: 4, n: 4))
    }

    @Test func slowModeWaitsAtMostItsIntervalAfterTheClockWasSetBack() throws {
        #expect(try self.send("a", by: self.bob, at: 4_000_000) == .accepted(seq: 1, n: 1))
        #expect(try self.send("b", by: self.bob, at: 400_000) == .accepted(seq: 2, n: 2))
        #expect(try self.send("c", by: self.bob, at: 409_999) == .refused(.tooMany))
        #expect(try self.send("c", by: self.bob, at: 410_000) == .accepted(seq: 3, n: 3))
    }
}
