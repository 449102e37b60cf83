import ApusChatProtocol
import ApusJSON
import Testing

/// The fields of the bodies of messages, and the form in which the server stores a sent body.
@Suite struct BodyFieldsTests {
    private let entities = [TextEntity(kind: .bold, offset: 0, length: 2)]
    private let entitiesJSON: JSONValue = [["type": "bold", "offset": 0, "length": 2]]
    private let forwarded = ForwardedFrom(sender: Wire.bob, nick: "B", at: 9)
    private let forwardedJSON: JSONValue = ["sender": "bob", "nick": "B", "at": 9]

    /// Checks that a body is written as its fields and read from them, as its own type and as a
    /// `ChatBody`.
    private func check<Body: WireObject & Equatable>(
        _ kind: EventKind, _ body: Body, _ wrap: (Body) -> ChatBody, _ json: JSONValue, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try Wire.check(body, json, sourceLocation: sourceLocation)
        let fields = try #require(json.objectValue)
        #expect(try ChatBody(kind: kind, body: fields) == wrap(body), sourceLocation: sourceLocation)
        #expect(wrap(body).kind == kind && wrap(body).fields == fields, sourceLocation: sourceLocation)
    }

    @Test func texts() throws {
        try self.check(
            .text,
            TextBody(
                text: "hi there", entities: self.entities,
                preview: LinkPreview(
                    url: "https://a.test", title: "T", text: "D", site: "S", blob: try Wire.blob(), width: 3, height: 4),
                forwarded: self.forwarded), ChatBody.text,
            [
                "text": "hi there", "entities": self.entitiesJSON,
                "preview": [
                    "url": "https://a.test", "title": "T", "text": "D", "site": "S", "blob": Wire.hash, "width": 3, "height": 4,
                ], "forwarded": self.forwardedJSON,
            ])
        try self.check(.text, TextBody(text: "hi"), ChatBody.text, ["text": "hi"])
    }

    @Test func pictures() throws {
        try self.check(
            .image,
            ImageBody(
                blob: try Wire.blob(), width: 3, height: 4, size: 5, type: "image/png", thumb: "AAAA", name: "a.png", album: "al",
                text: "hi there", entities: self.entities, forwarded: self.forwarded), ChatBody.image,
            [
                "blob": Wire.hash, "width": 3, "height": 4, "size": 5, "type": "image/png", "thumb": "AAAA", "name": "a.png",
                "album": "al", "text": "hi there", "entities": self.entitiesJSON, "forwarded": self.forwardedJSON,
            ])
        try self.check(
            .image, ImageBody(blob: try Wire.blob(), width: 3, height: 4, size: 5, type: "image/png"), ChatBody.image,
            ["blob": Wire.hash, "width": 3, "height": 4, "size": 5, "type": "image/png"])
    }

    @Test func sounds() throws {
        try self.check(
            .audio,
            AudioBody(
                blob: try Wire.blob(), size: 5, type: "audio/ogg", duration: 6, isVoice: true, wave: "AAAA", name: "a.ogg",
                text: "hi there", entities: self.entities, forwarded: self.forwarded), ChatBody.audio,
            [
                "blob": Wire.hash, "size": 5, "type": "audio/ogg", "duration": 6, "voice": true, "wave": "AAAA", "name": "a.ogg",
                "text": "hi there", "entities": self.entitiesJSON, "forwarded": self.forwardedJSON,
            ])
    }

    @Test func films() throws {
        try self.check(
            .video,
            VideoBody(
                blob: try Wire.blob(), width: 3, height: 4, size: 5, type: "video/mp4", duration: 6, poster: try Wire.otherBlob(),
                thumb: "AAAA", name: "a.mp4", album: "al", text: "hi there", entities: self.entities, forwarded: self.forwarded),
            ChatBody.video,
            [
                "blob": Wire.hash, "width": 3, "height": 4, "size": 5, "type": "video/mp4", "duration": 6, "poster": Wire.otherHash,
                "thumb": "AAAA", "name": "a.mp4", "album": "al", "text": "hi there", "entities": self.entitiesJSON,
                "forwarded": self.forwardedJSON,
            ])
    }

