import ApusChatProtocol
import ApusChatService
import ApusJSON
import Testing

/// The pages of threads, and the pushes of their changes.
@Suite(.timeLimit(.minutes(5)))
struct ThreadTests {
    @Test func aThreadIsPagedFromItsEnd() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            let root = try await alice.send("root", to: pair, id: "root")
            var replies: [Int64] = []
            for number in 1...6 {
                let reply = try await alice.ask(
                    ChatVerbs.send,
                    SendRequest(
                        id: .make("r\(number)"), conversation: pair, kind: .text, body: ["text": .integer(Int64(number)).text],
                        thread: root.seq))
                replies.append(reply.seq)
                _ = try await alice.send("beside", to: pair, id: "b\(number)")
            }
            func page(_ range: HistoryRequest.Range, _ limit: Int) async throws -> [Int64] {
                try await bob.ask(
                    ChatVerbs.history, HistoryRequest(conversation: pair, range: range, limit: limit, thread: root.seq)
                ).events.map(\.seq)
            }
            #expect(try await page(.newest, 3) == Array(replies.suffix(3)))
            #expect(try await page(.newest, 6) == replies)
            #expect(try await page(.newest, 7) == [root.seq] + replies)
            #expect(try await page(.before(replies[3]), 2) == Array(replies[1...2]))
            #expect(try await page(.before(replies[1]), 3) == [root.seq, replies[0]])
            #expect(try await page(.before(root.seq), 3) == [])
            #expect(try await page(.from(1), 3) == [root.seq, replies[0], replies[1]])
            #expect(try await page(.from(replies[4]), 9) == Array(replies.suffix(2)))
            #expect(try await page(.around(replies[3]), 4) == Array(replies[1...4]))
            await #expect {
                try await bob.ask(ChatVerbs.history, HistoryRequest(conversation: pair, range: .newest, thread: 999))
            } throws: { ($0 as? ChatError)?.code == .notFound }
        }
    }

    @Test func aReplyNamesItsThreadSoThatClientsCount() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            let root = try await alice.send("root", to: pair, id: "root")
            let reply = try await bob.ask(
                ChatVerbs.send,
                SendRequest(id: .make("r"), conversation: pair, kind: .text, body: ["text": "reply"], thread: root.seq))
            let push = try await alice.next(ChatPushes.event) { $0.events.contains { $0.seq == reply.seq } }
            #expect(push.events.last?.thread == root.seq)
            let history = try await alice.history(pair)
            #expect(history.events.first { $0.seq == root.seq }?.replies == ThreadSummary(count: 1, seq: reply.seq))
        }
    }
}

extension JSONValue {
    fileprivate var text: JSONValue { .string(self.intValue.map(String.init) ?? "") }
}
