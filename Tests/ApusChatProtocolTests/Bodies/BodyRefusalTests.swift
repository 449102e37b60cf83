import ApusChatProtocol
import ApusJSON
import Testing

/// The errors of the body of each kind of message: the path, the problem and the rule.
@Suite("Refused bodies")
struct BodyRefusalTests {
    // MARK: Texts

    @Test(
        arguments: [
            .missing("text"), .invalid("text", "", Rule.filled), .invalid("text", 7, Rule.string), .invalid("text", ["x"], Rule.string),
            .invalid("text", " \n\t\u{3000}\u{2028}", "must contain a character other than white space"),
            .tooLarge("text", Wire.text(8_001), Rule.scalars(8_000)), .invalid("entities", ["type": "bold"], Rule.array),
            .invalid("entities", ["bold"], at: "entities[0]", Rule.object),
            .missing("entities", [["type": "bold", "length": 1]], at: "entities[0].offset"),
            .missing("entities", [["type": "bold", "offset": 0]], at: "entities[0].length"),
            .invalid("entities", [["type": "bold", "offset": -1, "length": 1]], at: "entities[0].offset", Rule.integer(0, 8_000)),
            .invalid("entities", [["type": "bold", "offset": 8_001, "length": 1]], at: "entities[0].offset", Rule.integer(0, 8_000)),
            .invalid("entities", [["type": "bold", "offset": 0, "length": 0]], at: "entities[0].length", Rule.integer(1, 8_000)),
            .invalid("entities", [["type": 1, "offset": 0, "length": 1]], at: "entities[0].type", Rule.string),
            .unsupported(
                "entities", [["type": "sparkle", "offset": 0, "length": 1]], at: "entities[0].type",
                "must be a type that this version supports"),
            .unsupported("entities", [["offset": 0, "length": 1]], at: "entities[0].type", "must be a type that this version supports"),
            .invalid(
                "entities", [["type": "bold", "offset": 2, "length": 4]], at: "entities[0].length",
                "must not make the range end after the text of 5 Unicode scalars"),
            .invalid(
                "entities", [["type": "bold", "offset": 2, "length": 1], ["type": "bold", "offset": 1, "length": 1]],
                at: "entities[1].offset", "must not be less than the offset of the previous entity"),
            .invalid(
                "entities", [["type": "bold", "offset": 0, "length": 3], ["type": "italic", "offset": 2, "length": 2]],
                at: "entities[1].length", "must not make the range end outside of a range that contains its start"),
            .invalid(
                "entities", [["type": "link", "offset": 0, "length": 1, "url": "javascript:x"]], at: "entities[0].url",
                "must be an absolute URL with one of the schemes http, https, mailto, tel, xmpp"),
            .invalid(
                "entities", [["type": "bold", "offset": 0, "length": 1, "url": "https://a.test"]], at: "entities[0].url",
                "must be absent unless the type is `link`"),
            .invalid(
                "entities", [["type": "all", "offset": 0, "length": 1, "user": "bob"]], at: "entities[0].user",
                "must be absent unless the type is `mention`"),
            .invalid(
                "entities", [["type": "code", "offset": 0, "length": 1, "language": "c"]], at: "entities[0].language",
                "must be absent unless the type is `pre`"),
            .invalid("entities", [["type": "link", "offset": 0, "length": 1, "url": ""]], at: "entities[0].url", Rule.filled),
            .tooLarge(
                "entities", [["type": "link", "offset": 0, "length": 1, "url": Wire.text(2_001)]], at: "entities[0].url",
                Rule.scalars(2_000)),
            .tooLarge(
                "entities", [["type": "pre", "offset": 0, "length": 1, "language": Wire.text(31)]], at: "entities[0].language",
                Rule.scalars(30)),
            .invalid("entities", [["type": "mention", "offset": 0, "length": 1, "user": "a b"]], at: "entities[0].user", Rule.user),
            .tooLarge("entities", Wire.list(["type": "bold", "offset": 0, "length": 1], 201), Rule.elements(200)),
            .tooLarge(
                "entities", Wire.list(["type": "mention", "offset": 0, "length": 1, "user": "bob"], 51), "must have at most 50 mentions"),
            .invalid("preview", "x", Rule.object), .missing("preview", ["title": "T"], at: "preview.url"),
            .missing("forwarded", ["sender": "bob"], at: "forwarded.at"),
            .invalid("forwarded", ["at": 1, "nick": ""], at: "forwarded.nick", Rule.filled),
        ] as [Refusal])
    func aTextNamesItsPath(refusal: Refusal) { refusal.check(.text, body: ["text": "hello"]) }