    @Test func files() throws {
        try self.check(
            .file,
            FileBody(
                blob: try Wire.blob(), name: "a.pdf", size: 5, type: "application/pdf", text: "hi there", entities: self.entities,
                forwarded: self.forwarded), ChatBody.file,
            [
                "blob": Wire.hash, "name": "a.pdf", "size": 5, "type": "application/pdf", "text": "hi there",
                "entities": self.entitiesJSON, "forwarded": self.forwardedJSON,
            ])
    }

    @Test func placesAndUsers() throws {
        try self.check(
            .location,
            LocationBody(latitude: 48.5, longitude: -2.25, accuracy: 3.5, name: "N", address: "A", forwarded: self.forwarded),
            ChatBody.location,
            [
                "latitude": 48.5, "longitude": -2.25, "accuracy": 3.5, "name": "N", "address": "A", "forwarded": self.forwardedJSON,
            ])
        try self.check(
            .card, CardBody(user: Wire.carol, nick: "C", forwarded: self.forwarded), ChatBody.card,
            ["user": "carol", "nick": "C", "forwarded": self.forwardedJSON])
    }

    @Test func polls() throws {
        try self.check(
            .poll,
            PollBody(
                question: "Q", options: ["A", "B"], allowsMultiple: true, isAnonymous: true, closesAt: 7, isClosed: true,
                forwarded: self.forwarded), ChatBody.poll,
            [
                "question": "Q", "options": ["A", "B"], "multiple": true, "anonymous": true, "closes_at": 7, "closed": true,
                "forwarded": self.forwardedJSON,
            ])
        try self.check(
            .poll, PollBody(question: "Q", options: ["A", "B"], isAnonymous: true), ChatBody.poll,
            ["question": "Q", "options": ["A", "B"], "anonymous": true])
    }

    @Test func messagesOfTheServer() throws {
        try self.check(
            .call, CallBody(media: .video, state: .ended, duration: 6, backend: "livekit"), ChatBody.call,
            ["media": "video", "state": "ended", "duration": 6, "backend": "livekit"])
        try self.check(
            .bundle,
            BundleBody(title: "T", items: [BundleItem(sender: Wire.bob, nick: "B", at: 3, kind: .text, body: ["text": "x"])]),
            ChatBody.bundle,
            ["title": "T", "items": [["sender": "bob", "nick": "B", "at": 3, "kind": "text", "body": ["text": "x"]]]])
        try self.check(.encrypted, EncryptedBody(epoch: 3, data: "AAAA"), ChatBody.encrypted, ["epoch": 3, "data": "AAAA"])
    }

    @Test func bodiesOfApplicationsKeepTheirFields() throws {
        let fields: JSONObject = ["anything": [1, "two", ["three": .null]], "text": "e4"]
        let kind = EventKind(rawValue: "x.game")
        let body = try ChatBody(kind: kind, body: fields)
        #expect(body == .custom(CustomBody(kind: kind, fields: fields)) && body.fields == fields && body.kind == kind)
    }

    // MARK: Sent bodies

    /// The fields that only the server sets, and unknown ones, are removed.
    @Test(
        arguments: [
            ("text", ["text": "x"], ["forwarded": ["at": 1], "preview": ["url": "https://a.test", "title": "T"], "later": 1]),
            (
                "poll", ["question": "Q", "options": ["A", "B"]],
                ["closed": true, "forwarded": ["at": 1], "votes": [9, 9]]
            ),
            ("card", ["user": "bob"], ["forwarded": ["sender": "carol", "at": 1], "later": "x"]),
            ("location", ["latitude": 1.5, "longitude": 2.5], ["forwarded": ["at": 1]]),
        ] as [(String, JSONObject, JSONObject)])
    func fieldsOfTheServerAreRemoved(kind: String, body: JSONObject, added: JSONObject) throws {
        var sent = body
        for (name, value) in added { sent[name] = value }
        let accepted = try ChatKinds.accept(kind: EventKind(rawValue: kind), body: sent)
        #expect(JSONValue.object(accepted.fields) == .object(body))
    }

    @Test(arguments: ["call", "bundle", "encrypted", "hidden", "edit", "recall", "member.join", "conversation.set", "later", "x"])
    func otherKindsAreNotSent(kind: String) {
        let error = #expect(throws: WireError.self) { try ChatKinds.accept(kind: EventKind(rawValue: kind), body: ["text": "x"]) }
        #expect(error?.problem == .unsupported && error?.field == "kind")
    }

