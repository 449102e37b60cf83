import ApusChatCore
import ApusChatProtocol
import ApusJSON
import GRDB
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatClient

@Suite("Store: messages that disappear")
struct ChatStoreExpiryTests {
    let time = NIOLockedValueBox<Int64>(10_000)
    let store: ChatStore

    init() throws {
        let time = self.time
        self.store = try ChatStore(path: ":memory:", now: { time.withLockedValue { $0 } })
        var message = Value.text(2, "secret words")
        message.expiresAt = 20_000
        let edit = Value.change(.edit, 3, of: 2, ["body": ["text": "other secret"]])
        try self.apply(.head(Value.head(3)), .events([Value.text(1, "stays"), message]), .events([edit]))
    }

    @discardableResult
    private func apply(_ changes: StoreChange...) throws -> StoreEffects { try self.store.apply(changes, of: Value.alice) }

    private func rows() throws -> [ChatMessage] {
        try self.store.page(of: Value.room, before: nil, limit: 50, me: Value.alice).messages
    }

    @Test func aMessageIsNotShownAfterItsTimeEvenBeforeItsRemoval() throws {
        #expect(try self.rows().map(\.text) == ["stays", "other secret"])
        self.time.withLockedValue { $0 = 20_000 }
        #expect(try self.rows().map(\.text) == ["stays", nil])
        #expect(try self.rows().last?.event.state == .expired)
        #expect(try self.store.search(StoreQuery(text: "secret")).isEmpty)
    }

    @Test func theRemovalBlanksTheMessageItsEditsAndTheIndex() throws {
        #expect(try self.store.nextExpiry() == 20_000)
        #expect(try self.apply(.expire(at: 19_999)).events.isEmpty)
        #expect(try self.apply(.expire(at: 20_000)).events == [Value.room: [2]])
        #expect(try self.store.nextExpiry() == nil)
        let values = try self.store.read { try String.fetchAll($0, sql: "SELECT value FROM event") }
        #expect(!values.contains { $0.contains("secret") })
        #expect(try self.store.search(StoreQuery(text: "secret")).isEmpty)
        #expect(try self.store.search(StoreQuery(text: "stays")).count == 1)
    }

    @Test(arguments: [
        Value.change(.edit, 4, of: 2, ["body": ["text": "late secret"]]),
        Value.change(.preview, 4, of: 2, ["preview": ["url": "https://a.example/", "title": "late secret"]]),
    ])
    func aChangeThatArrivesAfterTheTimeIsStoredWithoutContent(_ change: ChatEvent) throws {
        try self.apply(.expire(at: 20_000))
        try self.apply(.events([change]))
        let values = try self.store.read { try String.fetchAll($0, sql: "SELECT value FROM event") }
        #expect(values.count == 4)
        #expect(!values.contains { $0.contains("secret") })
    }

    @Test func thePreviewOfAHeadDisappears() {
        var head = Value.head(3)
        head.settings = ConversationSettings()
        head.settings?.expire = 5
        head.last = EventPreview(seq: 3, n: 3, sender: Value.bob, at: 10_000, kind: .text, text: "secret")
        var core = ClientCore(user: Value.alice)
        var restored = ClientCore.Restored()
        restored.heads = [head]
        core.restore(restored)
        #expect(core.nextPreviewExpiry == 15_000)
        #expect(core.expire(at: 14_999) == [.store(.expire(at: 14_999))])
        _ = core.expire(at: 15_000)
        #expect(core.heads[Value.room]?.last?.text == nil)
        #expect(core.heads[Value.room]?.last?.state == .expired)
        #expect(core.nextPreviewExpiry == nil)
    }
}
