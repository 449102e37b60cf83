import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatServer

@Suite struct LegacyPushTests {
    private let conversation = ConversationID(number: 7)

    private func event(_ seq: Int64, _ kind: EventKind) -> ChatEvent {
        ChatEvent(
            conversation: self.conversation, seq: seq, n: seq, sender: UserName(prepared: "bobby"), id: nil, at: 9, kind: kind,
            body: ["text": "a"])
    }

    @Test func eventsAreNewsWithTheEventsOfCallsOnly() throws {
        let events = [self.event(3, .text), self.event(4, .call), self.event(5, .callUpdate), self.event(6, .text)]
        guard case .news(let conversation, let first, let last, let calls) = LegacyPush("event", EventPush(events: events).json) else {
            Issue.record("no news")
            return
        }
        #expect(conversation == self.conversation && first == 3 && last == 6)
        #expect(try calls.map { try ChatEvent(json: $0) } == [events[1], events[2]])
    }

    @Test(arguments: ["mark", "typing", "user", "bye", "event", "x"]) func otherPushesAreNotNeeded(name: String) {
        for value in [[:], ["events": []], ["events": [["seq": 1]]], .null] as [JSONValue] {
            if let push = LegacyPush(name, value) { Issue.record("\(push)") }
        }
    }
}
