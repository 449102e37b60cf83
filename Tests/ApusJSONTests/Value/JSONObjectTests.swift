import ApusJSON
import Testing

struct JSONObjectTests {
    @Test func keepsItsOrder() {
        let object: JSONObject = ["b": 1, "a": 2, "c": 3]
        #expect(Array(object.keys) == ["b", "a", "c"])
        #expect(Array(object.values) == [1, 2, 3])
        #expect(object.map { $0.key } == ["b", "a", "c"])
    }

    @Test func equalityAndHashDoNotLookAtTheOrder() {
        let left: JSONObject = ["a": 1, "b": ["x": nil, "y": 2]]
        let right: JSONObject = ["b": ["y": 2, "x": nil], "a": 1]
        #expect(left == right)
        #expect(left.hashValue == right.hashValue)
        #expect(left != ["a": 1])
        #expect(left != ["a": 1, "b": nil])
        #expect(left != ["a": 1, "c": ["x": nil, "y": 2]])
    }

    @Test(arguments: [2, 15, 16, 17, 18, 40, 1000])
    func lastOfRepeatedNamesWinsInTheFirstPlace(count: Int) throws {
        let names = (0..<count).map { "k\($0)" }
        let text = "{" + (names + names.reversed()).enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ",") + "}"
        let read = try #require(try JSONReader.read(text).objectValue)
        #expect(Array(read.keys) == names)
        #expect(read["k0"] == .integer(Int64(2 * count - 1)))
        var built = JSONObject()
        for (index, name) in (names + names.reversed()).enumerated() { built[name] = .integer(Int64(index)) }
        #expect(read == built)
        #expect(Array(built.keys) == names)
    }

    /// Seventeen members require an index, two do not.
    @Test func manyRepetitionsOfFewNames() throws {
        let text = "{" + (0..<17).map { "\"\($0 % 2)\":\($0)" }.joined(separator: ",") + "}"
        var object = try #require(try JSONReader.read(text).objectValue)
        #expect(object == ["0": 16, "1": 15])
        for index in 2..<30 { object["\(index)"] = .integer(Int64(index)) }
        #expect(object.count == 30)
        #expect(object["0"] == 16)
        #expect(object["29"] == 29)
    }

    @Test(arguments: [3, 16, 17, 18, 50])
    func setsAndRemoves(count: Int) {
        var object = JSONObject((0..<count).map { (key: "k\($0)", value: JSONValue.integer(Int64($0))) })
        object["k1"] = "new"
        object["k0"] = nil
        object["absent"] = nil
        #expect(object.count == count - 1)
        #expect(object["k0"] == nil)
        #expect(object["k1"] == "new")
        #expect(object["k\(count - 1)"] == .integer(Int64(count - 1)))
        object["k0"] = nil as JSONValue?
        object["last"] = .null
        #expect(Array(object.keys).last == "last")
        #expect(object["last"] == .some(.null))
        #expect(object["none"] == nil)
    }

    @Test(arguments: [0, 20])
    func namesCompareByTheirBytes(others: Int) throws {
        var object: JSONObject = ["\u{E9}": 1, "e\u{301}": 2]
        for index in 0..<others { object["\(index)"] = 0 }
        #expect(object.count == 2 + others)
        #expect(object["\u{E9}"] == 1)
        #expect(object["e\u{301}"] == 2)
        #expect(try JSONReader.read(JSONWriter.bytes(of: .object(object))) == .object(object))
    }

    @Test func hundredThousandMembersTakeLinearTime() throws {
        let text = "{" + (0..<100_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "}"
        let object = try #require(try JSONReader.read(text).objectValue)
        #expect(object.count == 100_000)
        #expect(object["k99999"] == 99_999)
    }
}