    /// A link and a mention need their value.
    @Test(arguments: [("link", "url", "is required for a link"), ("mention", "user", "is required for a mention")])
    func anEntityNeedsItsValue(kind: String, field: String, rule: String) {
        let body: JSONObject = ["text": "x", "entities": [["type": .string(kind), "offset": 0, "length": 1]]]
        #expect(Wire.refusal(.text, body: body) == WireError(.missing, field: "body.entities[0].\(field)", rule: rule))
    }

    // MARK: Pictures, recordings, videos and files

    private static let image: JSONObject = ["blob": Wire.hash, "width": 3, "height": 4, "size": 5, "type": "image/png"]
    private static let audio: JSONObject = ["blob": Wire.hash, "size": 5, "type": "audio/ogg", "duration": 6]
    private static let video: JSONObject = [
        "blob": Wire.hash, "width": 3, "height": 4, "size": 5, "type": "video/mp4", "duration": 6,
    ]
    private static let file: JSONObject = ["blob": Wire.hash, "name": "a.pdf", "size": 5, "type": "application/pdf"]
    private static let noPath = "must be a name without a path and without control characters"

    /// The fields that every kind with a file has.
    @Test(
        arguments: [
            .missing("blob"), .missing("size"), .missing("type"), .invalid("blob", "", Rule.blob), .invalid("blob", 1, Rule.blob),
            .invalid("blob", .string(String(repeating: "0F", count: 32)), Rule.blob), .invalid("type", "", Rule.filled),
            .tooLarge("type", .string("image/" + String(repeating: "a", count: 95)), Rule.scalars(100)), .invalid("name", "", Rule.filled),
            .tooLarge("name", Wire.text(256), Rule.scalars(255)), .invalid("name", "a/b", noPath), .invalid("name", "..", noPath),
            .invalid("text", "", Rule.filled), .tooLarge("text", Wire.text(2_001), Rule.scalars(2_000)),
            .invalid(
                "entities", [["type": "bold", "offset": 0, "length": 1]], at: "entities[0].length",
                "must not make the range end after the text of 0 Unicode scalars"),
            .missing("forwarded", [:], at: "forwarded.at"),
        ] as [Refusal])
    func aFileNamesItsWrongField(refusal: Refusal) {
        refusal.check(.image, body: Self.image)
        refusal.check(.audio, body: Self.audio)
        refusal.check(.video, body: Self.video)
        refusal.check(.file, body: Self.file)
    }

    @Test(
        arguments: [
            .missing("width"), .missing("height"), .invalid("width", 0, Rule.integer(1, 16_384)),
            .invalid("height", 16_385, Rule.integer(1, 16_384)),
            .invalid("thumb", "", Rule.filled), .tooLarge("thumb", Wire.text(201), Rule.scalars(200)), .invalid("album", "", Rule.filled),
            .tooLarge("album", Wire.text(37), Rule.scalars(36)), .invalid("size", 0, Rule.integer(1, 1_099_511_627_776)),
        ] as [Refusal])
    func aPictureAndAVideoNameTheirWrongField(refusal: Refusal) {
        refusal.check(.image, body: Self.image)
        refusal.check(.video, body: Self.video)
    }

    @Test(
        arguments: [
            .missing("duration"), .invalid("duration", -1, Rule.integer(0, 86_400_000)),
            .invalid("duration", 86_400_001, Rule.integer(0, 86_400_000)),
        ] as [Refusal])
    func aRecordingAndAVideoHaveADuration(refusal: Refusal) {
        refusal.check(.audio, body: Self.audio)
        refusal.check(.video, body: Self.video)
    }

    @Test(
        arguments: [
            .invalid("voice", 1, Rule.bool), .invalid("wave", "", Rule.filled), .tooLarge("wave", Wire.text(201), Rule.scalars(200)),
            .invalid("type", "video/ogg", "must be a media type in lower case that begins with `audio/`"),
        ] as [Refusal])
    func aRecordingNamesItsWrongField(refusal: Refusal) { refusal.check(.audio, body: Self.audio) }

