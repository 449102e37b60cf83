import ApusChatProtocol
import ApusJSON
import Testing

/// The names and media types of files, which a client stores and opens, in each kind with a file.
@Suite("Names and types of files")
struct FileNameTests {
    /// A complete body of each kind with a file.
    private static let bodies: [(kind: EventKind, body: JSONObject)] = [
        (.image, ["blob": Wire.hash, "width": 1, "height": 1, "size": 1, "type": "image/png"]),
        (.audio, ["blob": Wire.hash, "size": 1, "type": "audio/ogg", "duration": 0]),
        (.video, ["blob": Wire.hash, "width": 1, "height": 1, "size": 1, "type": "video/mp4", "duration": 0]),
        (.file, ["blob": Wire.hash, "name": "a", "size": 0, "type": "application/zip"]),
    ]

    private func problem(_ kind: EventKind, _ body: JSONObject) -> WireError? {
        do throws(WireError) {
            _ = try ChatKinds.accept(kind: kind, body: body)
            return nil
        } catch { return error }
    }

    @Test(arguments: [
        "/", "\\", "a/b", "/etc/passwd", "..\\x", "C:\\x", "../x", "x/..", ".", "..", "a\u{0}", "a\n", "\u{1B}[2J", "\u{7F}", "a\u{85}b",
        "",
    ])
    func aNameOfAPathIsRefused(name: String) {
        for (kind, body) in Self.bodies {
            var named = body
            named["name"] = .string(name)
            let error = self.problem(kind, named)
            #expect(error?.field == "body.name" && error?.problem == .invalid, "\(kind): \(String(describing: error))")
        }
    }

    @Test(arguments: [
        "a", "a.b.c", "...", ".bashrc", "a b", " ", "COM1", "a:b", "a*?", "图片.png", "تقرير.pdf", "é", "e\u{301}", "👩‍👩‍👧.gif", "%2F", "~",
        "$(x)", "-rf", String(repeating: "鸟", count: 255),
    ])
    func anyOtherNameIsKept(name: String) throws {
        for (kind, body) in Self.bodies {
            var named = body
            named["name"] = .string(name)
            let stored = try ChatKinds.accept(kind: kind, body: named).fields["name"]?.stringValue
            #expect(stored?.utf8.elementsEqual(name.utf8) == true, "\(kind): \(stored ?? "none")")
        }
    }

    /// RFC 6838 section 4.2, in lower case and without parameters.
    @Test(arguments: [
        "", "/", "a", "a/", "/a", "a/b/c", "a//b", "A/b", "a/B", "a b/c", "a/b;c=d", "a/b ", " a/b", "a/é", "a/b\n", "a/b\u{0}", "*/*",
        "a/*",
        "a/\"", "a/<script>", "text/html,x",
    ])
    func aTypeOfAnotherSyntaxIsRefused(type: String) {
        for (kind, body) in Self.bodies {
            var typed = body
            typed["type"] = .string(type)
            #expect(self.problem(kind, typed)?.field == "body.type", "\(kind)")
        }
    }

    /// The media type must belong to the kind, because clients choose by the kind how to show a
    /// file.
    @Test func aTypeBelongsToItsKind() {
        let types = ["image/png", "image/svg+xml", "audio/ogg", "audio/vnd.x-1.2", "video/mp4", "text/plain", "application/octet-stream"]
        let prefixes: [EventKind: String] = [.image: "image/", .audio: "audio/", .video: "video/", .file: ""]
        for (kind, body) in Self.bodies {
            for type in types {
                var typed = body
                typed["type"] = .string(type)
                let isOfKind = type.hasPrefix(prefixes[kind] ?? "")
                #expect((self.problem(kind, typed) == nil) == isOfKind, "\(kind) \(type)")
            }
        }
    }

    /// The numbers of each kind at their limits and beyond, by the table of `docs/chat-wire.md`.
    @Test(
        arguments: [
            ("image", "width", 1, 16_384), ("image", "height", 1, 16_384), ("image", "size", 1, 1 << 40), ("audio", "size", 1, 1 << 40),
            ("audio", "duration", 0, 86_400_000), ("video", "width", 1, 16_384), ("video", "height", 1, 16_384),
            ("video", "size", 1, 1 << 40), ("video", "duration", 0, 86_400_000), ("file", "size", 0, 1 << 40),
        ] as [(String, String, Int64, Int64)])
    func numbersHaveTheirRange(kind: String, field: String, least: Int64, most: Int64) throws {
        let kind = EventKind(rawValue: kind)
        var body = try #require(Self.bodies.first { $0.kind == kind }?.body)
        for (value, isValid) in [
            (JSONValue.integer(least), true), (.integer(most), true), (.double(Double(most)), true), (.integer(least - 1), false),
            (.integer(most + 1), false), (.double(Double(least) + 0.5), false), (.integer(.max), false), (.integer(.min), false),
            (.double(1e300), false), (.double(-.infinity), false), ("1", false), (true, false), (nil, false), ([1], false),
        ] {
            body[field] = value
            let error = self.problem(kind, body)
            #expect((error == nil) == isValid && (isValid || error?.field == "body." + field), "\(value)")
        }
    }
}
