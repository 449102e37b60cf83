import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Testing

@Suite("Kinds and bodies")
struct ChatKindsTests {
    private static let blob = String(repeating: "0f", count: 32)

    private func problem(_ kind: EventKind, _ body: JSONObject) -> WireError? {
        do throws(WireError) {
            _ = try ChatKinds.accept(kind: kind, body: body)
            return nil
        } catch { return error }
    }

    @Test func everyKindHasOneName() {
        for (code, name) in EventKind.table {
            let kind = EventKind(rawValue: name)
            #expect(kind.code == code && kind.rawValue == name && kind.isKnown && kind.description == name)
        }
        let custom = EventKind(rawValue: "x.game.move")
        #expect(custom.code == .custom("x.game.move") && custom.isMessage && custom.isKnown)
        for name in ["x.", "x", "x.A", "x.é", "sticker", "Text", "x." + String(repeating: "a", count: 63)] {
            let kind = EventKind(rawValue: name)
            #expect(!kind.isKnown && !kind.isMessage && kind.rawValue == name)
        }
        #expect(EventKind.edit.isMessage == false && EventKind.poll.isMessage)
    }

    @Test func everyDescribedMessageIsReadAsItsKind() throws {
        for shape in ChatReference.bodies.prefix(while: { $0.name != "edit" }) {
            let kind = EventKind(rawValue: shape.name)
            let fields = try #require(try JSONReader.read(shape.example).objectValue)
            let body = try ChatBody(kind: kind, body: fields)
            #expect(body.kind == kind)
            #expect(JSONValue.object(body.fields) == .object(fields))
            // The registry accepts exactly the kinds that can be sent.
            let accepted = self.problem(kind, fields)
            #expect((accepted == nil) == ChatKinds.sendable.contains(kind), "\(kind): \(String(describing: accepted))")
            #expect(accepted == nil || accepted?.problem == .unsupported)
        }
    }

    @Test(arguments: [EventKind.edit, .call, .bundle, .encrypted, .hidden, EventKind(rawValue: "sticker"), .memberJoin])
    func kindsOfTheServerCannotBeSent(kind: EventKind) {
        let error = WireError(.unsupported, field: "kind", rule: "must be a kind that clients can send, not `\(kind)`")
        #expect(self.problem(kind, [:]) == error)
    }

    @Test func fieldsOfTheServerAreRemoved() throws {
        let text = try ChatKinds.accept(
            kind: .text, body: ["text": "x", "preview": ["url": "https://a.b"], "forwarded": ["at": 1], "later": 1])
        #expect(JSONValue.object(text.fields) == ["text": "x"])
        let poll = try ChatKinds.accept(kind: .poll, body: ["question": "?", "options": ["a", "b"], "closed": true])
        #expect(poll.fields["closed"] == nil)
        let image = try ChatKinds.accept(
            kind: .image,
            body: [
                "blob": .string(Self.blob), "width": 1, "height": 1, "size": 1, "type": "image/png",
                "forwarded": ["at": 1, "sender": "bob"],
            ])
        #expect(image.fields["forwarded"] == nil && image.blobs == [BlobID(Self.blob)].compactMap { $0 })
    }

    @Test(
        arguments: [
            (EventKind.text, ["text": ""], "body.text"), (.text, ["text": " \n\u{3000}"], "body.text"), (.text, [:], "body.text"),
            (.text, ["text": 1], "body.text"),
            (.text, ["text": "a", "entities": [["type": "bold", "offset": 0, "length": 2]]], "body.entities[0].length"),
            (.text, ["text": "a", "entities": [["type": "sparkle", "offset": 0, "length": 1]]], "body.entities[0].type"),
            (.poll, ["question": "?", "options": ["a"]], "body.options"),
            (.poll, ["question": "?", "options": ["a", "a"]], "body.options"),
            (.poll, ["question": "?", "options": ["a", ""]], "body.options[1]"),
            (.location, ["latitude": 91, "longitude": 0], "body.latitude"),
            (.location, ["latitude": 1, "longitude": 181.5], "body.longitude"), (.card, ["user": "a b"], "body.user"),
            (.image, ["blob": "x"], "body.blob"),
        ] as [(EventKind, JSONObject, String)])
    func wrongBodiesAreRefusedByField(kind: EventKind, body: JSONObject, field: String) {
        #expect(self.problem(kind, body)?.field == field)
    }

    @Test(arguments: ["../etc/passwd", "a/b", "a\\b", "a\u{0}", "a\nb"])
    func fileNamesHaveNoPath(name: String) {
        let body: JSONObject = ["blob": .string(Self.blob), "name": .string(name), "size": 1, "type": "application/pdf"]
        #expect(self.problem(.file, body)?.field == "body.name")
    }

    @Test(arguments: ["", "image", "image/", "/png", "image/png/x", "image/PNG", "image/p ng", "text/html", "image/svg\"onload"])
    func mediaTypesHaveTheirSyntax(type: String) {
        let body: JSONObject = ["blob": .string(Self.blob), "width": 1, "height": 1, "size": 1, "type": .string(type)]
        #expect(self.problem(.image, body)?.field == "body.type")
    }

