import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Testing

/// Bodies that a hostile client sends, or that a server of another version stores.
@Suite("Hostile bodies")
struct HostileBodyTests {
    private static let custom = EventKind(rawValue: "x.game.move")

    private func problem(_ kind: EventKind, _ body: JSONObject) -> WireError? {
        do throws(WireError) {
            _ = try ChatKinds.accept(kind: kind, body: body)
            return nil
        } catch { return error }
    }

    /// Returns a body with arrays or objects inside of each other, the body included.
    private func nested(_ levels: Int, arrays: Bool) -> JSONObject {
        var value: JSONValue = 1
        for _ in 1..<levels { value = arrays ? [value] : ["a": value] }
        return ["a": value]
    }

    /// A body that is stored is read again where an answer nests it deeper than the request did.
    @Test(arguments: [true, false])
    func aBodyIsNotNestedDeeperThanReadersAllow(arrays: Bool) throws {
        for levels in [1, 2, ChatLimits.customLevels] {
            let body = self.nested(levels, arrays: arrays)
            #expect(self.problem(Self.custom, body) == nil, "\(levels)")
            let event = ChatEvent(
                conversation: Wire.room, seq: 1, n: 1, sender: Wire.bob, id: nil, at: 1, kind: Self.custom, body: body)
            let bundle = BundleBody(title: "T", items: [BundleItem(at: 1, kind: Self.custom, body: body)])
            var outer = event
            outer.kind = .bundle
            outer.body = bundle.json.objectValue ?? [:]
            let answer = HistoryAnswer(conversation: Wire.room, events: [event, outer], seq: 1)
            let text = try JSONValue.array([answer.json]).jsonString()
            let read = try #require(try JSONReader.read(text).arrayValue?.first)
            #expect(try HistoryAnswer(json: read) == answer)
        }
        for levels in [ChatLimits.customLevels + 1, 128, 129, 500, 5_000] {
            #expect(self.problem(Self.custom, self.nested(levels, arrays: arrays))?.problem == .tooLarge, "\(levels)")
        }
    }

    /// Many values beside each other are not deep.
    @Test func aWideBodyIsNotDeep() {
        let wide: JSONObject = ["a": .array(Array(repeating: [[], [:]], count: 2_000))]
        #expect(self.problem(Self.custom, wide) == nil)
        let empty: JSONObject = [:]
        #expect(self.problem(Self.custom, empty) == nil)
    }

    @Test func theSizeMatchesTheWrittenText() throws {
        let frame = try JSONWriter.bytes(of: ["x": ""]).count
        for (letter, size) in [("a", 1), ("鸟", 3), ("\u{1}", 6), ("\"", 2)] {
            let fitting = (ChatLimits.customBytes - frame) / size
            #expect(self.problem(Self.custom, ["x": .string(String(repeating: letter, count: fitting))]) == nil, "\(letter)")
            let error = self.problem(Self.custom, ["x": .string(String(repeating: letter, count: fitting + 1))])
            #expect(error?.problem == .tooLarge && error?.field == "body", "\(letter)")
        }
    }

