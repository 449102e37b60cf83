import Testing

@testable import ApusEngineIOServer

@Suite struct EngineIOIDTests {
    @Test func anIDIsTwentyCharactersAndComesBackFromThem() {
        for _ in 0..<100 {
            let id = EngineIOID.random()
            let text = id.description
            #expect(text.utf8.count == 20)
            #expect(
                text.utf8.allSatisfy {
                    ("A"..."Z").contains(Character(.init($0))) || "abcdefghijklmnopqrstuvwxyz0123456789-_".utf8.contains($0)
                })
            #expect(EngineIOID(text) == id)
            #expect(EngineIOID.random() != id)
        }
    }

    @Test(arguments: [
        "", "A", String(repeating: "A", count: 19), String(repeating: "A", count: 21), "AAAAAAAAAAAAAAAAAAA+", "äAAAAAAAAAAAAAAAAAA",
    ])
    func whatIsNoneOfOursIsNone(text: String) {
        #expect(EngineIOID(text) == nil)
    }

    @Test func everyCharacterCounts() {
        let text = String(repeating: "A", count: 20)
        for place in 0..<20 {
            var other = Array(text.utf8)
            other[place] = UInt8(ascii: "_")
            #expect(EngineIOID(String(decoding: other, as: UTF8.self))?.description == String(decoding: other, as: UTF8.self))
        }
    }
}