    @Test func theReferencesOfABodyAreFound() throws {
        let video = try ChatKinds.accept(
            kind: .video,
            body: [
                "blob": Wire.hash, "width": 3, "height": 4, "size": 5, "type": "video/mp4", "duration": 6, "poster": Wire.otherHash,
            ])
        #expect(Set(video.blobs) == [try Wire.blob(), try Wire.otherBlob()])
        let text = try ChatKinds.accept(
            kind: .text,
            body: [
                "text": "@bob @carol @bob @all",
                "entities": [
                    ["type": "mention", "offset": 0, "length": 4, "user": "bob"],
                    ["type": "mention", "offset": 5, "length": 6, "user": "carol"],
                    ["type": "mention", "offset": 12, "length": 4, "user": "bob"], ["type": "all", "offset": 17, "length": 4],
                ],
            ])
        #expect(Set(text.mentions) == [Wire.bob, Wire.carol] && text.mentionsAll && text.blobs.isEmpty)
    }

    // MARK: Previews

    /// Each case is a kind, a body, and its text in a list of conversations.
    @Test(
        arguments: [
            ("text", ["text": "hello\nthere"], "hello"), ("image", ["text": "caption", "name": "a.png"], "caption"),
            ("image", ["name": "a.png"], nil), ("file", ["name": "a.pdf"], "a.pdf"), ("location", ["name": "Paris"], "Paris"),
            ("card", ["user": "carol", "nick": "Carol"], "Carol"), ("poll", ["question": "When?", "options": ["A", "B"]], "When?"),
            ("bundle", ["title": "Plans"], "Plans"),
        ] as [(String, JSONObject, String?)])
    func aPreviewHasTheWordsOfItsKind(kind: String, fields: JSONObject, start: String?) {
        var body = fields
        switch kind {
        case "image": for (name, value) in Self.image where body[name] == nil { body[name] = value }
        case "file": for (name, value) in Self.file where body[name] == nil { body[name] = value }
        case "location": (body["latitude"], body["longitude"]) = (1.5, 2.5)
        case "bundle": body["items"] = [["at": 1, "kind": "text", "body": ["text": "x"]]]
        default: break
        }
        let event = ChatEvent(
            conversation: Wire.room, seq: 9, n: 4, sender: Wire.bob, id: nil, at: 5, kind: EventKind(rawValue: kind), body: body)
        let preview = ChatKinds.preview(of: event)
        if let start { #expect(preview.text?.hasPrefix(start) == true, "\(preview.text ?? "none")") }
        #expect(preview.seq == 9 && preview.n == 4 && preview.sender == Wire.bob && preview.at == 5)
        #expect((preview.text ?? "").unicodeScalars.count <= ChatLimits.previewLength)
    }

    private static let image: JSONObject = [
        "blob": .string(String(repeating: "0f", count: 32)), "width": 3, "height": 4, "size": 5, "type": "image/png",
    ]
    private static let file: JSONObject = [
        "blob": .string(String(repeating: "0f", count: 32)), "name": "a.pdf", "size": 5, "type": "application/pdf",
    ]

    @Test func previewsOfCallsAndVoiceMessages() {
        func preview(_ kind: EventKind, _ body: JSONObject, _ state: EventState = .normal) -> EventPreview {
            ChatKinds.preview(
                of: ChatEvent(
                    conversation: Wire.room, seq: 9, n: 4, sender: Wire.bob, id: nil, at: 5, kind: kind, state: state, body: body))
        }
        let call = preview(.call, ["media": "video", "state": "ended", "duration": 6])
        #expect(call.call == .ended && call.duration == 6 && !call.isVoice && call.text == nil)
        let voice = preview(.audio, ["blob": Wire.hash, "size": 5, "type": "audio/ogg", "duration": 7, "voice": true])
        #expect(voice.isVoice && voice.duration == 7 && voice.call == nil)
        let recalled = preview(.text, [:], .recalled)
        #expect(recalled.state == .recalled && recalled.text == nil)
        let joined = preview(.memberJoin, ["users": ["bob", "a b", "carol"], "via": "link"])
        #expect(joined.users == [Wire.bob, Wire.carol], "a name that is not valid is omitted")
    }
}

extension EventKind {
    fileprivate static let memberJoin = EventKind(rawValue: "member.join")
}
