import ApusChatProtocol
import Testing

@Suite("Chat identifiers")
struct IdentifierTests {
    @Test(
        arguments: [
            (0, "0000000000000"), (1, "0000000000001"), (31, "000000000000z"), (32, "0000000000010"), (Int64.max, "7zzzzzzzzzzzz"),
            (1_234_567_890_123_456_789, "128ggyhyyk08n"),
        ] as [(Int64, String)])
    func numberAndTextAreOneIdentifier(number: Int64, text: String) {
        #expect(ConversationID(number: number).rawValue == text)
        #expect(ConversationID(text)?.number == number)
        #expect(DeviceID(text) == DeviceID(number: number))
    }

    @Test(arguments: [
        "", "0", "00000000000000", "8000000000000", "000000000000i", "000000000000l", "000000000000o", "000000000000u",
        "000000000000Z", "000000000000é", "00000000000 0", "-000000000001",
    ])
    func otherTextsAreNotIdentifiers(text: String) {
        #expect(ConversationID(text) == nil)
        #expect(DeviceID(text) == nil)
    }

    @Test func textsSortAsNumbers() {
        let numbers: [Int64] = [0, 1, 31, 32, 1 << 40, .max - 1, .max]
        let texts = numbers.map { ConversationID(number: $0).rawValue }
        #expect(texts == texts.sorted())
        #expect(ConversationID(number: -1).number == .max)
    }

    @Test func everyNumberRoundTrips() {
        var number: UInt64 = 1
        for _ in 0..<1_000 {
            number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let id = ConversationID(number: Int64(bitPattern: number))
            #expect(ConversationID(id.rawValue) == id)
        }
    }

    @Test(arguments: [
        ("", false), ("x", true), ("018f4a1e-7b2c-7c3d-8e4f-5a6b7c8d9e0f", true), (String(repeating: "x", count: 64), true),
        (String(repeating: "x", count: 65), false), ("a b", false), ("a\u{0}", false), ("鸟", false), ("~!", true), ("a\u{7F}", false),
    ])
    func clientIDIsVisibleASCII(text: String, isValid: Bool) {
        #expect((ClientID(text) != nil) == isValid)
    }

    @Test(arguments: [
        (String(repeating: "0f", count: 32), true), (String(repeating: "0F", count: 32), false), (String(repeating: "0", count: 63), false),
        (String(repeating: "g", count: 64), false), ("", false),
    ])
    func blobIDIsLowercaseHex(text: String, isValid: Bool) {
        #expect((BlobID(text) != nil) == isValid)
    }

    @Test(arguments: [
        ("", false), ("a", true), (String(repeating: "~", count: 256), true), (String(repeating: "~", count: 257), false), (" ", false),
    ])
    func pageTokenIsVisibleASCII(text: String, isValid: Bool) {
        #expect((PageToken(text) != nil) == isValid)
    }
}
