import ApusJSON
import Foundation
import Testing

/// Round trips through values alone, and through text.
struct JSONCodableTests {
    private func check<T: Codable & Equatable>(_ value: T, _ expected: JSONValue, sourceLocation: SourceLocation = #_sourceLocation) throws
    {
        let encoded = try JSONValueEncoder().encode(value)
        #expect(encoded == expected, sourceLocation: sourceLocation)
        #expect(try JSONValueDecoder().decode(T.self, from: encoded) == value, sourceLocation: sourceLocation)
        guard !encoded.containsBinary else { return }
        let read = try JSONReader.read(JSONWriter.bytes(of: encoded))
        #expect(try JSONValueDecoder().decode(T.self, from: read) == value, sourceLocation: sourceLocation)
    }

    @Test func valuesStandAlone() throws {
        try check("text", "text")
        try check(7, 7)
        try check(true, true)
        try check(1.5, 1.5)
        try check(Int?.none, nil)
        try check(Int?.some(3), 3)
        try check([1, 2], [1, 2])
        try check([String](), [])
        try check([Int?.none, 1], [nil, 1])
        try check([["a"], []], [["a"], []])
        try check(JSONValue.binary([1]), .binary([1]))
        try check(["a": nil, "b": [1.5]] as JSONValue, ["a": nil, "b": [1.5]])
        try check(["a": 1] as JSONObject, ["a": 1])
    }

    @Test func everyIntegerType() throws {
        try check(Int8.min, -128)
        try check(UInt8.max, 255)
        try check(Int16.min, -32768)
        try check(UInt16.max, 65535)
        try check(Int32.min, -2_147_483_648)
        try check(UInt32.max, 4_294_967_295)
        try check(Int64.min, .integer(.min))
        try check(Int64.max, .integer(.max))
        try check(UInt64(7), 7)
        try check(UInt(7), 7)
        try check(UInt64(Int64.max), .integer(.max))
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) { try check(Int128(-7), -7) }
        try check(Float(0.1), 0.1)
    }

    struct Inner: Codable, Equatable {
        var flag: Bool
        var ratio: Double
    }

    struct Outer: Codable, Equatable {
        var name: String
        var nickname: String?
        var inner: Inner
        var list: [Inner]
        var table: [String: [Int]]
        var anything: JSONValue
        var color: Color
        var shape: Shape
    }

    enum Color: String, Codable { case red, green }
    enum Shape: Codable, Equatable { case circle(radius: Double), pair(Int, Int), none }

    @Test func nestedTypes() throws {
        let inner = Inner(flag: true, ratio: 0.5)
        let outer = Outer(
            name: "n", nickname: nil, inner: inner, list: [inner], table: ["a": [1, 2]], anything: ["x": .binary([9])], color: .green,
            shape: .circle(radius: 2.5))
        try check(
            outer,
            [
                "name": "n", "inner": ["flag": true, "ratio": 0.5], "list": [["flag": true, "ratio": 0.5]], "table": ["a": [1, 2]],
                "anything": ["x": .binary([9])], "color": "green", "shape": ["circle": ["radius": 2.5]],
            ])
        try check(Shape.pair(1, 2), ["pair": ["_0": 1, "_1": 2]])
        try check(Shape.none, ["none": [:]])
        try check(Color.red, "red")
        try check([Color.red: 1], ["red", 1])
    }

    @Test func membersKeepTheirOrder() throws {
        #expect(try JSONValueEncoder().encode(Inner(flag: true, ratio: 1)).jsonString() == "{\"flag\":true,\"ratio\":1.0}")
    }

    @Test func dictionaries() throws {
        try check(["a": 1, "b": 2], ["a": 1, "b": 2])
        try check([1: "a", -2: "b"], ["1": "a", "-2": "b"])
        try check(["a": Inner?.none], ["a": nil])
    }

    @Test func foundationTypes() throws {
        try check(Data([1, 2, 3]), .binary([1, 2, 3]))
        try check([Data([1])], [.binary([1])])
        try check(Optional(Data([1])), .binary([1]))
        let date = Date(timeIntervalSince1970: 1_795_273_445.678)
        try check(date, .date(date))
        try check(try #require(URL(string: "https://example.com/a?b=c")), "https://example.com/a?b=c")
        let id = try #require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"))
        try check(id, "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")
        try check([UInt8]([1, 255]), [1, 255])
    }

    @Test func bytesComeFromEveryForm() throws {
        let decoder = JSONValueDecoder()
        #expect(try decoder.decode([UInt8].self, from: .binary([1, 255])) == [1, 255])
        #expect(try decoder.decode([UInt8]?.self, from: .binary([1])) == [1])
        #expect(try decoder.decode(Data.self, from: [1, 255]) == Data([1, 255]))
        #expect(try decoder.decode(Data.self, from: "Af8=") == Data([1, 255]))
    }

    class Animal: Codable {
        var legs: Int
        init(legs: Int) { self.legs = legs }
    }

    final class Bird: Animal {
        var song: String
        private enum CodingKeys: String, CodingKey { case song }
        init(song: String) {
            self.song = song
            super.init(legs: 2)
        }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.song = try container.decode(String.self, forKey: .song)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            let parent = container.superEncoder()  // written after its sibling
            try container.encode(self.song, forKey: .song)
            try super.encode(to: parent)
        }
    }

