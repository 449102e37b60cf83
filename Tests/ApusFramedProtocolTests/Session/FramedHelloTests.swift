import ApusFramedProtocol
import ApusJSON
import Testing

@Suite struct FramedHelloTests {
    @Test func aHelloRoundTrips() throws {
        var limits = FramedLimits(maximumBodyBytes: 7)
        limits.maximumHeaderBytes = 100
        let hello = FramedHello(capabilities: ["transfer", "a"], limits: limits)
        #expect(hello.head.header == ["version": 2, "capabilities": ["a", "transfer"], "limits": ["header": 100, "body": 7]])
        #expect(try FramedHello(hello.head.header) == hello)
    }

    private func code(_ change: (inout JSONObject) -> Void) -> FramedError.Code? {
        var header = FramedHello().head.header
        change(&header)
        do {
            _ = try FramedHello(header)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func unknownMembersAreIgnored() {
        #expect(self.code { $0["later"] = [1, 2] } == nil)
        #expect(self.code { $0["limits"] = ["header": 1, "body": 2, "later": 3] } == nil)
    }

    @Test func anotherVersionIsRefused() {
        #expect(self.code { $0["version"] = 3 } == .unsupportedVersion)
        #expect(self.code { $0["version"] = 1 } == .unsupportedVersion)
    }

    @Test(
        arguments: [
            ("version", nil), ("version", "2"), ("version", 2.5), ("capabilities", nil), ("capabilities", "transfer"),
            ("capabilities", [1]),
            ("capabilities", .array((0...64).map { .string("\($0)") })), ("capabilities", [.string(String(repeating: "x", count: 65))]),
            ("limits", nil), ("limits", [1]), ("limits", ["header": 1]), ("limits", ["header": -1, "body": 1]),
            ("limits", ["header": 1, "body": "2"]), ("limits", ["header": 1, "body": 1.5]),
        ] as [(String, JSONValue?)])
    func aHelloIsStrict(name: String, value: JSONValue?) {
        #expect(self.code { $0[name] = value } == .malformedHeader)
    }

    @Test func noHeaderIsLargerThanTheHighest() throws {
        var header = FramedHello().head.header
        header["limits"] = ["header": .integer(.max), "body": .integer(.max)]
        let hello = try FramedHello(header)
        #expect(hello.maximumHeaderBytes == 65536)
        #expect(hello.maximumBodyBytes == .max)
    }
}
