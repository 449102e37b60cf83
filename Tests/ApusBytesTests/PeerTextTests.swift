import ApusBytes
import Testing

@Suite struct PeerTextTests {
    @Test(arguments: ["a\nb", "a\u{1B}b", "a\u{7F}b", "a\u{9B}b", "a\u{2028}b", "a\u{202E}b", "a\u{0}b"])
    func controlSequencesAreRemoved(text: String) {
        #expect(PeerText.clean(text) == "a b")
    }

    @Test func itIsShort() {
        #expect(PeerText.clean(String(repeating: "图", count: 10_000)).count == 200)
    }
}
