import ApusChatCore
import ApusChatProtocol
import Testing

@testable import ApusChatClient

@Suite("Search in the store")
struct ChatStoreSearchTests {
    let store: ChatStore

    init() throws {
        self.store = try ChatStore(path: ":memory:")
        let texts = ["你好，世界", "Hello world", "今天天气很好", "a \"quoted\" word", "见", "Straße in Köln"]
        let events = texts.enumerated().map { Value.text(Int64($0.offset + 1), $0.element) }
        _ = try self.store.apply([.events(events)], of: Value.alice)
        _ = try self.store.apply([.events([Value.text(1, "hello there", by: Value.alice, in: Value.other)])], of: Value.alice)
    }

    @Test(arguments: [
        ("好", [3, 1]), ("你好", [1]), ("世", [1]), ("天气很", [3]), ("见", [5]), ("界", [1]), ("hello", [2, 1]), ("HELLO world", [2]),
        ("ell", [2, 1]), ("wo", [4, 2]), ("\"quoted\"", [4]), ("köln", [6]), ("nothing", []), ("", []), ("*", []), ("好 天", [3]),
    ])
    func wordsAreFound(query: String, seqs: [Int64]) throws {
        #expect(try self.store.search(StoreQuery(text: query)).map(\.seq) == seqs)
    }

    @Test func filters() throws {
        #expect(try self.store.search(StoreQuery(text: "hello", conversation: Value.other)).count == 1)
        #expect(try self.store.search(StoreQuery(text: "hello", sender: Value.bob)).map(\.conversation) == [Value.room])
        #expect(try self.store.search(StoreQuery(text: "hello", from: 1_002)).map(\.seq) == [2])
        #expect(try self.store.search(StoreQuery(text: "hello", kinds: [.image])).isEmpty)
        #expect(try self.store.search(StoreQuery(text: "hello", limit: 1)).count == 1)
    }

    @Test func snippets() {
        let long = String(repeating: "before ", count: 30) + "needle" + String(repeating: " after", count: 30)
        let snippet = ChatStore.snippet(long, words: ["NEEDLE"])
        #expect(snippet.contains("needle"))
        #expect(snippet.count <= 82)
        #expect(ChatStore.snippet("short\nlines", words: ["x"]) == "short lines")
    }
}