    @Test func superclasses() throws {
        let encoded = try JSONValueEncoder().encode(Bird(song: "srii"))
        #expect(encoded == ["song": "srii", "super": ["legs": 2]])
        let bird = try JSONValueDecoder().decode(Bird.self, from: encoded)
        #expect(bird.song == "srii" && bird.legs == 2)
        #expect(throws: DecodingError.self) { try JSONValueDecoder().decode(Bird.self, from: ["song": "srii"]) }
    }

    /// All nested containers, in both directions.
    struct Handmade: Codable, Equatable {
        enum Key: String, CodingKey { case object, array, list, empty }
        var a = 1, b = 2, c = 3, d = 4

        init() {}

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            var object = container.nestedContainer(keyedBy: Key.self, forKey: .object)
            var array = container.nestedUnkeyedContainer(forKey: .array)
            try object.encode(self.a, forKey: .list)
            try array.encode(self.b)
            try array.encodeNil()
            var inner = array.nestedContainer(keyedBy: Key.self)
            var list = array.nestedUnkeyedContainer()
            try list.encode(self.c)
            try inner.encodeNil(forKey: .empty)
            try array.superEncoder().singleValueContainer().encodeOnce(self.d)
            var again = container.nestedContainer(keyedBy: Key.self, forKey: .object)
            try again.encode("added", forKey: .empty)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            self.a = try container.nestedContainer(keyedBy: Key.self, forKey: .object).decode(Int.self, forKey: .list)
            var array = try container.nestedUnkeyedContainer(forKey: .array)
            #expect(array.count == 5)
            #expect(try !array.decodeNil())
            self.b = try array.decode(Int.self)
            #expect(try array.decodeNil())
            #expect(try array.nestedContainer(keyedBy: Key.self).decodeNil(forKey: .empty))
            var list = try array.nestedUnkeyedContainer()
            self.c = try list.decode(Int.self)
            #expect(list.isAtEnd)
            self.d = try array.superDecoder().singleValueContainer().decode(Int.self)
            #expect(array.isAtEnd)
            #expect(throws: DecodingError.self) { try array.decode(Int.self) }
        }
    }

    @Test func nestingByHand() throws {
        try check(Handmade(), ["object": ["list": 1, "empty": "added"], "array": [2, nil, ["empty": nil], [3], 4]])
    }

    struct Silent: Codable, Equatable {
        func encode(to encoder: any Encoder) throws {}
        init() {}
        init(from decoder: any Decoder) throws {}
    }

    @Test func aValueThatEncodesNothingIsAnError() throws {
        #expect(throws: EncodingError.self) { try JSONValueEncoder().encode(Silent()) }
        try check([Silent()], [[:]])
    }

    struct UserInfo: Codable {
        static let key = CodingUserInfoKey(rawValue: "who")
        var who: String?
        init() {}
        init(from decoder: any Decoder) throws { self.who = Self.key.flatMap { decoder.userInfo[$0] as? String } }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(Self.key.flatMap { encoder.userInfo[$0] as? String })
        }
    }

    @Test func userInfoArrives() throws {
        let key = try #require(UserInfo.key)
        var encoder = JSONValueEncoder()
        encoder.userInfo[key] = "me"
        #expect(try encoder.encode(UserInfo()) == "me")
        var decoder = JSONValueDecoder()
        decoder.userInfo[key] = "you"
        #expect(try decoder.decode([UserInfo].self, from: [nil]).first?.who == "you")
    }

    /// Encodes and decodes ``JSONValue`` with Foundation's coders.
    @Test func worksWithOtherCoders() throws {
        let value: JSONValue = ["a": [nil, true, 1, 1.5, "x"], "b": ["c": [:]]]
        #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value)) == value)
        #expect(try String(decoding: JSONEncoder().encode([JSONValue.binary([1])]), as: UTF8.self) == "[\"AQ==\"]")
    }
}

extension SingleValueEncodingContainer {
    fileprivate func encodeOnce(_ value: some Encodable) throws {
        var copy = self
        try copy.encode(value)
    }
}
