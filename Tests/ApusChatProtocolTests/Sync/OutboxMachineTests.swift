import Testing

@testable import ApusChatProtocol

private let pair = ConversationID(unchecked: "pair")
private let group = ConversationID(unchecked: "group")
private func id(_ text: String) -> ClientID { ClientID(unchecked: text) }
private func ids(_ texts: String...) -> [ClientID] { texts.map { ClientID(unchecked: $0) } }

struct OutboxMachineTests {
    @Test func offlineMessagesWaitAndGoOneByOneInOrder() {
        var outbox = OutboxMachine()
        #expect(outbox.enqueued(id("a"), in: pair) == [])
        #expect(outbox.enqueued(id("b"), in: pair) == [])
        #expect(outbox.connected() == ids("a"))
        #expect(outbox.enqueued(id("c"), in: pair) == [])
        #expect(outbox.settled(id("a")) == ids("b"))
        #expect(outbox.settled(id("b")) == ids("c"))
        #expect(outbox.settled(id("c")) == [])
        #expect(outbox.count == 0)
    }

    @Test func conversationsDoNotWaitForEachOther() {
        var outbox = OutboxMachine()
        _ = outbox.connected()
        #expect(outbox.enqueued(id("a"), in: pair) == ids("a"))
        #expect(outbox.enqueued(id("b"), in: group) == ids("b"))
        #expect(outbox.enqueued(id("c"), in: pair) == [])
    }

    @Test func lostConnectionSendsTheSameMessageAgainFirst() {
        var outbox = OutboxMachine()
        _ = outbox.connected()
        _ = outbox.enqueued(id("a"), in: pair)
        _ = outbox.enqueued(id("b"), in: pair)
        outbox.disconnected()
        #expect(outbox.connected() == ids("a"))
        #expect(outbox.settled(id("a")) == ids("b"))
    }

    @Test func failureRestsLongerEachTimeAndKeepsTheOrder() {
        var outbox = OutboxMachine()
        _ = outbox.connected()
        _ = outbox.enqueued(id("a"), in: pair)
        _ = outbox.enqueued(id("b"), in: pair)
        for failures in 1...7 {
            let failed = outbox.failedForNow(id("a"))
            #expect(failed.action == .rest(pair, failures: failures))
            #expect(failed.send == [])
            #expect(outbox.restEnded(in: pair) == ids("a"))
        }
        #expect(outbox.settled(id("a")) == ids("b"))
        #expect(outbox.failedForNow(id("b")).action == .rest(pair, failures: 1))
    }

    @Test func lateTimersAndAnswersChangeNothing() {
        var outbox = OutboxMachine()
        _ = outbox.connected()
        _ = outbox.enqueued(id("a"), in: pair)
        #expect(outbox.restEnded(in: pair) == [])
        #expect(outbox.restEnded(in: group) == [])
        #expect(outbox.enqueued(id("a"), in: pair) == [])
        outbox.disconnected()
        #expect(outbox.failedForNow(id("a")).action == .doNothing)
        #expect(outbox.settled(id("a")) == [])
        #expect(outbox.settled(id("a")) == [])
        #expect(outbox.settled(id("never")) == [])
        #expect(outbox.connected() == [])
    }

    @Test func newConnectionEndsARest() {
        var outbox = OutboxMachine()
        _ = outbox.connected()
        _ = outbox.enqueued(id("a"), in: pair)
        _ = outbox.failedForNow(id("a"))
        outbox.disconnected()
        #expect(outbox.connected() == ids("a"))
    }

    @Test func messagesInFlightAreBoundedAndNoConversationStarves() {
        var configuration = OutboxConfiguration()
        configuration.maximumInFlight = 2
        var outbox = OutboxMachine(configuration: configuration)
        for name in ["p", "q", "r"] {
            _ = outbox.enqueued(id(name + "1"), in: ConversationID(unchecked: name))
            _ = outbox.enqueued(id(name + "2"), in: ConversationID(unchecked: name))
        }
        #expect(outbox.connected() == ids("p1", "q1"))
        #expect(outbox.settled(id("p1")) == ids("r1"))
        #expect(outbox.settled(id("q1")) == ids("p2"))
        #expect(outbox.settled(id("r1")) == ids("q2"))
        #expect(outbox.settled(id("p2")) == ids("r2"))
    }
}
