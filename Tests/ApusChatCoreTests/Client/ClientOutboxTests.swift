import ApusChatProtocol
import Testing

@testable import ApusChatCore

@Suite("Client outbox")
struct ClientOutboxTests {
    private func ids(_ texts: String...) -> [ClientID] { texts.map { Client.id($0) } }

    @Test func oneMessageOfAConversationIsInFlight() {
        var outbox = ClientOutbox()
        #expect(outbox.enqueued(Client.id("a"), in: Client.room) == [])  // offline
        #expect(outbox.connected() == self.ids("a"))
        #expect(outbox.enqueued(Client.id("b"), in: Client.room) == [])
        #expect(outbox.enqueued(Client.id("c"), in: Client.other) == self.ids("c"))
        #expect(outbox.settled(Client.id("a")) == self.ids("b"))
        #expect(outbox.settled(Client.id("b")) == [] && outbox.settled(Client.id("c")) == [])
        #expect(outbox.count == 0)
    }

    @Test func aMessageInFlightIsSentAgainOnTheNextConnectionFirst() {
        var outbox = ClientOutbox()
        _ = outbox.connected()
        _ = outbox.enqueued(Client.id("a"), in: Client.room)
        _ = outbox.enqueued(Client.id("b"), in: Client.room)
        outbox.disconnected()
        #expect(outbox.connected() == self.ids("a"))
        #expect(outbox.settled(Client.id("a")) == self.ids("b"))
    }

    @Test func aRepeatedIDIsOneMessage() {
        var outbox = ClientOutbox()
        _ = outbox.connected()
        #expect(outbox.enqueued(Client.id("a"), in: Client.room) == self.ids("a"))
        #expect(outbox.enqueued(Client.id("a"), in: Client.other) == [])
        #expect(outbox.count == 1)
    }

    @Test func textOvertakesAnUpload() {
        var outbox = ClientOutbox()
        _ = outbox.connected()
        #expect(outbox.enqueued(Client.id("photo"), in: Client.room, isUploading: true) == [])
        #expect(outbox.enqueued(Client.id("text"), in: Client.room) == self.ids("text"))
        #expect(outbox.uploaded(Client.id("photo")) == [])  // the text is in flight
        #expect(outbox.settled(Client.id("text")) == self.ids("photo"))
        #expect(outbox.uploaded(Client.id("photo")) == [])  // a repetition
    }

    @Test func filesKeepTheirOrder() {
        var outbox = ClientOutbox()
        _ = outbox.connected()
        for name in ["film", "photo", "plan"] { _ = outbox.enqueued(Client.id(name), in: Client.room, isUploading: true) }
        #expect(outbox.uploaded(Client.id("photo")) == [], "the film is first")
        #expect(outbox.enqueued(Client.id("text"), in: Client.room) == self.ids("text"))
        #expect(outbox.settled(Client.id("text")) == [])
        #expect(outbox.uploaded(Client.id("film")) == self.ids("film"))
        #expect(outbox.settled(Client.id("film")) == self.ids("photo"))
        #expect(outbox.settled(Client.id("photo")) == [])
        #expect(outbox.uploaded(Client.id("plan")) == self.ids("plan"))
    }

    @Test func aDiscardedFileDoesNotDelayTheNextOne() {
        var outbox = ClientOutbox()
        _ = outbox.connected()
        for name in ["film", "photo"] { _ = outbox.enqueued(Client.id(name), in: Client.room, isUploading: true) }
        #expect(outbox.uploaded(Client.id("photo")) == [])
        #expect(outbox.settled(Client.id("film")) == self.ids("photo"))
        #expect(outbox.settled(Client.id("photo")) == [] && outbox.count == 0)
    }

    @Test func aTemporaryFailureRestsItsConversationOnly() {
        var outbox = ClientOutbox()
        _ = outbox.connected()
        _ = outbox.enqueued(Client.id("a"), in: Client.room)
        let failed = outbox.failedForNow(Client.id("a"))
        #expect(failed.action == .rest(Client.room, failures: 1) && failed.send == [])
        #expect(outbox.failedForNow(Client.id("a")).action == .doNothing)
        #expect(outbox.enqueued(Client.id("b"), in: Client.room) == [])
        #expect(outbox.enqueued(Client.id("c"), in: Client.other) == self.ids("c"))
        #expect(outbox.restEnded(in: Client.room) == self.ids("a"))
        #expect(outbox.failedForNow(Client.id("a")).action == .rest(Client.room, failures: 2))
        #expect(outbox.restEnded(in: Client.other) == [])
        outbox.disconnected()
        #expect(outbox.connected() == self.ids("a", "c"))  // a new connection resets the delay
    }

    @Test func aDiscardedMessageLeavesTheNextOneReady() {
        var outbox = ClientOutbox()
        _ = outbox.connected()
        _ = outbox.enqueued(Client.id("a"), in: Client.room)
        _ = outbox.enqueued(Client.id("b"), in: Client.room)
        _ = outbox.enqueued(Client.id("p"), in: Client.room, isUploading: true)
        #expect(outbox.settled(Client.id("b")) == [])
        #expect(outbox.settled(Client.id("p")) == [])
        #expect(outbox.settled(Client.id("a")) == [])
        #expect(outbox.count == 0)
    }

    @Test func conversationsTakeTurns() {
        var outbox = ClientOutbox(maximumInFlight: 1)
        for (id, conversation) in [("a1", Client.room), ("a2", Client.room), ("b1", Client.other), ("b2", Client.other)] {
            _ = outbox.enqueued(Client.id(id), in: conversation)
        }
        var sent = outbox.connected()
        for _ in 0..<3 { sent += outbox.settled(sent.last ?? Client.id("x")) }
        #expect(sent == self.ids("a1", "b1", "a2", "b2"))
    }
}
