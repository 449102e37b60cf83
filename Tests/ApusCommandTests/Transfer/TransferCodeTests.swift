import Testing

@testable import apus

@Suite struct TransferCodeTests {
    private let code = TransferCode(fingerprint: (0..<32).map { UInt8($0 * 7) }, secret: (100..<120).map { UInt8($0) })

    @Test func itIsFormattedAndParsed() throws {
        #expect(self.code.text.count == 47 && self.code.text.split(separator: "-").allSatisfy { $0.count == 5 })
        #expect(TransferCode(self.code.text) == self.code)
        #expect(TransferCode(self.code.text.lowercased().replacing("-", with: " ")) == self.code)
        #expect(TransferCode(self.code.text.replacing("0", with: "O").replacing("1", with: "l")) == self.code)
        for value in UInt8.min...UInt8.max {
            let code = TransferCode(fingerprint: [UInt8](repeating: value, count: 32), secret: [UInt8](repeating: ~value, count: 8))
            #expect(TransferCode(code.text) == code)
        }
    }

    @Test func aTypingErrorIsDetected() {
        let letters = Array(self.code.text)
        var found = 0
        for index in letters.indices where letters[index] != "-" {
            var wrong = letters
            wrong[index] = wrong[index] == "7" ? "8" : "7"
            if TransferCode(String(wrong)) == nil { found += 1 }
        }
        #expect(found >= 39)  // one in 256 is not detected, and is then a wrong code
        #expect(TransferCode(String(letters.dropLast())) == nil)
        #expect(TransferCode(self.code.text + "0") == nil)
        #expect(TransferCode("") == nil)
        #expect(TransferCode(String(repeating: "U", count: 40)) == nil)
    }

    @Test func itNamesOneCertificate() {
        let fingerprint = (0..<32).map { UInt8($0 * 7) }
        #expect(self.code.names(fingerprint))
        for index in 0..<16 {
            var other = fingerprint
            other[index] ^= 1
            #expect(!self.code.names(other))
        }
        #expect(!self.code.names(Array(fingerprint.prefix(16))))
    }

    @Test func itAcceptsOneSecret() {
        #expect(self.code.accepts(secretText: self.code.secretText))
        for wrong in ["", "00", self.code.secretText + "0", String(self.code.secretText.reversed()), String(repeating: "0", count: 16)] {
            #expect(!self.code.accepts(secretText: wrong))
        }
    }
}
