import ApusChatClient
import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatTerminal

/// The lines that scripts read.
@Suite("Chat as lines of JSON")
struct ChatLinesTests {
    private func object(_ line: String) throws -> JSONObject {
        #expect(!line.contains("\n"))
        return try #require(try JSONReader.read(line).objectValue)
    }

    @Test func aMessageHasItsFields() throws {
        var message = Sample.message("text", ["text": "two\nlines"], delivery: .sent)
        message.event.n = 5
        let object = try self.object(ChatLines.line(message))
        #expect(
            JSONValue.object(object) == [
                "conv": "0000000000007", "seq": 7, "n": 5, "id": "m7", "sender": "bob", "at": 1_795_519_800_000, "kind": "text",
                "text": "two\nlines", "body": ["text": "two\nlines"], "delivery": "sent",
            ])
    }

    @Test func absentValuesAreAbsent() throws {
        let event = ChatEvent(
            conversation: ConversationID(number: 7), seq: 0, n: nil, sender: nil, id: nil, at: 0, kind: .recall, state: .recalled, body: [:]
        )
        let object = try self.object(ChatLines.line(ChatMessage(event: event)))
        #expect(JSONValue.object(object) == ["conv": "0000000000007", "at": 0, "kind": "recall", "state": "recalled"])
    }

    @Test(arguments: [
        (DeliveryState.queued, "queued"), (.uploading, "uploading"), (.sending, "sending"), (.sent, "sent"), (.delivered, "delivered"),
        (.read, "read"), (.failed(ChatError(.forbidden, message: "no")), "failed"),
    ])
    func deliveriesHaveNames(delivery: DeliveryState, name: String) throws {
        let line = ChatLines.line(Sample.message("text", ["text": "x"], delivery: delivery))
        #expect(try self.object(line)["delivery"]?.stringValue == name)
    }

    @Test func aConversationHasItsFields() throws {
        var head = ChatHead(
            conversation: ConversationID(number: 7), kind: .pair, peer: ChatUser(name: UserName(prepared: "bob")), seq: 9, n: 4, unread: 2,
            mentions: 1, at: 5)
        head.last = EventPreview(seq: 9, n: 4, sender: nil, at: 5, kind: .text, text: "hi")
        #expect(
            JSONValue.object(try self.object(ChatLines.line(head))) == [
                "conv": "0000000000007", "kind": "pair", "peer": "bob", "unread": 2, "mentions": 1, "at": 5, "last": "hi",
            ])
        let group = ChatHead(conversation: ConversationID(number: 8), kind: .group, title: "Team", seq: 0, n: 0, at: 0)
        #expect(
            JSONValue.object(try self.object(ChatLines.line(group))) == [
                "conv": "0000000000008", "kind": "group", "title": "Team", "unread": 0, "mentions": 0, "at": 0,
            ])
    }
}
