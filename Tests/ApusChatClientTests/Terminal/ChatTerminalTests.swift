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
            await terminal.received(Array("j".utf8))
            await terminal.received(Array("\r".utf8))
            if !text().contains("你好") { await terminal.received(Array("\t".utf8)) }
        }
        #expect(text().contains("你好 from bob"))
        await terminal.received(Array("an answer\r".utf8))
        try await eventually { text().contains("an answer") && text().contains("✓") }
        #expect(server.texts(in: pair, as: Value.bob) == ["你好 from bob", "an answer"])
        await terminal.received(Array("/edit another answer\r".utf8))
        try await eventually { text().contains("another answer (edited)") }
        await terminal.received(Array("/nothing\r".utf8))
        #expect(text().contains("unknown command /nothing"))
        await terminal.received(Array("/help\r".utf8))
        #expect(text().contains("A selected message"))
        await terminal.received([0x1B])
        server.write("while typing", by: Value.bob, in: pair)
        try await eventually { text().contains("while typing") }
        await terminal.received([0x03])
        #expect(terminal.hasEnded)
        await terminal.stop()
        #expect(written.hasPrefix("\u{1B}[?1049h") && written.hasSuffix("\u{1B}[?1049l"))
        await client.close()
        device.remove()
    }

    @Test func linesAreJSON() {
        let message = ChatMessage(event: Value.text(3, "a \"line\""), delivery: nil)
        #expect(ChatLines.line(message).contains(#""text":"a \"line\"""#))
        #expect(ChatLines.line(Value.head(3)).hasPrefix(#"{"conv":"#))
    }
}
