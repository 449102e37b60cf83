import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatServer

@Suite struct LegacyMessageTests {
    private static let blob = String(repeating: "ab", count: 32)
    private let alice = UserName(prepared: "alice")

    private static func chat(_ bodies: JSONValue, _ more: JSONObject = [:]) -> JSONValue {
        var object: JSONObject = [
            "to_user": "bobby", "from_user": "alice", "chat_type": "chat", "sendtime": 1_500_000_000_123, "sendStatus": 1, "bodies": bodies,
        ]
        for (key, value) in more { object[key] = value }
        return .object(object)
    }

    private static func stored(_ type: String, width: Int64 = 0, height: Int64 = 0) throws -> LegacyMessage.Stored {
        LegacyMessage.Stored(blob: try #require(BlobID(Self.blob)), size: 9, type: type, width: width, height: height)
    }

    @Test(arguments: [
        (#"{"type":"txt","msg":"在吗"}"#, "text", #"{"text":"在吗"}"#),
        (
            #"{"type":"loc","latitude":31.5,"longitude":121,"locationName":"Bund","detailLocationName":"Shanghai"}"#, "location",
            #"{"latitude":31.5,"longitude":121,"name":"Bund","address":"Shanghai"}"#
        ),
        (#"{"type":"loc","latitude":0,"longitude":0,"locationName":" \n"}"#, "location", #"{"latitude":0,"longitude":0}"#),
    ])
    func bodiesBecomeBodiesAsObjectOrText(bodies: String, kind: String, expected: String) throws {
        let object = try JSONValue(jsonString: bodies)
        for value in [object, .string(bodies)] {
            let body = try #require(try LegacyMessage(chat: Self.chat(value)).body(nil))
            #expect(body.kind.description == kind)
            let fields = try JSONValue(jsonString: expected).objectValue ?? [:]
            for (key, value) in fields {
                #expect(value.doubleValue == nil ? body.fields[key] == value : body.fields[key]?.doubleValue == value.doubleValue)
            }
            #expect(body.fields.count == fields.count)
        }
    }

    @Test(arguments: [
        // The type that the app names, the type and size of the stored file, and the message kind.
        ("img", "image/png", 8, "image"), ("img", "application/octet-stream", 0, "file"), ("audio", "audio/amr", 0, "audio"),
        ("audio", "video/mp4", 0, "audio"), ("audio", "image/png", 8, "file"), ("video", "video/mp4", 0, "video"),
        ("video", "application/octet-stream", 0, "file"),
    ])
    func theContentDecidesTheKindOfAFile(type: String, stored: String, side: Int64, kind: String) throws {
        let message = try LegacyMessage(
            chat: Self.chat([
                "type": .string(type), "fileName": "../../x\u{0}/page.html", "fileData": .binary([1, 2]), "duration": 2.5,
                "size": ["width": 300, "height": 200],
            ]))
        let body = try #require(message.body(try Self.stored(stored, width: side, height: side)))
        #expect(body.kind.description == kind)
        #expect(body.fields["name"] == "page.html")
        #expect(body.fields["duration"] == (kind == "audio" || kind == "video" ? 2_500 : nil))
        if kind == "image" { #expect(body.fields["width"] == 8) }
        if kind == "video" { #expect(body.fields["width"] == 300) }
        // The server accepts the translated message.
        #expect(throws: Never.self) { try ChatKinds.accept(kind: body.kind, body: body.fields) }
    }

    /// A name without a last component is replaced by that of the kind, which the chat accepts.
    @Test(arguments: ["..", ".", "a/..", "/", "\\", " ", "\u{1}"])
    func aNameOfNoFileIsReplaced(name: String) throws {
        let message = try LegacyMessage(
            chat: Self.chat(["type": "img", "fileName": .string(name), "fileData": .binary([1]), "size": ["width": 3, "height": 2]]))
        let body = try #require(message.body(try Self.stored("image/png", width: 3, height: 2)))
        #expect(throws: Never.self) { try ChatKinds.accept(kind: body.kind, body: body.fields) }
        #expect(body.fields["name"]?.stringValue?.contains { $0 == "." || $0 == "/" || $0 == " " } == false)
    }

    @Test(arguments: [
        "{}", #"{"to_user":"bobby"}"#, #"{"to_user":"bobby","bodies":5}"#, #"{"to_user":"bobby","bodies":"[1]"}"#,
        #"{"to_user":"bobby","bodies":{"type":"txt"}}"#, #"{"to_user":"bobby","bodies":{"type":"txt","msg":""}}"#,
        #"{"to_user":"bobby","bodies":{"type":"img","fileName":"a.jpg"}}"#, #"{"to_user":"bobby","bodies":{"type":"sticker","msg":"a"}}"#,
        #"{"to_user":"bobby","bodies":{"type":"loc","latitude":91,"longitude":0}}"#,
        #"{"to_user":"bobby","bodies":{"type":"loc","latitude":1e999,"longitude":0}}"#, #"{"to_user":5,"bodies":{"type":"txt","msg":"a"}}"#,
        "[]", "null",
    ])
    func otherEventsAreRefused(text: String) {
        guard let value = try? JSONValue(jsonString: text) else { return }
        #expect(throws: LegacyRefusal.self) { try LegacyMessage(chat: value) }
    }

    @Test func aFileAboveTheLimitIsRefused() {
        let bytes = [UInt8](repeating: 0, count: LegacyMessage.fileBytes + 1)
        #expect(throws: LegacyRefusal.self) { try LegacyMessage(chat: Self.chat(["type": "img", "fileData": .binary(bytes)])) }
    }

    @Test(arguments: [(#""alice""#, false), (#""ALICE""#, false), (#""""#, false), ("null", false), (#""bobby""#, true), (#""a b""#, true)])
    func anotherSenderIsForged(claimed: String, isForged: Bool) throws {
        let message = try LegacyMessage(
            chat: Self.chat(["type": "txt", "msg": "a"], ["from_user": try JSONValue(jsonString: claimed)]))
        #expect(message.isForged(by: self.alice) == isForged)
    }

    @Test func aRepetitionHasTheSameID() throws {
        let text: JSONValue = ["type": "txt", "msg": "a"]
        func id(_ bodies: JSONValue, _ more: JSONObject = [:], by sender: String = "alice") throws -> ClientID? {
            try LegacyMessage(chat: Self.chat(bodies, more)).id(from: UserName(prepared: sender))
        }
        let first = try #require(try id(text))
        // Fields that only the app uses do not change the id.
        #expect(try id(text, ["sendStatus": 2]) == first)
        #expect(try id(.string(#"{"msg":"a","type":"txt"}"#)) == first)
        let others = [
            try id(text, by: "carol"), try id(text, ["to_user": "carol"]), try id(text, ["sendtime": 1_500_000_000_124]),
            try id(["type": "txt", "msg": "b"]), try id(["type": "img", "fileData": .binary([1])]),
            try id(["type": "img", "fileData": .binary([2])]), try id(["type": "audio", "fileData": .binary([1])]),
            try id(["type": "loc", "latitude": 1, "longitude": 2]),
        ]
        #expect(Set(others + [first]).count == others.count + 1)
    }

    @Test func theAckIsTheMessageWithTheServersFields() throws {
        let message = try LegacyMessage(
            chat: Self.chat(["type": "img", "fileName": "a.jpg", "fileData": .binary([1, 2])], ["from_user": "Alice"]))
        let body = try #require(message.body(try Self.stored("image/jpeg", width: 4, height: 3)))
        let ack = message.ack(id: "m1", at: 5, from: self.alice, paths: LegacyPaths { _ in "tag" }, body: body)
        let path = "images/\(Self.blob)-tag"
        #expect(
            JSONValue.object(ack) == [
                "to_user": "bobby", "from_user": "alice", "chat_type": "chat", "sendtime": 1_500_000_000_123, "sendStatus": 1,
                "bodies": [
                    "type": "img", "fileName": "a.jpg", "fileRemotePath": .string(path + ".jpg"),
                    "thumbnailRemotePath": .string(path + ".thumb.jpg"),
                ],
                "msg_id": "m1", "timestamp": 5,
            ])
    }
}
