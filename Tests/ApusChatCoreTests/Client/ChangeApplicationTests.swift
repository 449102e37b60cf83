import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatCore

@Suite("Changes of stored messages")
struct ChangeApplicationTests {
    private let message = Client.message(5)

    @Test func anEditReplacesTheBody() {
        let edited = self.message.applying(Client.change(.edit, seq: 9, of: 5, ["body": ["text": "new"]]))
        #expect(edited.body == ["text": "new"] && edited.state == .edited && edited.editedAt == 1_009)
        #expect(edited.seq == 5 && edited.n == 5 && edited.at == self.message.at)
    }

    @Test func theOrderOfEditsFollowsTheLogAndNotTheirTimes() {
        let first = self.message.applying(Client.change(.edit, seq: 9, of: 5, ["body": ["text": "first"]]))
        var second = Client.change(.edit, seq: 10, of: 5, ["body": ["text": "second"]])
        second.at = 500  // the clock of the server was corrected
        #expect(first.applying(second).body == ["text": "second"])
    }

    @Test func aRecallRemovesEverything() {
        var reacted = self.message.applying(Client.change(.react, seq: 6, of: 5, ["key": "👍"]))
        reacted.expiresAt = 5
        let recalled = reacted.applying(Client.change(.recall, seq: 9, of: 5))
        #expect(recalled.state == .recalled && recalled.body.isEmpty && recalled.reactions.isEmpty && recalled.expiresAt == nil)
        // Later changes of a blank message have no effect.
        #expect(recalled.applying(Client.change(.edit, seq: 10, of: 5, ["body": ["text": "back"]])) == recalled)
    }

    @Test func aRecallAlsoRemovesTheTextOfEdits() {
        let edit = Client.change(.edit, seq: 7, of: 5, ["body": ["text": "new"]])
        let recall = Client.change(.recall, seq: 9, of: 5)
        #expect(edit.applying(recall).state == .recalled && edit.applying(recall).body.isEmpty)
        let other = Client.change(.edit, seq: 7, of: 4, ["body": ["text": "new"]])
        #expect(other.applying(recall) == other)
        let reaction = Client.change(.react, seq: 7, of: 5, ["key": "👍"])
        #expect(reaction.applying(recall) == reaction)
    }

    @Test func aPreviewBelongsToItsTextUntilAnEdit() {
        let json: JSONObject = ["preview": ["url": "https://a.example/", "title": "A"]]
        let preview = Client.change(.preview, seq: 7, of: 5, json)
        let shown = self.message.applying(preview)
        #expect(shown.body["preview"] == json["preview"] && shown.body["text"] == self.message.body["text"])
        #expect(shown.state == .normal && shown.editedAt == nil)
        #expect(shown.applying(Client.change(.preview, seq: 8, of: 5)) == self.message)
        #expect(shown.applying(Client.change(.edit, seq: 8, of: 5, ["body": ["text": "new"]])).body == ["text": "new"])
        // A recall also removes the preview.
        let recall = Client.change(.recall, seq: 9, of: 5)
        #expect(preview.applying(recall).body.isEmpty && shown.applying(recall).body.isEmpty)
        #expect(shown.applying(recall).applying(preview).body.isEmpty)
        var poll = self.message
        poll.kind = .poll
        #expect(poll.applying(preview) == poll)
        // A change whose body is not a preview has no effect.
        #expect(self.message.applying(Client.change(.preview, seq: 7, of: 5, ["preview": ["url": 5]])) == self.message)
    }

    @Test func reactionsAreCounted() {
        let on = Client.change(.react, seq: 6, of: 5, ["key": "👍"])
        let off = Client.change(.react, seq: 7, of: 5, ["key": "👍", "remove": true])
        #expect(self.message.applying(on).applying(on).reactions == [ReactionCount(key: "👍", count: 2)])
        #expect(self.message.applying(on).applying(off).reactions.isEmpty)
        #expect(self.message.applying(off) == self.message)
    }

    @Test func aVoteBringsTheTotals() {
        var poll = self.message
        poll.votes = [1, 0]
        #expect(poll.applying(Client.change(.vote, seq: 9, of: 5, ["options": [1]], votes: [1, 1])).votes == [1, 1])
        #expect(poll.applying(Client.change(.vote, seq: 9, of: 5, ["options": [1]])) == poll)
    }

    @Test func callsAndPollsChangeTheirBodies() {
        #expect(self.message.applying(Client.change(.pollClose, seq: 9, of: 5)).body["closed"] == true)
        let ended = self.message.applying(Client.change(.callUpdate, seq: 9, of: 5, ["state": "ended", "duration": 5_000]))
        #expect(ended.body["state"] == "ended" && ended.body["duration"] == 5_000)
    }

    @Test func otherEventsHaveNoEffect() {
        #expect(self.message.applying(Client.change(.edit, seq: 9, of: 4, ["body": ["text": "new"]])) == self.message)
        #expect(self.message.applying(Client.change(.edit, seq: 9, of: 5)) == self.message)
        #expect(self.message.applying(Client.change(.pin, seq: 9, of: 5)) == self.message)
        #expect(self.message.applying(Client.change(EventKind(rawValue: "later.kind"), seq: 9, of: 5)) == self.message)
        var reply = Client.message(9)
        reply.ref = 5
        #expect(self.message.applying(reply) == self.message)
    }
}
