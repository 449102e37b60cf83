import ApusChatCore
import Testing

@Suite struct SendWindowTests {
    @Test func aConnectionThatReadsIsNeverStalled() {
        var window = SendWindow()
        for _ in 1...1_000 {
            #expect(window.sent(SendWindow.askBytes - 1) == .doNothing)
            #expect(window.sent(1) == .ask)
            #expect(window.sent(100) == .doNothing)
            window.drained()
            #expect(window.sent(SendWindow.askBytes - 100) == .ask)
            window.drained()
        }
    }

    @Test func aConnectionThatDoesNotReadIsStalledOnce() {
        var window = SendWindow()
        var actions: [SendWindow.Action] = []
        for _ in 1...20 { actions.append(window.sent(SendWindow.askBytes / 2)) }
        #expect(actions.filter { $0 == .ask }.count == 1)
        #expect(actions.filter { $0 == .stall }.count == 1)
        #expect(actions.firstIndex(of: .stall) == 7)
        window.drained()
        // The answer does not cover the bytes that were sent after the request.
        #expect(window.sent(1) == .ask)
    }

    @Test func aConnectionThatTookAPartOnlyIsStalledAgain() {
        var window = SendWindow()
        #expect(window.sent(SendWindow.askBytes) == .ask)
        #expect(window.sent(2 * SendWindow.stallBytes) == .stall)
        window.drained()
        #expect(window.sent(1) == .ask)
        #expect(window.sent(1) == .stall)
        #expect(window.sent(1) == .doNothing)
    }
}
