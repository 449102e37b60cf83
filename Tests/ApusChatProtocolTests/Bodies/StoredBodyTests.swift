import ApusChatProtocol
import ApusJSON
import Testing

/// Bodies as a client reads them from the log: the rules for new messages do not apply, so that
/// messages of another version of the server are shown.
@Suite("Stored bodies")
struct StoredBodyTests {
    private func refusal(_ kind: String, _ body: JSONObject) -> WireError? {
        do throws(WireError) {
            _ = try ChatBody(kind: EventKind(rawValue: kind), body: body)
            return nil
        } catch { return error }
    }

    /// Each case is refused in a new message, and read from the log.
    @Test(
        arguments: [
            ("text", ["text": " "]), ("text", ["text": "a", "entities": [["type": "sparkle", "offset": 0, "length": 1]]]),
            ("text", ["text": "a", "entities": [["type": "bold", "offset": 7, "length": 9]]]),
            ("poll", ["question": "Q", "options": ["A"]]),
            ("poll", ["question": "Q", "options": ["A", "A"]]), ("poll", ["question": "Q"]),
            ("file", ["blob": Wire.hash, "name": "a/b", "size": 0, "type": "?"]),
            ("image", ["blob": Wire.hash, "width": 1, "height": 1, "size": 1, "type": "video/mp4"]),
        ] as [(String, JSONObject)])
    func theRulesOfNewMessagesDoNotApply(kind: String, body: JSONObject) {
        #expect(self.refusal(kind, body) == nil)
        #expect(Wire.refusal(EventKind(rawValue: kind), body: body) != nil)
    }

