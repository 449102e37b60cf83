import ApusChatProtocol
import ApusJSON
import GRDB
import Testing

@testable import ApusChatServer

@Suite("The log of a conversation")
struct ChatLogTests {
    let chat: TestChat
    let conv: ConversationID

    init() throws {
        self.chat = try TestChat()
        self.conv = try self.chat.pair()
    }

    @Test func retryGetsTheFirstAnswer() throws {
        let first = try self.chat.send("hello", id: "m1", in: self.conv, from: self.chat.alice, at: 100)
        try self.chat.send("more", id: "m2", in: self.conv, from: self.chat.bobby, at: 110)
        let again = try self.chat.send("hello", id: "m1", in: self.conv, from: self.chat.alice, at: 999)
        #expect(again.reply == first.reply)
        #expect(again.event == nil)  // pushed once
        #expect(try self.chat.head(self.conv, for: self.chat.alice).n == 2)
    }

    @Test func sameIDWithAnotherPayloadIsAConflict() throws {
        try self.chat.send("hello", id: "m1", in: self.conv, from: self.chat.alice)
        #expect(self.chat.code { try self.chat.send("other", id: "m1", in: self.conv, from: self.chat.alice) } == .conflict)
        #expect(self.chat.code { try self.chat.send("hello", id: "m1", in: self.conv, from: self.chat.alice, ref: 1) } == .conflict)
        #expect(try self.chat.head(self.conv, for: self.chat.alice).n == 1)
    }

    @Test func sameIDOfAnotherSenderIsAnotherMessage() throws {
        #expect(try self.chat.send("a", id: "m1", in: self.conv, from: self.chat.alice).reply.seq == 1)
        #expect(try self.chat.send("a", id: "m1", in: self.conv, from: self.chat.bobby).reply.seq == 2)
    }

    @Test func seqHasNoHoleEvenAfterARefusedSend() throws {
        try self.chat.send("1", id: "m1", in: self.conv, from: self.chat.alice)
        #expect(self.chat.code { try self.chat.send("x", id: "m2", in: self.conv, from: self.chat.carol) } == .forbidden)
        #expect(self.chat.code { try self.chat.send("", id: "m3", in: self.conv, from: self.chat.alice) } == .badRequest)
        #expect(self.chat.code { try self.chat.send("x", id: "m4", in: self.conv, from: self.chat.alice, ref: 7) } == .badRequest)
        try self.chat.send("2", id: "m5", in: self.conv, from: self.chat.bobby)
        let all = try self.chat.events(.forward(conv: self.conv, from: 1, limit: 200), for: self.chat.alice)
        #expect(all.events.map(\.seq) == [1, 2])
        #expect(all.events.map(\.n) == [1, 2])
    }

    @Test func timeNeverRunsBackInAConversation() throws {
        #expect(try self.chat.send("1", id: "m1", in: self.conv, from: self.chat.alice, at: 500).reply.at == 500)
        #expect(try self.chat.send("2", id: "m2", in: self.conv, from: self.chat.alice, at: 400).reply.at == 500)
    }

    @Test func unknownConversationIsNotFound() throws {
        let nowhere = ConversationID(unchecked: "nowhere")
        #expect(self.chat.code { try self.chat.send("x", id: "m1", in: nowhere, from: self.chat.alice) } == .notFound)
    }

    @Test func unreadCountsWhatOthersSaidAfterMyMark() throws {
        for index in 1...3 { try self.chat.send("\(index)", id: "a\(index)", in: self.conv, from: self.chat.alice) }
        #expect(try self.chat.head(self.conv, for: self.chat.alice).unread == 0)  // own messages are read
        #expect(try self.chat.head(self.conv, for: self.chat.bobby).unread == 3)
        #expect(try self.chat.mark(2, in: self.conv, by: self.chat.bobby).reply == MarkReply(conv: self.conv, read: 2, unread: 1))
    }

    @Test func aMarkOnlyMovesForwardAndNotPastTheEnd() throws {
        try self.chat.send("1", id: "a1", in: self.conv, from: self.chat.alice)
        try self.chat.send("2", id: "a2", in: self.conv, from: self.chat.alice)
        let far = try self.chat.mark(99, in: self.conv, by: self.chat.bobby)
        #expect(far.reply.read == 2 && far.hasMoved)
        let back = try self.chat.mark(1, in: self.conv, by: self.chat.bobby)
        #expect(back.reply.read == 2 && !back.hasMoved)
        #expect(self.chat.code { _ = try self.chat.mark(1, in: self.conv, by: self.chat.carol) } == .forbidden)
        #expect(self.chat.code { _ = try self.chat.mark(-1, in: self.conv, by: self.chat.bobby) } == .badRequest)
    }

    @Test func pagesAreAscendingInBothDirections() throws {
        for index in 1...5 { try self.chat.send("\(index)", id: "a\(index)", in: self.conv, from: self.chat.alice) }
        func seqs(_ request: SyncRequest) throws -> [Int64] { try self.chat.events(request, for: self.chat.bobby).events.map(\.seq) }
        #expect(try seqs(.forward(conv: self.conv, from: 2, limit: 2)) == [2, 3])
        #expect(try seqs(.forward(conv: self.conv, from: 6, limit: 2)) == [])
        #expect(try seqs(.forward(conv: self.conv, from: .min, limit: 9)) == [1, 2, 3, 4, 5])
        #expect(try seqs(.backward(conv: self.conv, before: 4, limit: 2)) == [2, 3])
        #expect(try seqs(.backward(conv: self.conv, before: nil, limit: 2)) == [4, 5])
        #expect(
            self.chat.code { _ = try self.chat.events(.forward(conv: self.conv, from: 1, limit: 1), for: self.chat.carol) } == .forbidden)
    }

    @Test func anImageIsMeasuredByTheServerAndOpensItsBlobToMembers() throws {
        let blob = BlobID(unchecked: String(repeating: "a", count: 64))
        let (alice, bobby, carol) = (self.chat.alice, self.chat.bobby, self.chat.carol)
        let reply = BlobReply(blob: blob, size: 68, type: "image/png", width: 2, height: 3)
        try self.chat.db.write { db in try Blobs.insert(reply, by: alice, quota: .max, at: 1, db) }
        func canRead(_ user: UserID) -> Bool { (try? self.chat.db.read { db in try Blobs.readable(blob, by: user, db) }) != nil }
        #expect(canRead(alice) && !canRead(bobby) && !canRead(carol))
        let request = SendRequest(
            conv: self.conv, id: ClientID(unchecked: "i1"), kind: .image,
            body: ["blob": .string(blob.rawValue), "width": 9999, "height": 1, "size": 5, "type": "text/html"])
        let stolen = self.chat.code { _ = try self.chat.db.write { db in try ChatLog.send(request, from: bobby, at: 5, db) } }
        #expect(stolen == .notFound)
        let sent = try self.chat.db.write { db in try ChatLog.send(request, from: alice, at: 5, db) }
        #expect(sent.event?.body["width"] == 2 && sent.event?.body["type"] == "image/png")
        #expect(canRead(bobby) && !canRead(carol))
    }
}