    @Test(
        arguments: [
            .invalid("poster", "", Rule.blob),
            .invalid("type", "image/gif", "must be a media type in lower case that begins with `video/`"),
        ] as [Refusal])
    func aVideoNamesItsWrongField(refusal: Refusal) { refusal.check(.video, body: Self.video) }

    @Test(
        arguments: [
            .missing("name"), .invalid("type", "pdf", "must be a media type in lower case"),
            .invalid("size", -1, Rule.integer(0, 1_099_511_627_776)),
        ] as [Refusal])
    func aFileHasANameAndAnyType(refusal: Refusal) { refusal.check(.file, body: Self.file) }

    // MARK: Places, users and polls

    @Test(
        arguments: [
            .missing("latitude"), .missing("longitude"), .invalid("latitude", 90.5, "must be a number from -90.0 to 90.0"),
            .invalid("latitude", "48", "must be a number from -90.0 to 90.0"),
            .invalid("longitude", -180.5, "must be a number from -180.0 to 180.0"),
            .invalid("accuracy", -1, "must be a number from 0.0 to 1000000.0"),
            .invalid("accuracy", 1_000_001, "must be a number from 0.0 to 1000000.0"),
            .invalid("name", "", Rule.filled), .tooLarge("name", Wire.text(101), Rule.scalars(100)), .invalid("address", "", Rule.filled),
            .tooLarge("address", Wire.text(301), Rule.scalars(300)), .missing("forwarded", ["nick": "B"], at: "forwarded.at"),
        ] as [Refusal])
    func aPlaceNamesItsWrongField(refusal: Refusal) { refusal.check(.location, body: ["latitude": 1.5, "longitude": 2.5]) }

    @Test(
        arguments: [
            (-90, -180), (90, 180), (0, 0), (-0.0, -0.0), (89.999_999_9, 179.999_999_9), (.leastNonzeroMagnitude, -.leastNonzeroMagnitude),
        ] as [(Double, Double)])
    func aPlaceIsAnywhereOnEarth(latitude: Double, longitude: Double) throws {
        let body = try ChatKinds.accept(kind: .location, body: ["latitude": .double(latitude), "longitude": .double(longitude)])
        #expect(body.fields["latitude"]?.doubleValue == latitude && body.fields["longitude"]?.doubleValue == longitude)
    }

    @Test(
        arguments: [
            .missing("user"), .invalid("user", "@bob", Rule.user), .invalid("user", "", Rule.user), .invalid("nick", "", Rule.filled),
            .tooLarge("nick", Wire.text(51), Rule.scalars(50)),
        ] as [Refusal])
    func aCardNamesItsWrongField(refusal: Refusal) { refusal.check(.card, body: ["user": "bob"]) }

    private static let poll: JSONObject = ["question": "Q", "options": ["A", "B"]]

    @Test(
        arguments: [
            .missing("question"), .invalid("question", "", Rule.filled), .tooLarge("question", Wire.text(301), Rule.scalars(300)),
            .invalid("options", ["A"], "must have at least 2 elements"), .invalid("options", [], "must have at least 2 elements"),
            .invalid("options", ["A", "B", "A"], "must not repeat an option"),
            .invalid("options", ["\u{E9}", "e\u{301}"], "must not repeat an option"),
            .invalid("options", ["A", ""], at: "options[1]", Rule.filled),
            .invalid("options", ["A", 2], at: "options[1]", Rule.string),
            .tooLarge("options", ["A", Wire.text(101)], at: "options[1]", Rule.scalars(100)),
            .tooLarge("options", Wire.list("A", 21), Rule.elements(20)), .invalid("multiple", 1, Rule.bool),
            .invalid("anonymous", "no", Rule.bool),
            .invalid("closes_at", -1, Rule.count), .invalid("closes_at", "tomorrow", Rule.count),
        ] as [Refusal])
    func aPollNamesItsWrongField(refusal: Refusal) { refusal.check(.poll, body: Self.poll) }

    /// Options are compared as they are shown: case and space make another option.
    @Test(arguments: [["A", "a"], ["A", "A "], ["1", "１"], ["✓", "✔"]])
    func otherTextsAreOtherOptions(options: [String]) {
        #expect(Wire.refusal(.poll, body: ["question": "Q", "options": .array(options.map { .string($0) })]) == nil)
    }
}
