import ApusFramedProtocol
import ApusJSON
import NIOCore
import Testing

/// Tests of invalid JSON headers, in both modes. They use the decoder of the fixed mode; the
/// lengths of version 2 have separate tests.
@Suite struct FrameHeaderTextTests {
    private func code(_ text: String, limits: FramedLimits = .init()) -> FramedError.Code? {
        var bytes = Array(text.utf8)
        bytes += [UInt8](repeating: 0, count: max(0, 4096 - bytes.count))
        guard let decoder = try? FixedHeaderDecoder(headerLength: 4096, limits: limits) else { return nil }
        return decodeAll(bytes, with: decoder, ends: false).error?.code
    }

    @Test(arguments: ["[]", "1", "\"a\"", "null", "", " ", "{", "{}x", "{\"bodyLenght\":0} {}", "{'bodyLenght':0}", "{\"bodyLenght\":0,}"])
    func onlyOneObjectIsAHeader(text: String) {
        #expect(self.code(text) == .malformedHeader)
    }

    @Test func repeatedNamesAreRefused() {
        #expect(self.code(#"{"bodyLenght":1,"bodyLenght":1}"#) == .malformedHeader)
        #expect(self.code(#"{"bodyLenght":1,"a":{"b":1,"b":2}}"#) == .malformedHeader)
        #expect(self.code(#"{"bodyLenght":0,"a":{"b":1},"b":2}"#) == nil)
        let many = (0..<40).map { "\"n\($0)\":0" }.joined(separator: ",")
        #expect(self.code("{\"bodyLenght\":0,\(many)}") == nil)
        #expect(self.code("{\"bodyLenght\":0,\(many),\"n39\":1}") == .malformedHeader)
    }

    @Test func theNestingIsBounded() {
        func nested(_ levels: Int) -> String {
            "{\"bodyLenght\":0,\"a\":" + String(repeating: "[", count: levels) + String(repeating: "]", count: levels) + "}"
        }
        #expect(self.code(nested(31)) == nil)
        #expect(self.code(nested(32)) == .malformedHeader)
        #expect(self.code(nested(1000)) == .malformedHeader)
        var limits = FramedLimits()
        limits.maximumHeaderDepth = 2
        #expect(self.code(nested(1), limits: limits) == nil)
        #expect(self.code(nested(2), limits: limits) == .malformedHeader)
    }

    @Test func noHeaderIsWrittenThatReadersRefuse() throws {
        func code(_ value: JSONValue) throws -> FramedError.Code? {
            let header = try FixedHeader(fields: ["a": value], bodyLength: 0)
            do {
                _ = try header.encoded(headerLength: 4096)
                return nil
            } catch {
                return error.code
            }
        }
        var deep: JSONValue = 1
        for _ in 0..<31 { deep = .array([deep]) }
        #expect(try code(deep) == nil)
        #expect(try code(.array([deep])) == .invalidUse)
        #expect(try code(.double(.nan)) == .invalidUse)
        #expect(try code(.binary([1])) == .invalidUse)
    }
}
