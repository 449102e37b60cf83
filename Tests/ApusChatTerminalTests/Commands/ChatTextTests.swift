import ApusChatClient
import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatTerminal

@Suite struct ChatTextTests {
    private func text(_ kind: String, _ fields: [String: String], state: EventState = .normal, ref: Int64? = nil) -> String {
        ChatText.content(
            of: ChatMessage(
                event: ChatEvent(
                    conversation: ConversationID(number: 7), seq: 1, n: 1, sender: UserName("bob"), id: nil, at: 0,
                    kind: EventKind(rawValue: kind), ref: ref, state: state,
                    body: ["text": .string(fields["text"] ?? ""), "x": .string("")])))
    }

    @Test func controlCharactersOfOthersAreHarmless() {
        #expect(self.text("text", ["text": "a\u{1b}[2Jb\u{202e}c\r\nd"]) == "a\u{fffd}[2Jb\u{fffd}c\u{fffd}\n    d")
    }

    @Test func statesAndReferencesAreReported() {
        #expect(self.text("text", ["text": "a"], state: .edited, ref: 17) == "↩ #17 a (edited)")
        #expect(self.text("text", [:], state: .recalled) == "(recalled)")
        #expect(self.text("future.kind", [:]) == "(update to see this)")
    }

    @Test func aSummaryIsOneShortLine() {
        #expect(ChatText.shortened("a\n    b") == "a b")
        #expect(ChatText.shortened(String(repeating: "长", count: 80)).count == 60)
    }
}