    @Test(
        arguments: [
            ("call", ["media": "audio"], nil), ("call", ["state": "ended"], nil), ("call", ["media": 1, "state": "ended"], "media"),
            ("call", ["media": "audio", "state": "ended", "duration": -1], "duration"),
            ("call", ["media": "audio", "state": "ended", "backend": ""], "backend"), ("bundle", ["items": []], "title"),
            ("bundle", ["title": "T", "items": [["at": 1, "kind": "text"]]], "items[0].body"),
            ("bundle", ["title": "T", "items": [["at": 1, "kind": "text", "body": "x"]]], "items[0].body"),
            ("bundle", ["title": "T", "items": [["kind": "text", "body": [:]]]], "items[0].at"),
            ("bundle", ["title": "T", "items": [["at": 1, "body": [:]]]], "items[0].kind"),
            ("bundle", ["title": "T", "items": [["at": 1, "kind": "text", "body": [:], "sender": ""]]], "items[0].sender"),
            ("bundle", ["title": "T", "items": Wire.list(["at": 1, "kind": "text", "body": [:]], 100)], nil),
            ("bundle", ["title": "T", "items": Wire.list(["at": 1, "kind": "text", "body": [:]], 101)], "items"),
            ("bundle", ["title": Wire.text(101), "items": []], "title"), ("encrypted", ["epoch": 0], "data"),
            ("encrypted", ["data": "AAAA"], "epoch"),
            ("encrypted", ["epoch": -1, "data": "AAAA"], "epoch"), ("encrypted", ["epoch": 0, "data": ""], "data"),
            ("encrypted", ["epoch": 0, "data": .string(String(repeating: "A", count: 32_768))], nil),
            ("encrypted", ["epoch": 0, "data": .string(String(repeating: "A", count: 32_769))], "data"), ("text", [:], "text"),
            ("card", ["nick": "B"], "user"), ("location", ["latitude": 1], "longitude"), ("member.join", [:], "kind"),
            ("later", ["text": "x"], "kind"),
        ] as [(String, JSONObject, String?)])
    func aDamagedBodyNamesItsPath(kind: String, body: JSONObject, field: String?) { #expect(self.refusal(kind, body)?.field == field) }

    /// A call of a later version, which is shown with what is known of it.
    @Test func aCallOfALaterVersionIsRead() throws {
        let call = try ChatBody(kind: .call, body: ["media": "hologram", "state": "paused", "backend": "later", "later": 1])
        #expect(call == .call(CallBody(media: .unknown, state: .unknown, backend: "later")))
        #expect(call.previewText == nil && call.searchText == nil && call.blobs.isEmpty)
    }

    // MARK: Texts of messages

    /// The words of each kind for the search, and the line for lists.
    @Test(
        arguments: [
            ("text", ["text": "a\nb"], "a\nb", "a b"),
            ("image", ["blob": Wire.hash, "width": 1, "height": 1, "size": 1, "type": "image/png"], nil, nil),
            (
                "image", ["blob": Wire.hash, "width": 1, "height": 1, "size": 1, "type": "image/png", "name": "a.png", "text": "cap"],
                "cap", "cap"
            ), ("audio", ["blob": Wire.hash, "size": 1, "type": "audio/ogg", "duration": 1, "name": "song.ogg"], "song.ogg", "song.ogg"),
            (
                "audio", ["blob": Wire.hash, "size": 1, "type": "audio/ogg", "duration": 1, "name": "song.ogg", "text": "cap"],
                "cap\nsong.ogg",
                "cap"
            ), ("file", ["blob": Wire.hash, "name": "a.pdf", "size": 0, "type": "a/b"], "a.pdf", "a.pdf"),
            ("location", ["latitude": 1, "longitude": 2], nil, nil),
            ("location", ["latitude": 1, "longitude": 2, "name": "Zoo"], "Zoo", "Zoo"),
            ("location", ["latitude": 1, "longitude": 2, "address": "Road 1"], "Road 1", "Road 1"), ("card", ["user": "bob"], "bob", "bob"),
            ("card", ["user": "bob", "nick": "Bob"], "Bob", "Bob"), ("poll", ["question": "Q", "options": ["A", "B"]], "Q\nA\nB", "Q"),
            ("bundle", ["title": "T", "items": []], nil, "T"),
            (
                "bundle",
                [
                    "title": "T",
                    "items": [
                        ["at": 1, "kind": "text", "body": ["text": "one"]], ["at": 2, "kind": "later", "body": [:]],
                        ["at": 3, "kind": "file", "body": ["blob": Wire.hash, "name": "two.pdf", "size": 0, "type": "a/b"]],
                    ],
                ], "one\ntwo.pdf", "T"
            ), ("encrypted", ["epoch": 1, "data": "AAAA"], nil, nil), ("x.a", ["text": "t"], "t", "t"), ("x.a", ["text": 1], nil, nil),
            ("x.a", [:], nil, nil),
        ] as [(String, JSONObject, String?, String?)])
    func aKindHasItsWords(kind: String, body: JSONObject, search: String?, preview: String?) throws {
        let kind = EventKind(rawValue: kind)
        let read = try ChatBody(kind: kind, body: body)
        #expect(read.searchText == search && read.previewText == preview)
        #expect(ChatBody.searchText(kind: kind, body: try JSONValue.object(body).jsonString()) == search)
    }

    /// Text that is not an object, or a body of another kind, has no words for the search.
    @Test(arguments: ["", "null", "[]", "\"x\"", "{", "{\"text\":1}", "{\"text\":\"x\"", "{}"])
    func aDamagedBodyHasNoWords(text: String) {
        #expect(ChatBody.searchText(kind: .text, body: text) == nil)
        #expect(ChatBody.searchText(kind: .recall, body: "{\"text\":\"x\"}") == nil)
    }

    /// The uploads of a bundle are those of its messages, so that its readers can load them.
    @Test func aBundleRefersToTheUploadsOfItsMessages() throws {
        let file: JSONValue = ["blob": Wire.hash, "name": "a", "size": 0, "type": "a/b"]
        let body = try ChatBody(
            kind: .bundle,
            body: [
                "title": "T",
                "items": [
                    ["at": 1, "kind": "file", "body": file], ["at": 2, "kind": "file", "body": ["blob": "x"]],
                    ["at": 3, "kind": "x.a", "body": ["blobs": [Wire.otherHash]]],
                    ["at": 4, "kind": "member.join", "body": ["blobs": [Wire.hash]]],
                ],
            ])
        #expect(try body.blobs == [Wire.blob(), Wire.otherBlob()])
    }

    /// A text refers to the picture of its preview, which the server set.
    @Test func aTextRefersToThePictureOfItsPreview() throws {
        let body = try ChatBody(kind: .text, body: ["text": "x", "preview": ["url": "https://a.test", "blob": Wire.hash]])
        #expect(try body.blobs == [Wire.blob()] && body.mentions.isEmpty && !body.mentionsAll)
        #expect(try ChatBody(kind: .text, body: ["text": "x", "preview": ["url": "https://a.test"]]).blobs.isEmpty)
    }

    /// Mentions are those of the entities with a user, each once, in the order of the text.
    @Test func mentionsAreInTheOrderOfTheText() throws {
        let entities: JSONValue = [
            ["type": "mention", "offset": 0, "length": 1, "user": "carol"], ["type": "mention", "offset": 1, "length": 1, "user": "bob"],
            ["type": "mention", "offset": 2, "length": 1, "user": "Carol"], ["type": "mention", "offset": 3, "length": 1],
            ["type": "bold", "offset": 4, "length": 1, "user": "alice"], ["type": "sparkle", "offset": 5, "length": 1, "user": "alice"],
        ]
        let body = try ChatBody(kind: .text, body: ["text": "abcdefg", "entities": entities])
        #expect(body.mentions == [Wire.carol, Wire.bob] && !body.mentionsAll)
        let file = try ChatBody(
            kind: .file,
            body: [
                "blob": Wire.hash, "name": "a", "size": 0, "type": "a/b", "text": "@all",
                "entities": [["type": "all", "offset": 0, "length": 4]],
            ])
        #expect(file.mentionsAll && file.mentions.isEmpty)
        // Entities without a caption mention no user.
        let bare: JSONObject = ["blob": Wire.hash, "name": "a", "size": 0, "type": "a/b", "entities": entities]
        #expect(try ChatBody(kind: .file, body: bare).mentions.isEmpty)
    }
}
