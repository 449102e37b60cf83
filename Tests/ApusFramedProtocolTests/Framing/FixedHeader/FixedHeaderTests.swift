import ApusFramedProtocol
import ApusJSON
import NIOCore
import Testing

@Suite struct FixedHeaderTests {
    private func parse(_ text: String, padding: [UInt8] = [0, 0], limits: FramedLimits = .init()) throws(FramedError) -> FixedHeader {
        try FixedHeader(parsing: ByteBuffer(bytes: Array(text.utf8) + padding), limits: limits)
    }

    private func code(_ text: String, padding: [UInt8] = [0, 0], limits: FramedLimits = .init()) -> FramedError.Code? {
        do {
            _ = try self.parse(text, padding: padding, limits: limits)
            return nil
        } catch {
            return error.code
        }
    }

    /// The dictionary of SocketDemo, as written by NSJSONSerialization with
    /// NSJSONWritingPrettyPrinted.
    @Test func theHeaderOfTheDemoIsRead() throws {
        let header = try self.parse("{\n  \"bodyLenght\" : 12,\n  \"name\" : \"a.png\"\n}", padding: [UInt8](repeating: 0, count: 60))
        #expect(header.bodyLength == 12)
        #expect(header.fields == ["name": "a.png"])
    }

    @Test func aHeaderIsPaddedWithZeros() throws {
        let bytes = try FixedHeader(fields: ["a": 1], bodyLength: 5).encoded(headerLength: 30)
        #expect(Array(bytes.readableBytesView) == Array(#"{"a":1,"bodyLenght":5}"#.utf8) + [UInt8](repeating: 0, count: 8))
    }

    @Test func theLengthHasOneSource() throws {
        let header = try FixedHeader(fields: ["bodyLenght": 99, "a": 1], bodyLength: 5)
        #expect(header.fields == ["a": 1])
        #expect(try self.parse(String(buffer: header.encoded(headerLength: 30)), padding: []) == header)
    }

    @Test func aHeaderMayFillItsLengthAndNotMore() throws {
        let text = #"{"bodyLenght":0}"#
        #expect(text.utf8.count == 16)
        #expect(try String(buffer: FixedHeader(bodyLength: 0).encoded(headerLength: 16)) == text)
        #expect(try self.parse(text, padding: []).bodyLength == 0)
        #expect(ApusFramedProtocolTests.code { _ = try FixedHeader(bodyLength: 10).encoded(headerLength: 16) } == .headerTooLarge)
    }

    @Test(arguments: [-1, 0, 15, 65537, Int.max])
    func onlySomeLengthsCanBeAgreedUpon(length: Int) {
        #expect(ApusFramedProtocolTests.code { _ = try FixedHeader(bodyLength: 0).encoded(headerLength: length) } == .invalidUse)
    }

    @Test func aBodyHasNoNegativeLength() {
        #expect(ApusFramedProtocolTests.code { _ = try FixedHeader(bodyLength: -1) } == .invalidUse)
    }

    @Test(arguments: [
        "{}", #"{"bodyLength":1}"#, #"{"bodyLenght":-1}"#, #"{"bodyLenght":1.5}"#, #"{"bodyLenght":1.0}"#, #"{"bodyLenght":1e3}"#,
        #"{"bodyLenght":"1"}"#, #"{"bodyLenght":true}"#, #"{"bodyLenght":null}"#, #"{"bodyLenght":[1]}"#,
        #"{"bodyLenght":9223372036854775808}"#, #"{"bodyLenght":18446744073709551615}"#,
    ])
    func theLengthIsARequiredInteger(text: String) {
        #expect(self.code(text) == .malformedHeader)
    }

    @Test func theLengthIsCheckedByTheBound() {
        let limits = FramedLimits(maximumBodyBytes: 10)
        #expect(self.code(#"{"bodyLenght":10}"#, limits: limits) == nil)
        #expect(self.code(#"{"bodyLenght":11}"#, limits: limits) == .frameTooLarge)
        #expect(self.code(#"{"bodyLenght":9223372036854775807}"#, limits: limits) == .frameTooLarge)
        // docs/hazards.md, 2: the default limits refuse a gigabyte.
        #expect(self.code(#"{"bodyLenght":1073741824}"#) == .frameTooLarge)
    }

    @Test(arguments: [[0x20], [0, 0x20], [0, 0, 1], [1]])
    func thePaddingIsZeros(padding: [UInt8]) {
        let isSpace = padding == [0x20]  // whitespace is part of the JSON text
        #expect(self.code(#"{"bodyLenght":1}"#, padding: padding) == (isSpace ? nil : .malformedHeader))
    }
}
