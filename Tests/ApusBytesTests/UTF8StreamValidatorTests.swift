import ApusBytes
import NIOCore
import Testing

@Suite struct UTF8StreamValidatorTests {
    /// Agrees with the standard library on sequences of two, three and four bytes.
    @Test func agreesWithTheStandardLibrary() {
        let edges: [UInt8] = [
            0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF,
        ]
        for first in UInt8.min...UInt8.max {
            for second in edges {
                for tail: [UInt8] in [[], [0x80], [0xBF, 0x80], [0x41]] {
                    let bytes = [first, second] + tail
                    var validator = UTF8StreamValidator()
                    let valid = validator.receive(ByteBuffer(bytes: bytes)) && validator.isComplete
                    #expect(valid == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
                    #expect(valid == UTF8StreamValidator.isValid(ByteBuffer(bytes: bytes)))
                    // Split at every offset, and byte by byte.
                    for cut in 0...bytes.count {
                        var validator = UTF8StreamValidator()
                        let isUTF8 =
                            validator.receive(ByteBuffer(bytes: bytes[..<cut])) && validator.receive(ByteBuffer(bytes: bytes[cut...]))
                        #expect((isUTF8 && validator.isComplete) == valid, "\(bytes) cut at \(cut)")
                    }
                    var bytewise = UTF8StreamValidator()
                    #expect((bytes.allSatisfy { bytewise.receive(ByteBuffer(bytes: [$0])) } && bytewise.isComplete) == valid)
                }
            }
        }
    }

    @Test func splitsDoNotChangeTheAnswer() {
        let bytes = Array("plain ascii, 中文, 😀, é and a longer tail".utf8)
        for cut in 0...bytes.count {
            var validator = UTF8StreamValidator()
            #expect(validator.receive(ByteBuffer(bytes: bytes[..<cut])) == true)
            #expect(validator.receive(ByteBuffer(bytes: bytes[cut...])) == true)
            #expect(validator.isComplete)
        }
    }

    /// ASCII is validated in blocks. A single other byte is found at every offset.
    @Test func aByteThatIsNotASCIIIsFoundInEveryPlace() {
        for place in 0..<200 {
            var bytes = [UInt8](repeating: 0x7F, count: 200)
            bytes[place] = 0x80
            #expect(!UTF8StreamValidator.isValid(ByteBuffer(bytes: bytes)), "at \(place)")
            bytes.replaceSubrange(place...place, with: "é".utf8)
            #expect(UTF8StreamValidator.isValid(ByteBuffer(bytes: bytes)), "at \(place)")
        }
    }
}
