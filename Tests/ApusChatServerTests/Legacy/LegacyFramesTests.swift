import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatServer

@Suite struct LegacyFramesTests {
    private static let blob = String(repeating: "ab", count: 32)
    private static let path = "images/\(blob)-tag"
    private let frames = LegacyFrames(user: UserName(prepared: "alice"), bodies: LegacyBodies(paths: LegacyPaths { _ in "tag" }))
    private let conversation = ConversationID(number: 7)

    private func event(_ kind: EventKind, _ body: JSONObject, by sender: String = "bobby", n: Int64? = 1) -> ChatEvent {
        ChatEvent(
            conversation: self.conversation, seq: 3, n: n, sender: UserName(prepared: sender), id: nil, at: 99, kind: kind, body: body)
    }

    private func bodies(_ kind: EventKind, _ body: JSONObject) -> [JSONValue] {
        self.frames.frames(of: self.event(kind, body), in: .pair(UserName(prepared: "bobby"))).compactMap { $0.argument["bodies"] }
    }

    @Test func aMessageHasTheFieldsOfBothApps() {
        let frames = self.frames.frames(of: self.event(.text, ["text": "hi"]), in: .pair(UserName(prepared: "bobby")))
        let id = "\(self.conversation)-3"
        #expect(
            frames == [
                LegacyFrame(
                    "chat",
                    [
                        "msg_id": .string(id), "from_user": "bobby", "to_user": "alice", "chat_type": "chat", "sendtime": 99,
                        "sendTime": 99,
                        "timestamp": 99, "bodies": ["type": "txt", "msg": "hi"],
                    ])
            ])
    }

    @Test func kindsOfTheOldWireKeepTheirFields() {
        let file: JSONObject = ["blob": .string(Self.blob), "size": 70_000, "name": "a"]
        func with(_ more: JSONObject) -> JSONObject { JSONObject(file.map { ($0.key, $0.value) } + more.map { ($0.key, $0.value) }) }
        #expect(
            self.bodies(.image, with(["type": "image/png", "width": 4, "height": 3])) == [
                [
                    "type": "img", "fileName": "a", "size": ["width": 4, "height": 3], "fileRemotePath": .string(Self.path + ".png"),
                    "thumbnailRemotePath": .string(Self.path + ".thumb.jpg"),
                ]
            ])
        #expect(
            self.bodies(.audio, with(["type": "audio/mp4", "duration": 2_500])) == [
                ["type": "audio", "fileName": "a", "duration": 2.5, "fileRemotePath": .string(Self.path + ".m4a")]
            ])
        // The apps do not play the WebM audio that a browser records.
        #expect(
            self.bodies(.audio, with(["type": "audio/webm", "duration": 2_000])).first?["fileRemotePath"] == .string(Self.path + ".m4a"))
        #expect(
            self.bodies(.audio, with(["type": "audio/amr", "duration": 2_000])).first?["fileRemotePath"] == .string(Self.path + ".amr"))
        #expect(
            self.bodies(.video, with(["type": "video/mp4", "duration": 3_000, "width": 4, "height": 3])) == [
                [
                    "type": "video", "fileName": "a", "duration": 3, "size": ["width": 4, "height": 3],
                    "fileRemotePath": .string(Self.path + ".mp4"), "thumbnailRemotePath": .string(Self.path + ".thumb.jpg"),
                ]
            ])
        #expect(
            self.bodies(.location, ["latitude": 1.5, "longitude": 2.0, "name": "Bund"]) == [
                [
                    "type": "loc", "latitude": 1.5, "longitude": 2.0, "locationName": "Bund", "detailLocationName": "",
                    "fileRemotePath": "images/location.png",
                ]
            ])
    }

    private static let texts: [(kind: String, body: String, expected: String?)] = [
        ("text", #"{"text":"<img src=x onerror=alert(1)>"}"#, "<img src=x onerror=alert(1)>"),
        ("card", #"{"user":"carol","nick":"Carol"}"#, "[Contact] Carol (carol)"), ("card", #"{"user":"carol"}"#, "[Contact] carol"),
        ("poll", #"{"question":"Tea?","options":["Yes","No"]}"#, "[Poll] Tea?\n- Yes\n- No"),
        ("call", #"{"media":"video","state":"missed"}"#, "[Missed call]"),
        ("call", #"{"media":"video","state":"declined"}"#, "[Declined call]"),
        ("call", #"{"media":"video","state":"busy"}"#, "[Call: busy]"), ("call", #"{"media":"video","state":"ringing"}"#, nil),
        ("call", #"{"media":"video","state":"ended"}"#, nil), ("bundle", #"{"title":"Notes","items":[]}"#, "[Messages] Notes"),
        ("x.weather", #"{"text":"Sunny"}"#, "Sunny"),
    ]

    @Test(arguments: Self.texts)
    func otherKindsAreTexts(kind: String, body: String, expected: String?) throws {
        let bodies = self.bodies(try #require(EventKind(wireText: kind)), try JSONValue(jsonString: body).objectValue ?? [:])
        #expect(bodies == (expected.map { [["type": "txt", "msg": .string($0)]] } ?? []))
    }

    @Test func aFileIsATextWithItsPath() {
        let bodies = self.bodies(
            .file, ["blob": .string(Self.blob), "name": "report.pdf", "size": 9, "type": "application/octet-stream", "text": "Read it"])
        #expect(
            bodies == [
                [
                    "type": "txt", "msg": .string("[File] report.pdf\n\(Self.path).bin\nRead it"),
                    "fileRemotePath": .string(Self.path + ".bin"),
                ]
            ])
    }

    @Test func aCaptionIsASeparateText() {
        let event = self.event(
            .image, ["blob": .string(Self.blob), "size": 9, "type": "image/png", "width": 1, "height": 1, "text": "Look"])
        let frames = self.frames.frames(of: event, in: .pair(UserName(prepared: "bobby")))
        #expect(frames.map { $0.argument["msg_id"] } == [.string("\(self.conversation)-3"), .string("\(self.conversation)-3-1")])
        #expect(frames.last?.argument["bodies"] == ["type": "txt", "msg": "Look"])
        // The small picture is its own thumbnail.
        #expect(frames.map(\.thumbnail) == [BlobID(Self.blob), nil])
        #expect(frames[0].with(thumbnail: [1]).argument["bodies"]?["fileData"] == .binary([1]))
    }

    @Test func eventsUnknownToTheLegacyProtocolHaveNoFrame() {
        let pair = LegacyConversation.pair(UserName(prepared: "bobby"))
        #expect(self.frames.frames(of: self.event(.text, ["text": "hi"], by: "alice"), in: pair).isEmpty)
        #expect(self.frames.frames(of: self.event(.edit, ["body": ["text": "b"]], n: nil), in: pair).isEmpty)
        var recalled = self.event(.text, [:])
        recalled.state = .recalled
        #expect(self.frames.frames(of: recalled, in: pair).isEmpty)
        #expect(self.frames.frames(of: .hidden(conversation: self.conversation, seq: 3, n: 1), in: pair).isEmpty)
    }

    @Test func aGroupAlsoNotifiesTheSender() {
        for (sender, conversation) in [("alice", LegacyConversation.group("Team")), ("bobby", .group("Team"))] {
            let frames = self.frames.frames(of: self.event(.text, ["text": "hi"], by: sender), in: conversation)
            #expect(frames.map(\.event) == ["GroupChat"])
            #expect(frames.first?.argument["roomId"] == "Team")
            #expect(frames.first?.argument["from_user"] == .string(sender))
        }
        let joined = self.frames.frames(of: self.event(.memberJoin, [:], n: nil), in: .group("Team"))
        #expect(joined == [LegacyFrame("GroupChat", ["roomId": "Team"])])
        // The user's conversation with oneself is a chat.
        #expect(self.frames.frames(of: self.event(.text, ["text": "hi"], by: "alice"), in: .own).map(\.event) == ["chat"])
    }

    @Test func aPresenceIsOnLineOrOffLine() {
        let push = PresencePush(users: [
            .init(user: UserName(prepared: "bobby"), isOnline: true), .init(user: UserName(prepared: "carol"), isOnline: false),
            .init(user: UserName(prepared: "alice"), isOnline: true),
        ])
        #expect(self.frames.frames(of: push) == [LegacyFrame("onLine", ["user": "bobby"]), LegacyFrame("offLine", ["user": "carol"])])
    }

    @Test func aPathIsValidWithItsTagOnly() throws {
        let tag = String(repeating: "0f", count: 16)
        let paths = LegacyPaths { _ in tag }
        let blob = try #require(BlobID(Self.blob))
        let name = try #require(paths.path(of: blob, type: "image/png").split(separator: "/").last)
        #expect(paths.blob(named: name) == blob)
        for wrong in [
            Self.blob, "\(Self.blob)-", "\(Self.blob)-\(tag)0.png", "\(Self.blob)-\(String(tag.dropLast()))1.png", "\(Self.blob).\(tag)",
            "",
            "../\(name)",
        ] { #expect(paths.blob(named: wrong) == nil, "\(wrong)") }
    }

    @Test(arguments: ["text/html", "image/svg+xml", "application/x-sh", "text/javascript", "../../x"])
    func noTypeBecomesAnActiveExtension(type: String) { #expect(LegacyPaths.fileExtension(of: type) == "bin") }
}
