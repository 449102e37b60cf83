import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatServer

/// The fields of messages of the apps at their limits. A message that is translated is accepted by
/// the chat.
@Suite("Fields of legacy messages")
struct LegacyFieldTests {
    private static func message(_ bodies: JSONValue, _ more: JSONObject = [:]) throws -> LegacyMessage {
        var object: JSONObject = ["to_user": "bobby", "bodies": bodies]
        for (key, value) in more { object[key] = value }
        return try LegacyMessage(chat: .object(object))
    }

    private static func file(_ fields: JSONObject, _ type: String = "video") throws -> LegacyMessage.File {
        var bodies: JSONObject = ["type": .string(type), "fileData": .binary([1])]
        for (key, value) in fields { bodies[key] = value }
        guard case .file(let file) = try Self.message(.object(bodies)).content else { throw LegacyRefusal("no file") }
        return file
    }

    /// Returns the translated body, which must have the form of the chat.
    private static func accepted(_ message: LegacyMessage, _ stored: LegacyMessage.Stored? = nil) throws -> ChatBody {
        let body = try #require(message.body(stored))
        #expect(throws: Never.self) { try ChatKinds.accept(kind: body.kind, body: body.fields) }
        return body
    }

    @Test(
        arguments: [
            (5, 5), (.double(5), 5), (.double(2.5), 3), (.double(1e300), nil), (.double(.nan), nil), (.double(.infinity), nil), ("5", 5),
            ("-5", -5), ("5.5", nil), ("", nil), (" 5", nil), ("9223372036854775808", nil), (.bool(true), nil), (.null, nil), ([], nil),
            ([:], nil), (nil, nil), (.integer(.max), .max),
        ] as [(JSONValue?, Int64?)])
    func anIntegerIsANumberOrItsText(value: JSONValue?, number: Int64?) { #expect(LegacyMessage.integer(value) == number) }

    @Test(
        arguments: [
            (0, 0), (2.5, 2_500), (-1, 0), (0.0004, 0), (86_400, 86_400_000), (86_401, 86_400_000), (1e300, 86_400_000), ("2", 0), (nil, 0),
        ] as [(JSONValue?, Int64)])
    func aDurationIsAtMostADay(duration: JSONValue?, milliseconds: Int64) throws {
        #expect(try Self.file(duration.map { ["duration": $0] } ?? [:]).duration == milliseconds)
    }

    @Test(
        arguments: [
            (["width": 300, "height": 200], 300, 200), (["width": "300", "height": "200"], 300, 200), (["width": 0, "height": -5], 1, 1),
            (["width": 16_384, "height": 16_385], 16_384, 16_384), (["width": 300.4], 300, 1), ([:], 1, 1), (5, 1, 1), ("300x200", 1, 1),
            (nil, 1, 1),
        ] as [(JSONValue?, Int64, Int64)])
    func theSizeOfAFilmIsWithinTheLimits(size: JSONValue?, width: Int64, height: Int64) throws {
        let file = try Self.file(size.map { ["size": $0] } ?? [:])
        #expect(file.width == width && file.height == height)
    }

    @Test(
        arguments: [
            ("a.png", "a.png"), ("dir/a.png", "a.png"), ("C:\\dir\\a.png", "a.png"), ("a\u{0}b\n.png", "ab.png"), ("  a ", "  a "),
            ("图片 1.png", "图片 1.png"), ("e\u{301}.png", "e\u{301}.png"), ("👩‍👩‍👧.png", "👩‍👩‍👧.png"), ("...", "..."), ("", "video"),
            (".", "video"), ("..", "video"), ("a/", "a"), ("/", "video"), ("\t", "video"), ("\u{3000}", "video"),
        ])
    func aNameHasNoPathAndNoControlCharacters(name: String, expected: String) throws {
        let found = try Self.file(["fileName": .string(name)]).name
        #expect(found.utf8.elementsEqual(expected.utf8), "\(found)")
    }

    @Test(arguments: [(100, 100), (101, 100), (5_000, 100)]) func aNameHasAtMostAHundredScalars(count: Int, length: Int) throws {
        for character in ["a", "图", "😀", "\u{301}"] {
            let text = String(repeating: "x" + character, count: count / 2) + (count % 2 == 1 ? "x" : "")
            let file = try Self.file(["fileName": .string(text)])
            #expect(file.name.unicodeScalars.count == length)
        }
    }

    /// Names of the longest length and of any text are accepted by the chat.
    @Test(arguments: [String(repeating: "😀", count: 200), "\u{202E}gnp.exe", "a\u{200B}b", "\u{2066}x", "\u{FEFF}"])
    func anyNameIsAccepted(name: String) throws {
        let stored = LegacyMessage.Stored(
            blob: try #require(BlobID(String(repeating: "ab", count: 32))), size: 9, type: "application/octet-stream", width: 0, height: 0)
        _ = try Self.accepted(try Self.message(["type": "img", "fileName": .string(name), "fileData": .binary([1])]), stored)
    }

    // MARK: Places

    @Test(
        arguments: [
            (90, 180, true), (-90, -180, true), (0, 0, true), (90.000001, 0, false), (-90.000001, 0, false), (0, 180.000001, false),
            (0, -180.000001, false), ("31", 121, false), (31, nil, false), (.double(.nan), 0, false),
        ] as [(JSONValue, JSONValue?, Bool)])
    func aPlaceIsOnTheEarth(latitude: JSONValue, longitude: JSONValue?, isAccepted: Bool) throws {
        var bodies: JSONObject = ["type": "loc", "latitude": latitude]
        bodies["longitude"] = longitude
        let message = try? Self.message(.object(bodies))
        #expect((message != nil) == isAccepted)
        if let message { _ = try Self.accepted(message) }
    }

    @Test func theTextsOfAPlaceAreCut() throws {
        let long = String(repeating: "路", count: 1_000)
        let message = try Self.message(
            ["type": "loc", "latitude": 1, "longitude": 2, "locationName": .string(long), "detailLocationName": .string("\n" + long)])
        guard case .location(let place) = try Self.accepted(message) else {
            Issue.record("no place")
            return
        }
        #expect(place.name?.unicodeScalars.count == ChatLimits.titleLength && place.address?.unicodeScalars.count == 300)
        #expect(place.address?.first == "路")
    }

    // MARK: Messages

    @Test(arguments: ["sendtime", "sendTime"]) func theTimeOfTheAppIsANumberOrItsText(field: String) throws {
        func id(_ value: JSONValue) throws -> ClientID? {
            try Self.message(["type": "txt", "msg": "a"], [field: value]).id(from: UserName(prepared: "alice"))
        }
        #expect(try id(1_500) == id("1500") && id(1_500) == id(.double(1_500)) && id(1_500) != id(1_501))
        for value in ["x", .null, [:], -5] as [JSONValue] {
            #expect(try Self.message(["type": "txt", "msg": "a"], [field: value]).sentAt <= 0)
        }
    }

    @Test(arguments: [(-1, true), (0, true), (1, false)]) func aFileHasTheLimitOfTheListener(offset: Int, isAccepted: Bool) {
        let bytes = [UInt8](repeating: 1, count: LegacyMessage.fileBytes + offset)
        #expect(((try? Self.file(["fileData": .binary(bytes)])) != nil) == isAccepted)
    }

    @Test func theBytesPrecedeAPath() throws {
        #expect(try Self.file(["fileRemotePath": "images/a.png"]).path == nil)
        #expect(try Self.file(["fileRemotePath": "images/a.png", "fileData": .binary([])]).path == "images/a.png")
        #expect(throws: LegacyRefusal.self) { try Self.file(["fileRemotePath": "", "fileData": .binary([])]) }
        #expect(throws: LegacyRefusal.self) { try Self.file(["fileData": "AQ=="]) }
    }

    /// A text with bodies that are JSON text has the rules of the wire: half an emoji is U+FFFD.
    @Test func bodiesAsTextAreReadLikeTheWire() throws {
        let message = try Self.message(.string(#"{"type":"txt","msg":"a\ud83db"}"#))
        #expect(message.content == .text("a\u{FFFD}b"))
        let long = #"{"type":"txt","msg":"a"}"# + String(repeating: " ", count: ChatLimits.requestBytes)
        for text in [long, "{", "", "null", #""{}""#, String(repeating: "[", count: 10_000)] {
            #expect(throws: LegacyRefusal.self, "\(text.prefix(20))") { try Self.message(.string(text)) }
        }
    }

    /// The id of a repetition distinguishes fields whose joined text is the same.
    @Test func theIDDistinguishesTheBordersOfFields() throws {
        func id(_ recipient: String, _ text: String) throws -> ClientID? {
            try LegacyMessage(groupChat: ["roomId": .string(recipient), "sendtime": 1, "bodies": ["type": "txt", "msg": .string(text)]])
                .id(from: UserName(prepared: "alice"))
        }
        #expect(try Set([id("ab", "c"), id("a", "bc"), id("a", "b"), id("e\u{301}", "x"), id("\u{E9}", "x")].compactMap { $0 }).count == 5)
    }
}
