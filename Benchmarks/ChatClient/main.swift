import ApusChatClient
import ApusChatCore
import ApusChatProtocol
import ApusJSON
import Foundation

// The store of the chat SDK with 100,000 messages in 200 conversations.

let path = FileManager.default.temporaryDirectory.appendingPathComponent("apus-chat-\(UUID().uuidString).sqlite").path
defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
let me = UserName(prepared: "alice")
let words = ["hello", "world", "今天", "天气", "很好", "message", "number", "chat", "北京", "server"]
let conversations: Int64 = 200
let messages: Int64 = 500

func message(_ conversation: Int64, _ seq: Int64) -> ChatEvent {
    let text = (0..<12).map { words[Int((seq &* 7 &+ Int64($0) &* 13 &+ conversation) % 10)] }.joined(separator: " ")
    return ChatEvent(
        conversation: ConversationID(number: conversation), seq: seq, n: seq, sender: seq % 2 == 0 ? me : UserName(prepared: "bob"),
        id: ClientID("m-\(conversation)-\(seq)"), at: 1_700_000_000_000 + seq, kind: .text, body: ["text": .string(text)])
}

func milliseconds(_ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    return try clock.measure(body) / .milliseconds(1)
}

/// Runs a body several times and prints the median and the maximum.
func report(_ name: String, count: Int, _ body: (Int) throws -> Void) rethrows {
    var times: [Double] = []
    for index in 0..<count { times.append(try milliseconds { try body(index) }) }
    times.sort()
    print("\(name): p50 " + String(format: "%.2f ms, max %.2f ms", times[count / 2], times[count - 1]))
}

do {
    let store = try ChatStore(path: path)
    let time = try milliseconds {
        for conversation in 1...conversations {
            let head = ChatHead(
                conversation: ConversationID(number: conversation), kind: .pair, members: 2, seq: messages, n: messages, at: 1)
            var changes: [StoreChange] = [.head(head)]
            for start in stride(from: Int64(1), through: messages, by: 100) {
                changes.append(.events((start..<start + 100).map { message(conversation, $0) }))
            }
            _ = try store.apply(changes, of: me)
        }
    }
    print(String(format: "store 100,000 messages: %.0f ms", time))
    store.close()

    try report("open and restore", count: 20) { _ in
        let store = try ChatStore(path: path)
        let restored = try store.restored()
        guard restored.heads.count == Int(conversations) else { fatalError("heads are missing") }
        store.close()
    }
    let again = try ChatStore(path: path)
    try report("newest page of 50", count: 200) { index in
        let conversation = ConversationID(number: Int64(index) + 1)
        guard try again.page(of: conversation, before: nil, limit: 50, me: me).messages.count == 50 else { fatalError("a page is short") }
    }
    try report("page of 50 in the middle", count: 200) { index in
        _ = try again.page(of: ConversationID(number: Int64(index) + 1), before: 250, limit: 50, me: me)
    }
    for query in ["weather", "hello world", "天气很", "天气", "好"] {
        try report("search \"\(query)\"", count: 5) { _ in _ = try again.search(StoreQuery(text: query)) }
    }
    try report("store an unsent message durably", count: 100) { index in
        guard let id = ClientID("new-\(index)") else { fatalError("not an id") }
        let request = SendRequest(
            id: id, conversation: ConversationID(number: 1), kind: .text,
            body: ["text": "hello"])
        try again.enqueue(OutboxEntry(request: request, at: 1))
    }
    again.close()
} catch {
    print("failed: \(error)")
    exit(1)
}
