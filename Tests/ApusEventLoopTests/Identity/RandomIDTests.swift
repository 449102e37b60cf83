import Testing

@testable import ApusEventLoop

@Suite struct RandomIDTests {
    @Test func anIDHasTwentyCharactersAndIsParsedFromThem() {
        for _ in 0..<100 {
            let id = RandomID.random()
            let text = id.description
            #expect(text.utf8.count == 20)
            #expect(
                text.utf8.allSatisfy {
                    ("A"..."Z").contains(Character(.init($0))) || "abcdefghijklmnopqrstuvwxyz0123456789-_".utf8.contains($0)
                })
            #expect(RandomID(text) == id)
            #expect(RandomID.random() != id)
        }
    }

    @Test(arguments: [
        "", "A", String(repeating: "A", count: 19), String(repeating: "A", count: 21), "AAAAAAAAAAAAAAAAAAA+", "äAAAAAAAAAAAAAAAAAA",
    ])
    func otherTextsAreNotIDs(text: String) {
        #expect(RandomID(text) == nil)
    }

    @Test func everyCharacterCounts() {
        let text = String(repeating: "A", count: 20)
        for place in 0..<20 {
            var other = Array(text.utf8)
            other[place] = UInt8(ascii: "_")
            #expect(RandomID(String(decoding: other, as: UTF8.self))?.description == String(decoding: other, as: UTF8.self))
        }
    }
}
