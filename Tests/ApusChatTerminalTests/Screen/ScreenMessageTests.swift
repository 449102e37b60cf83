import ApusChatClient
import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatTerminal

@Suite("Message on the screen")
struct ScreenMessageTests {
    private func screen(_ message: ChatMessage, quote: ChatMessage? = nil) throws -> ScreenMessage {
        ScreenMessage(message, quote: quote, me: try #require(UserName("alice")), clock: .system) { "\($0)!" }
    }

    private func event(_ kind: String, _ body: JSONObject, seq: Int64 = 7, ref: Int64? = nil) -> ChatEvent {
        ChatEvent(
            conversation: ConversationID(number: 7), seq: seq, n: 1, sender: UserName("bob"), id: nil, at: 0,
            kind: EventKind(rawValue: kind),
            ref: ref, state: .normal, body: body)
    }

    private func text(_ message: ScreenMessage) -> [String] { message.paragraphs.map { $0.map(\.text).joined() } }

    @Test func entitiesAreStyles() {
        let paragraphs = ScreenMessage.styled(
            "👍 bold\n@bob",
            [
                TextEntity(kind: .bold, offset: 2, length: 4), TextEntity(kind: .italic, offset: 4, length: 2),
                TextEntity(kind: .mention, offset: 7, length: 4, user: UserName("bob")),
                // Ranges outside of the text change nothing.
                TextEntity(kind: .strike, offset: 100, length: 4), TextEntity(kind: .strike, offset: .max, length: .max),
                TextEntity(kind: .strike, offset: -1, length: 2),
            ])
        #expect(paragraphs.map { $0.map(\.text) } == [["👍 ", "bo", "ld"], ["@bob"]])
        #expect(paragraphs[0][1].style.isBold && !paragraphs[0][1].style.isItalic)
        #expect(paragraphs[0][2].style.isBold && paragraphs[0][2].style.isItalic)
        #expect(paragraphs[1][0].style.colour == .cyan)
    }

    @Test func aReplyShowsItsQuote() throws {
        let quote = ChatMessage(event: self.event("text", ["text": "the question"], seq: 3))
        let reply = ChatMessage(event: self.event("text", ["text": "the answer"], ref: 3))
        #expect(self.text(try self.screen(reply, quote: quote)) == ["┃ bob!: the question", "the answer"])
        #expect(self.text(try self.screen(reply)) == ["┃ #3", "the answer"])
    }

    @Test func aPollShowsVotes() throws {
        var event = self.event("poll", ["question": "When?", "options": ["Mon", "Tue"]])
        event.votes = [2, 1]
        let lines = self.text(try self.screen(ChatMessage(event: event, ownVotes: [1])))
        #expect(lines.first == "◉ When?")
        #expect(lines[1].contains("1 ○ Mon") && lines[1].hasSuffix("2") && lines[2].contains("2 ● Tue"))
    }

    @Test func marksFollowTheDelivery() throws {
        let event = self.event("text", ["text": "x"])
        for (delivery, mark): (DeliveryState, ScreenMessage.Mark) in [
            (.queued, .waiting), (.sent, .sent), (.delivered, .delivered), (.read, .read),
        ] {
            #expect(try self.screen(ChatMessage(event: event, delivery: delivery)).mark == mark)
        }
    }
}
