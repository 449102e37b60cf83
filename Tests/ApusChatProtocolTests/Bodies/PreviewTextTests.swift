import ApusChatProtocol
import ApusJSON
import ApusSeededRandom
import Testing

/// The line of a list: one line of at most 160 scalars.
@Suite("Lines of lists")
struct PreviewTextTests {
    /// Returns the line by its definition: the words with one space between them, and an ellipsis
    /// for what does not fit.
    private func line(of text: String) -> String {
        let words = text.unicodeScalars.split { $0.properties.isWhitespace }
        var joined: [Unicode.Scalar] = []
        for word in words { joined += (joined.isEmpty ? [] : [" "]) + Array(word) }
        var line = String.UnicodeScalarView()
        line.append(contentsOf: joined.count < ChatLimits.previewLength ? joined : joined.prefix(ChatLimits.previewLength - 1) + ["…"])
        return String(line)
    }

    private static let scalars = Array(
        "abc    \n\t\r\u{B}\u{85}\u{A0}\u{2003}\u{2028}\u{3000}é鸟👍\u{301}\u{200D}\u{0}\u{200B}\u{FEFF}".unicodeScalars)

    @Test func aLineHasTheWordsOfItsText() {
        var generator = SplitMix64(state: 71)
        for _ in 0..<3_000 {
            var text = String.UnicodeScalarView()
            // Lengths around the limit are frequent.
            let length =
                Bool.random(using: &generator) ? Int.random(in: 0..<20, using: &generator) : Int.random(in: 150..<260, using: &generator)
            let isPlain = Bool.random(using: &generator)
            for _ in 0..<length {
                text.append(
                    isPlain
                        ? ["a", "b", " "].randomElement(using: &generator) ?? "a" : Self.scalars.randomElement(using: &generator) ?? "a")
            }
            let line = PreviewText.shortened(String(text))
            #expect(line.unicodeScalars.elementsEqual(self.line(of: String(text)).unicodeScalars), "\(String(text).debugDescription)")
            #expect(PreviewText.shortened(line).unicodeScalars.elementsEqual(line.unicodeScalars), "a line is its own line")
        }
    }

    /// The end of a text at the limit. White space at the end does not count as text that exceeds
    /// the limit.
    @Test(arguments: [
        (159, "", false), (159, " ", false), (159, "\n\n \t", false), (159, "b", true), (159, " b", true), (160, "", true),
        (158, "b", false),
        (158, " ", false), (158, " b", true), (157, " b", false), (157, " b\u{3000}", false),
    ])
    func anEllipsisMeansThatTextFollows(count: Int, end: String, isCut: Bool) {
        for letter in ["a", "鸟"] {
            let line = PreviewText.shortened(String(repeating: letter, count: count) + end)
            #expect(
                line.hasSuffix("…") == isCut && line.unicodeScalars.count <= ChatLimits.previewLength,
                "\(letter) \(count) \(end.debugDescription)")
        }
    }

    @Test func aTextOfSpaceHasNoLine() {
        for text in ["", " ", "\n\t", "\u{3000}\u{A0}", String(repeating: " ", count: 10_000)] { #expect(PreviewText.line(text) == nil) }
        #expect(PreviewText.line(nil) == nil && PreviewText.line(" a ") == "a")
    }

    /// The longest texts of each kind have a preview that its own reader accepts.
    @Test(
        arguments: [
            ("text", ["text": "T"], 8_000), ("poll", ["question": "T", "options": ["a", "b"]], 300),
            ("location", ["latitude": 1, "longitude": 2, "name": "T"], 100),
            ("location", ["latitude": 1, "longitude": 2, "address": "T"], 300),
            ("x.app", ["text": "T"], 8_000), ("bundle", ["title": "T", "items": []], 100),
        ] as [(String, JSONObject, Int)])
    func longTextsHaveAPreview(kind: String, fields: JSONObject, length: Int) throws {
        for scalar in ["鸟", "👍", " a", "\u{301}"] {
            var body = fields
            for (name, value) in fields where value == "T" {
                body[name] = .string(String(String(repeating: scalar, count: length).unicodeScalars.prefix(length)))
            }
            let event = ChatEvent(
                conversation: Wire.room, seq: 1, n: 1, sender: Wire.bob, id: nil, at: 1, kind: EventKind(rawValue: kind), body: body)
            let preview = ChatKinds.preview(of: event)
            #expect(preview.text != nil)
            #expect(try EventPreview(json: preview.json) == preview)
        }
    }

    /// A removed message has no preview text, whatever its stored body.
    @Test(arguments: [EventState.recalled, .expired, .erased])
    func aRemovedMessageHasNoText(state: EventState) {
        let messages: [(EventKind, JSONObject)] = [
            (.text, ["text": "secret"]), (.poll, ["question": "secret", "options": ["a", "b"]]),
            (.card, ["user": "bob", "nick": "secret"]),
            (EventKind(rawValue: "x.app"), ["text": "secret"]), (.call, ["media": "audio", "state": "ended", "duration": 1]),
        ]
        for (kind, body) in messages {
            let event = ChatEvent(
                conversation: Wire.room, seq: 1, n: 1, sender: Wire.bob, id: nil, at: 1, kind: kind, state: state, body: body)
            let preview = ChatKinds.preview(of: event)
            #expect(preview.text == nil && preview.call == nil && preview.duration == nil && preview.state == state, "\(kind)")
        }
    }
}
