import ApusChatProtocol
import ApusChatTerminal
import Testing

@testable import ApusChatClient

@MainActor @Suite("Terminal")
struct ChatTerminalTests {
    @Test func aConversationOnTheFullScreen() async throws {
        let server = FakeServer()
        server.user(Value.alice)
        server.user(Value.bob)
        let pair = server.conversation(.pair, [Value.alice, Value.bob])
        server.write("你好 from bob", by: Value.bob, in: pair)
        let device = try TestDevice(server)
        let client = try await device.signIn()
        try await client.isOnline()
        try await eventually { try await client.conversation(pair).texts.count == 1 }
        var written = ""
        let terminal = ChatTerminal(client: client, width: 80, height: 24, clock: .system, output: { written += $0 })
        await terminal.start()
        func text() -> String {
            var screen = terminal.screen
            return screen.frame().text.joined(separator: "\n")
        }
        try await eventually { text().contains("bob") }
        for _ in 0..<3 where !text().contains("你好") {
            await terminal.receivedInput(Array("j".utf8))
            await terminal.receivedInput(Array("\r".utf8))
            if !text().contains("你好") { await terminal.receivedInput(Array("\t".utf8)) }
        }
        #expect(text().contains("你好 from bob"))
        await terminal.receivedInput(Array("an answer\r".utf8))
        try await eventually { text().contains("an answer") && text().contains("✓") }
        #expect(server.texts(in: pair, as: Value.bob) == ["你好 from bob", "an answer"])
        await terminal.receivedInput(Array("/edit another answer\r".utf8))
        try await eventually { text().contains("another answer (edited)") }
        await terminal.receivedInput(Array("/nothing\r".utf8))
        #expect(text().contains("unknown command /nothing"))
        await terminal.receivedInput(Array("/help\r".utf8))
        #expect(text().contains("A selected message"))
        await terminal.receivedInput([0x1B])
        server.write("while typing", by: Value.bob, in: pair)
        try await eventually { text().contains("while typing") }
        await terminal.receivedInput([0x03])
        #expect(terminal.hasEnded)
        await terminal.stop()
        #expect(written.hasPrefix("\u{1B}[?1049h") && written.hasSuffix("\u{1B}[?1049l"))
        await client.close()
        device.remove()
    }

    @Test func commandsThatCannotBeUndoneAskFirst() async throws {
        let fixture = try await CommandFixture()
        let terminal = ChatTerminal(client: fixture.client, width: 120, height: 24, clock: .system, output: { _ in })
        await terminal.start()
        try await terminal.show(fixture.client.conversation(fixture.group))
        func notice() -> String { terminal.notice?.text ?? "" }
        for (line, verb) in [("/leave", "member.leave"), ("/delete", "conversation.delete"), ("/delete all", "conversation.delete")] {
            let count = fixture.server.count(of: verb)
            await terminal.submit(line)
            #expect(notice().hasSuffix("Enter \(line) again to confirm."), "\(line): \(notice())")
            // Another command in between cancels the confirmation.
            await terminal.submit("/unread")
            await terminal.submit(line)
            #expect(notice().hasSuffix("Enter \(line) again to confirm."), "\(line): \(notice())")
            #expect(fixture.server.count(of: verb) == count, "\(line)")
            fixture.server.script(verb, ChatError(.forbidden, message: "Not you.").json)
            await terminal.submit(line)
            #expect(fixture.server.count(of: verb) == count + 1 && notice() == "Not you.", "\(line): \(notice())")
        }
        await terminal.submit("/logout")
        #expect(!terminal.hasEnded && notice().hasPrefix("This ends the session"))
        await terminal.submit("/logout")
        #expect(terminal.hasEnded && terminal.hasLoggedOut)
        await terminal.stop()
        await fixture.end()
    }

    @Test func linesAreJSON() {
        let message = ChatMessage(event: Value.text(3, "a \"line\""), delivery: nil)
        #expect(ChatLines.line(message).contains(#""text":"a \"line\"""#))
        #expect(ChatLines.line(Value.head(3)).hasPrefix(#"{"conv":"#))
    }
}
