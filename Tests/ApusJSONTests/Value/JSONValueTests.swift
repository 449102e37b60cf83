import ApusJSON
import Testing

struct JSONValueTests {
    @Test func literals() {
        let value: JSONValue = [nil, true, 1, 1.5, "a\(1)", [], ["k": [:]]]
        #expect(
            value
                == .array([
                    .null, .bool(true), .integer(1), .double(1.5), .string("a1"), .array([]),
                    .object(JSONObject([(key: "k", value: .object(JSONObject()))])),
                ]))
        #expect(JSONValue(3) == 3 && JSONValue("s") == "s" && JSONValue(false) == false && JSONValue(2.5) == 2.5)
    }

    @Test func accessors() {
        let value: JSONValue = ["b": true, "i": 7, "d": 2.0, "s": "x", "a": [1, 2], "o": ["k": nil], "n": nil]
        #expect(value["b"]?.boolValue == true)
        #expect(value["i"]?.intValue == 7)
        #expect(value["i"]?.doubleValue == 7)
        #expect(value["d"]?.intValue == 2)
        #expect(value["d"]?.doubleValue == 2)
        #expect(value["s"]?.stringValue == "x")
        #expect(value["a"]?.arrayValue == [1, 2])
        #expect(value["a"]?[1] == 2)
        #expect(value["o"]?["k"]?.isNull == true)
        #expect(value["o"]?.objectValue?.count == 1)
        #expect(JSONValue.binary([1]).binaryValue == [1])
    }

    @Test func accessorsOfTheWrongKindAreNil() {
        let values: [JSONValue] = [nil, true, 1, 1.5, "s", .binary([1]), [1], ["a": 1]]
        #expect(values.compactMap(\.boolValue).count == 1)
        #expect(values.compactMap(\.intValue).count == 1)
        #expect(values.compactMap(\.doubleValue).count == 2)
        #expect(values.compactMap(\.stringValue).count == 1)
        #expect(values.compactMap(\.binaryValue).count == 1)
        #expect(values.compactMap(\.arrayValue).count == 1)
        #expect(values.compactMap(\.objectValue).count == 1)
        #expect(values.filter(\.isNull).count == 1)
        #expect(values.compactMap { $0["a"] } == [1])
        #expect(values.compactMap { $0[0] } == [1])
        #expect(JSONValue.array([1])[1] == nil)
        #expect(JSONValue.array([1])[-1] == nil)
    }

    @Test(
        arguments: [
            (9_007_199_254_740_992.0, true), (9_007_199_254_740_994.0, false), (-9_007_199_254_740_992.0, true), (0.5, false),
            (1e300, false),
        ] as [(Double, Bool)])
    func wholeDoublesAreIntegersWhileTheyAreExact(value: Double, isExact: Bool) {
        #expect((JSONValue.double(value).intValue != nil) == isExact)
        #expect(JSONValue.double(.nan).intValue == nil)
        #expect(JSONValue.double(.infinity).intValue == nil)
    }

    @Test func findsBinaryAtAnyDepth() {
        #expect(JSONValue.binary([]).containsBinary)
        #expect((["a", ["b": [1, .binary([1])]]] as JSONValue).containsBinary)
        #expect(!(["a", ["b": [1, "c"]]] as JSONValue).containsBinary)
    }
}
