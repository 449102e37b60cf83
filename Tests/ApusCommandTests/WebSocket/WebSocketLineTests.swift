import Testing

@testable import apus

@Suite struct WebSocketLineTests {
    @Test(arguments: [
        ("hello", WebSocketLine.text("hello")),
        (" two words ", .text(" two words ")),
        ("", .nothing),
        ("//slash", .text("/slash")),
        ("/ping", .ping),
        ("/file a b.png", .file(path: "a b.png", isText: false)),
        ("/text-file notes", .file(path: "notes", isText: true)),
        ("/hex 00 ff10", .binary([0x00, 0xff, 0x10])),
        ("/hex", .binary([])),
        ("/close", .close(code: 1000, reason: "")),
        ("/close 4000 that is all", .close(code: 4000, reason: "that is all")),
        ("/wait 1.5", .wait(.milliseconds(1500))),
        ("/state", .state),
        ("/help", .help),
        ("/quit", .quit),
    ])
    func linesAtThePrompt(line: String, meaning: WebSocketLine) {
        #expect(WebSocketLine(line, hasCommands: true) == meaning)
    }

    @Test(arguments: [
        "/nonsense", "/file", "/hex 0", "/hex zz", "/hex +1", "/close 999", "/close 1005", "/close 5000", "/close soon", "/wait",
        "/wait -1", "/wait nan", "/wait 1e9",
    ])
    func mistakesAreReported(line: String) {
        guard case .mistake = WebSocketLine(line, hasCommands: true) else {
            Issue.record("\(line) was understood")
            return
        }
    }

    @Test func aReasonHas123BytesAtMost() {
        #expect(WebSocketLine("/close 4000 " + String(repeating: "x", count: 123), hasCommands: true) != .nothing)
        guard case .mistake = WebSocketLine("/close 4000 " + String(repeating: "é", count: 62), hasCommands: true) else {
            Issue.record("124 bytes were taken")
            return
        }
    }

    @Test(arguments: ["", "/ping", "//x", "/close 1000", "hello"])
    func inAPipeEveryLineIsAText(line: String) {
        #expect(WebSocketLine(line, hasCommands: false) == .text(line))
    }
}