    @Test func mentionsAreCountedOnce() throws {
        let accepted = try ChatKinds.accept(
            kind: .text,
            body: [
                "text": "@bob @bob @carol @all",
                "entities": [
                    ["type": "mention", "offset": 0, "length": 4, "user": "bob"],
                    ["type": "mention", "offset": 5, "length": 4, "user": "BOB"],
                    ["type": "mention", "offset": 10, "length": 6, "user": "carol"], ["type": "all", "offset": 17, "length": 4],
                ],
            ])
        #expect(accepted.mentions.map(\.rawValue) == ["bob", "carol"] && accepted.mentionsAll)
    }

    @Test func bodiesOfApplicationsPassUnchanged() throws {
        let kind = EventKind(rawValue: "x.game.move")
        let body: JSONObject = ["text": "e4", "board": ["a": [1, 2.5, nil]], "blobs": [.string(Self.blob)]]
        let accepted = try ChatKinds.accept(kind: kind, body: body)
        #expect(JSONValue.object(accepted.fields) == .object(body))
        #expect(accepted.blobs.count == 1)
        let read = try ChatBody(kind: kind, body: body)
        #expect(read.kind == kind && read.previewText == "e4")
        let large: JSONObject = ["x": .string(String(repeating: "a", count: ChatLimits.customBytes))]
        #expect(self.problem(kind, large)?.problem == .tooLarge)
        #expect(self.problem(kind, ["blobs": ["x"]])?.field == "body.blobs[0]")
        #expect(self.problem(kind, ["text": 1])?.field == "body.text")
    }

    @Test(arguments: [
        ("a", "a"), ("  a \n\n b  ", "a b"), ("\t", ""), (String(repeating: "a", count: 160), String(repeating: "a", count: 159) + "…"),
        (String(repeating: "a", count: 159), String(repeating: "a", count: 159)),
        (String(repeating: "鸟", count: 200), String(repeating: "鸟", count: 159) + "…"),
    ])
    func previewsAreOneShortLine(text: String, expected: String) {
        #expect(PreviewText.shortened(text) == expected)
        #expect(PreviewText.shortened(text).unicodeScalars.count <= ChatLimits.previewLength)
    }

    @Test func previewOfAnEvent() throws {
        let id = try #require(ClientID("m"))
        var event = ChatEvent(
            conversation: ConversationID(number: 1), seq: 4, n: 2, sender: UserName("bob"), id: id, at: 9, kind: .text,
            body: ["text": "a\nb"])
        #expect(ChatKinds.preview(of: event) == EventPreview(seq: 4, n: 2, sender: UserName("bob"), at: 9, kind: .text, text: "a b"))
        event.kind = .call
        event.body = CallBody(media: .video, state: .ended, duration: 151_000).json.objectValue ?? [:]
        #expect(ChatKinds.preview(of: event).call == .ended && ChatKinds.preview(of: event).duration == 151_000)
        let blob = try #require(BlobID(String(repeating: "a", count: 64)))
        event.kind = .audio
        event.body = AudioBody(blob: blob, size: 1, type: "audio/ogg", duration: 12_000, isVoice: true).json.objectValue ?? [:]
        #expect(ChatKinds.preview(of: event).isVoice && ChatKinds.preview(of: event).duration == 12_000)
        event.state = .recalled
        #expect(!ChatKinds.preview(of: event).isVoice && ChatKinds.preview(of: event).duration == nil)
        #expect(ChatKinds.preview(of: event).text == nil && ChatBody(event) == nil)
        event.kind = .memberJoin
        event.state = .normal
        event.body = ["users": .array((1...12).map { .string("user\($0)") })]
        #expect(ChatKinds.preview(of: event).users.count == ChatLimits.previewUsers)
    }

    @Test func searchTextHasAllWords() throws {
        let poll = try ChatBody(kind: .poll, body: ["question": "When?", "options": ["Tuesday", "Friday"]])
        #expect(poll.searchText == "When?\nTuesday\nFriday" && poll.previewText == "When?")
        let file = try ChatBody(
            kind: .file, body: ["blob": .string(Self.blob), "name": "Plan.pdf", "size": 1, "type": "application/pdf", "text": "For you"])
        #expect(file.searchText == "For you\nPlan.pdf" && file.previewText == "For you")
        let bundle = try ChatBody(
            kind: .bundle,
            body: [
                "title": "Plans",
                "items": [["at": 1, "kind": "text", "body": ["text": "At six"]], ["at": 2, "kind": "sticker", "body": [:]]],
            ])
        #expect(bundle.searchText == "At six" && bundle.previewText == "Plans" && bundle.blobs.isEmpty)
    }
}

extension ChatKindsTests {
    @Test(arguments: [
        ("a b", "a b"), (" a", "a"), ("a ", "a"), ("a  b", "a b"), ("a\u{B}b", "a b"), ("a\u{A0}b", "a b"), ("a\u{1}b", "a\u{1}b"),
        ("", ""), ("é", "é"),
        (String(repeating: "ab ", count: 80), String(repeating: "ab ", count: 53) + "…"),
    ])
    func shortLinesStayAsTheyAre(text: String, expected: String) {
        #expect(PreviewText.shortened(text) == expected)
    }
}
