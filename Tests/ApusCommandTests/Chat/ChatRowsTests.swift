import ApusChatClient
import ApusChatProtocol
import ApusJSON
import Testing

@testable import apus

@Suite struct ChatRowsTests {
    private func row(_ seq: Int64, n: Int64?, _ text: String = "hi", state: EventState = .normal) -> ChatMessage {
        ChatMessage(
            event: ChatEvent(
                conversation: ConversationID(number: 7), seq: seq, n: n, sender: UserName("bob"), id: nil, at: 0,
                kind: EventKind(rawValue: n == nil ? "member.join" : "text"), state: state, body: ["text": .string(text)]))
    }

    @Test func aRowIsNewOnceThenKnownOrChanged() {
        var rows = ChatRows()
        #expect(rows.news(of: self.row(3, n: 2)) == .new)
        rows.shown(self.row(3, n: 2))
        #expect(rows.news(of: self.row(3, n: 2)) == .known)
        #expect(rows.news(of: self.row(3, n: 2, "other", state: .edited)) == .changed)
        #expect(rows.news(of: self.row(2, n: 1)) == .earlier)
        #expect(rows.newest { $0.event.n != nil }?.event.seq == 3)
    }

    @Test func messagesCountAsReadUpToTheFirstHole() {
        var rows = ChatRows(readThrough: 4)
        rows.shown(self.row(10, n: 4))
        #expect(rows.lastRead == nil)
        rows.shown(self.row(11, n: 5))
        rows.shown(self.row(12, n: nil))
        #expect(rows.readThrough == 5)
        rows.isComplete = false
        rows.shown(self.row(20, n: 9))
        #expect(rows.lastRead?.event.seq == 11)
    }

    @Test func unsentRowsAreNotPlacesOfTheLog() {
        var rows = ChatRows()
        rows.shown(self.row(0, n: nil))
        #expect(rows.first == nil)
    }

    @Test func theNumberOfRowsIsBounded() {
        var rows = ChatRows()
        for seq in 1...1_200 { rows.shown(self.row(Int64(seq), n: Int64(seq))) }
        #expect(rows[200] == nil)
        #expect(rows[201] != nil)
        #expect(rows.readThrough == 1_200)
    }
}