    @Test func uploadsOfAnApplicationAreCounted() throws {
        let blobs = (0...ChatLimits.customBlobs).map { index in
            let digits = String(index, radix: 16)
            return JSONValue.string(String(repeating: "0", count: 64 - digits.count) + digits)
        }
        let accepted = try ChatKinds.accept(kind: Self.custom, body: ["blobs": .array(Array(blobs.dropLast()))])
        #expect(accepted.blobs.count == ChatLimits.customBlobs && Set(accepted.blobs).count == ChatLimits.customBlobs)
        #expect(self.problem(Self.custom, ["blobs": .array(blobs)])?.problem == .tooLarge)
        #expect(self.problem(Self.custom, ["blobs": "x"])?.field == "body.blobs")
        #expect(self.problem(Self.custom, ["blobs": [nil]])?.field == "body.blobs[0]")
        #expect(
            self.problem(Self.custom, ["text": .string(String(repeating: "a", count: ChatLimits.textLength + 1))])?.field == "body.text")
        // A stored body of another version has no uploads, instead of an error.
        #expect(try ChatBody(kind: Self.custom, body: ["blobs": [1]]).blobs.isEmpty)
        #expect(try ChatBody(kind: Self.custom, body: ["text": ["a"]]).previewText == nil)
    }

    /// A bundle of bundles, which no server creates, is read without an error.
    @Test func bundlesInsideOfBundlesAreRead() throws {
        var body: JSONObject = ["title": "T", "items": [["at": 1, "kind": "text", "body": ["text": "needle"]]]]
        for _ in 0..<40 {
            body = ["title": "T", "items": [["at": 1, "kind": "bundle", "body": .object(body)]]]
        }
        let read = try ChatBody(kind: .bundle, body: body)
        #expect(read.searchText == "needle" && read.blobs.isEmpty && read.previewText == "T")
        #expect(self.problem(.bundle, body)?.field == "kind")
    }

    /// The same field twice: the last value counts, in the body as in its hash.
    @Test func theLastOfTwoFieldsCounts() throws {
        let body = try #require(try JSONReader.read(#"{"text":"first","text":"last"}"#).objectValue)
        #expect(try ChatKinds.accept(kind: .text, body: body).fields["text"] == "last")
        let text = try #require(try JSONReader.read(#"{"text":1,"text":"last"}"#).objectValue)
        #expect(self.problem(.text, text) == nil)
    }

    // MARK: Texts

    /// The lines of a list are never blank: the client shows the name of the kind instead.
    @Test(arguments: ["file", "image", "audio", "video", "location", "card", "poll", "x.a", "bundle"])
    func aBlankTextIsNotAPreview(kind: String) throws {
        let blank: JSONValue = " \n\u{3000}\t"
        let fields: [String: JSONObject] = [
            "file": ["blob": Wire.hash, "name": blank, "size": 1, "type": "a/b", "text": blank],
            "image": ["blob": Wire.hash, "width": 1, "height": 1, "size": 1, "type": "image/png", "text": blank],
            "audio": ["blob": Wire.hash, "size": 1, "type": "audio/ogg", "duration": 1, "name": blank, "text": blank],
            "video": ["blob": Wire.hash, "width": 1, "height": 1, "size": 1, "type": "video/mp4", "duration": 1, "text": blank],
            "location": ["latitude": 1, "longitude": 1, "name": blank], "card": ["user": "bob", "nick": blank],
            "poll": ["question": blank, "options": ["a", "b"]], "x.a": ["text": blank], "bundle": ["title": blank, "items": []],
        ]
        let body = try ChatBody(kind: EventKind(rawValue: kind), body: try #require(fields[kind]))
        #expect(body.previewText == nil)
    }

    @Test func aBlankCaptionGivesWayToTheName() throws {
        let file = try ChatBody(kind: .file, body: ["blob": Wire.hash, "name": "a.pdf", "size": 1, "type": "a/b", "text": "\n"])
        #expect(file.previewText == "a.pdf")
        let audio = try ChatBody(
            kind: .audio, body: ["blob": Wire.hash, "size": 1, "type": "audio/ogg", "duration": 1, "name": "song.ogg", "text": " "])
        #expect(audio.previewText == "song.ogg")
    }

    /// Each string of each kind of message at its limit and beyond it, by the path of its field.
    @Test(arguments: ChatReference.bodies.prefix(while: { $0.name != "edit" }).map(\.name))
    func stringsOfABodyHaveALimit(name: String) throws {
        let shape = try #require(ChatReference.bodies.first { $0.name == name })
        let kind = EventKind(rawValue: name)
        guard ChatKinds.sendable.contains(kind) else { return }
        let example = try #require(try JSONReader.read(shape.example).objectValue)
        for field in shape.fields {
            guard case .string(let range) = field.type, field.name != "type" else { continue }
            var body = example
            body["entities"] = nil
            body[field.name] = .string(String(repeating: "é", count: range.upperBound))
            #expect(self.problem(kind, body) == nil, "\(name).\(field.name)")
            body[field.name] = .string(String(repeating: "é", count: range.upperBound + 1))
            let error = self.problem(kind, body)
            #expect(error?.problem == .tooLarge && error?.field == "body." + field.name, "\(name).\(field.name)")
        }
    }

    /// Values that the fields of numbers do not accept, whatever the kind.
    @Test(arguments: ["latitude", "longitude", "accuracy"])
    func numbersOfAPlaceAreFinite(field: String) {
        for wrong in [.double(.nan), .double(.infinity), .double(-.infinity), .integer(.max), .integer(.min), "1", true, [], [:]]
            as [JSONValue]
        {
            var body: JSONObject = ["latitude": 1.5, "longitude": 2.5]
            body[field] = wrong
            #expect(self.problem(.location, body)?.field == "body." + field, "\(wrong)")
        }
    }
}
