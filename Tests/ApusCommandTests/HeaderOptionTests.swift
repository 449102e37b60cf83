import ApusCommandSupport
import ArgumentParser
import HTTPTypes
import Testing

@Suite struct HeaderOptionTests {
    @Test func fieldsKeepTheirOrderAndRepeats() throws {
        let fields = try HTTPFields(options: ["Cookie: a=b", "Accept:x:y", "Cookie: c=d"])
        #expect(fields[values: .cookie] == ["a=b", "c=d"])
        #expect(fields[.accept] == "x:y")
    }

    @Test(arguments: ["Cookie", ": a", "a b: c", "Cookie: a\r\nOrigin: b", "Cookie: \0"])
    func textThatIsNotAField(option: String) {
        #expect(throws: ValidationError.self) { try HTTPFields(options: [option]) }
    }
}
