import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Testing

/// Requests as the JSON text that a client sends: escapes, spellings of numbers, repeated names and
/// nesting, in each field of each request.
@Suite("Requests as JSON text")
struct WireTextTests {
    private static let requests = DescribedObject.all.filter(\.isRequest)

    /// The limits of the Socket.IO gateway and of the HTTP routes.
    private static let lenient = JSONReader.Limits(loneSurrogates: .replace)

    /// Returns the text of an object in which a field has a given JSON text.
    private static func text(of object: JSONObject, _ field: String, _ value: String) throws -> String {
        var object = object
        object[field] = "@@@"
        return try JSONValue.object(object).jsonString().replacing("\"@@@\"", with: value)
    }

    // MARK: Texts

    /// A lone surrogate becomes U+FFFD, so that each stored text is valid UTF-8. A field that does
    /// not accept the character is named.
    @Test(arguments: requests, [#""a\ud83db""#, #""\udc00""#, #""a\udc00\ud83d""#, #""\ud83d\u0041""#])
    func loneSurrogatesAreReplaced(object: DescribedObject, escape: String) throws {
        for field in object.fields {
            guard case .string(let range) = field.type else { continue }
            let text = try Self.text(of: try object.value(), field.name, escape)
            #expect(throws: JSONError.self, "\(field.name)") { try JSONReader.read(text) }
            let value = try JSONReader.read(text, limits: Self.lenient)
            let replaced = try #require(value[field.name]?.stringValue)
            #expect(replaced.contains("\u{FFFD}") && !replaced.utf8.isEmpty, "\(field.name)")
            do throws(WireError) {
                let written = try object.recode.run(value)
                #expect(written[field.name]?.stringValue == replaced, "\(field.name)")
            } catch {
                // A shown name cannot contain the character, and a password has a minimum length.
                let isRule = error.field == field.name || range.lowerBound > replaced.unicodeScalars.count
                #expect(isRule || ["old", "title", "user"].contains(error.field), "\(field.name): \(error)")
            }
        }
    }

    /// A pair of escapes is one scalar, which counts once against the limit of a text.
    @Test(arguments: requests) func escapedPairsCountAsOneScalar(object: DescribedObject) throws {
        for field in object.fields {
            // A request has an old password or a recovery code.
            guard case .string(let range) = field.type, range.upperBound <= 1_000, field.name != "recovery" else { continue }
            for (count, isAllowed) in [(range.upperBound, true), (range.upperBound + 1, false)] {
                let text = try Self.text(
                    of: try object.value(), field.name, "\"" + String(repeating: #"\ud83d\ude00"#, count: count) + "\"")
                let value = try JSONReader.read(text)
                do throws(WireError) {
                    _ = try object.recode.run(value)
                    #expect(isAllowed, "\(field.name)")
                } catch {
                    #expect(error.problem == .tooLarge && error.field == field.name && !isAllowed, "\(field.name): \(error)")
                }
            }
        }
    }

    // MARK: Numbers

    /// Spellings of one number, which a reader must not distinguish.
    @Test(arguments: requests) func spellingsOfANumberAreEqual(object: DescribedObject) throws {
        for field in object.fields {
            let number: Int64
            switch field.type {
            case .integer(let range): number = max(range.lowerBound, min(range.upperBound, 120))
            case .time: number = 1_790_000_000_000
            default: continue
            }
            func read(_ spelling: String) throws -> JSONValue? {
                let value = try JSONReader.read(try Self.text(of: try object.value(), field.name, spelling))
                return try? object.recode.run(value)
            }
            let plain = try read("\(number)")
            for spelling in ["\(number).0", "\(number).000", "\(number)e0", "\(number)E+0", "\(number)0e-1", "\(number * 10).0e-1"] {
                #expect(try read(spelling) == plain, "\(field.name) \(spelling)")
            }
        }
    }

    /// Numbers that are no integers of the protocol, as a client could write them.
    @Test(arguments: requests) func otherNumbersAreRefused(object: DescribedObject) throws {
        for field in object.fields {
            switch field.type {
            case .integer, .time: break
            default: continue
            }
            for spelling in ["1e17", "9007199254740992", "9007199254740993.0", "-1e-1", "1.0000001", "-9223372036854775809", "1e308"] {
                let value = try JSONReader.read(try Self.text(of: try object.value(), field.name, spelling))
                let error = #expect(throws: WireError.self, "\(field.name) \(spelling)") { try object.recode.run(value) }
                #expect(error?.problem == .invalid, "\(field.name) \(spelling): \(String(describing: error))")
            }
            // These are not JSON, or beyond `Double`.
            for spelling in ["1e400", "+1", "01", "0x1", ".5", "1.", "NaN", "Infinity", "1_000", "１"] {
                let text = try Self.text(of: try object.value(), field.name, spelling)
                #expect(throws: JSONError.self, "\(field.name) \(spelling)") { try JSONReader.read(text, limits: Self.lenient) }
            }
        }
    }

    // MARK: Structure

    /// The last of two fields with one name counts, as in JavaScript.
    @Test(arguments: requests) func theLastOfTwoNamesCounts(object: DescribedObject) throws {
        let value = try object.value()
        let plain = try object.recode.run(.object(value))
        for field in object.fields {
            guard let right = value[field.name] else { continue }
            let wrong = Samples.wrongType(field.type)
            let others = try JSONValue.object(value.filtered { $0 != field.name }).jsonString().dropFirst().dropLast()
            let pairs = [wrong, right].map { "\"\(field.name)\":" + ((try? $0.jsonString()) ?? "null") }
            let rest = others.isEmpty ? "" : "," + others
            #expect(try object.recode.run(try JSONReader.read("{" + pairs.joined(separator: ",") + rest + "}")) == plain, "\(field.name)")
            let reversed = "{" + pairs.reversed().joined(separator: ",") + rest + "}"
            #expect(throws: WireError.self, "\(field.name)") { try object.recode.run(try JSONReader.read(reversed)) }
        }
    }

    /// An unknown field may be nested as deep as the reader permits, and is then ignored.
    @Test(arguments: requests) func unknownFieldsMayBeDeep(object: DescribedObject) throws {
        let value = try object.value()
        let plain = try object.recode.run(.object(value))
        for (depth, isRead) in [(1, true), (127, true), (128, false), (600, false)] {
            for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
                let nested = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
                let text = try Self.text(of: value, "zz_later", nested)
                if isRead {
                    #expect(try object.recode.run(try JSONReader.read(text)) == plain, "\(depth)")
                } else {
                    #expect(throws: JSONError.self, "\(depth)") { try JSONReader.read(text) }
                }
            }
        }
    }

    /// Text that is not one JSON object.
    @Test(arguments: [
        "", " ", "{", "}", "{}}", "{} {}", "{\"a\":1,}", "{'a':1}", "{a:1}", "\u{FEFF}{}", "{\"a\":undefined}", "{\"a\" 1}", "nul",
        "{\"a\":\"\n\"}",
        "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{\"a\":\"\\uzzzz\"}", "// {}", "{\"a\":1}\u{0}",
    ])
    func anotherTextIsNotARequest(text: String) {
        #expect(throws: JSONError.self) { try JSONReader.read(text, limits: Self.lenient) }
    }

    // MARK: Errors

    /// The server sends each error of a reader to its client, which must be able to read it.
    @Test(arguments: DescribedObject.all) func eachErrorIsAnErrorOfTheWire(object: DescribedObject) throws {
        var errors: Set<String> = []
        for field in object.fields {
            for wrong in Samples.outside(field.type).map(\.value) + [Samples.wrongType(field.type), "zz_later", .null, [nil], [[:]]] {
                var value = try object.value()
                value[field.name] = wrong
                do throws(WireError) { _ = try object.recode.run(.object(value)) } catch {
                    let refusal = ChatError(error)
                    #expect(try ChatError(json: refusal.json) == refusal, "\(field.name)")
                    #expect(refusal.message.hasPrefix("`") || refusal.message.hasPrefix("The value "), "\(refusal.message)")
                    #expect(!refusal.message.contains("  ") && refusal.message.utf8.count < 400, "\(refusal.message)")
                    // The message names the field, and never repeats a value of the client.
                    #expect(error.field.isEmpty || refusal.message.contains("`\(error.field)`"), "\(refusal.message)")
                    #expect(!refusal.message.contains("zz_later"), "\(refusal.message)")
                    errors.insert(refusal.message)
                }
            }
        }
        #expect(object.fields.isEmpty || !errors.isEmpty)
    }

    /// Errors of a server of another version, or of no server of the chat.
    @Test(
        arguments: [
            (#"{"error":{"code":"forbidden"}}"#, ChatError(.forbidden, message: "")),
            (#"{"error":{"code":"later","message":"m","later":1}}"#, ChatError(.unknown, message: "m")),
            (#"{"error":{"message":"m"}}"#, ChatError(.unknown, message: "m")), (#"{"error":{}}"#, ChatError(.unknown, message: "")),
            (#"{"error":{"code":null,"retry_after":null}}"#, ChatError(.unknown, message: "")),
            (
                #"{"error":{"code":"too_many","message":"m","retry_after":9007199254740991}}"#,
                ChatError(.tooMany, message: "m", retryAfter: 9_007_199_254_740_991)
            ), (#"{"error":{"code":"too_many","retry_after":0}}"#, ChatError(.tooMany, message: "", retryAfter: 0)),
            (#"{"error":null}"#, nil), (#"{"error":"forbidden"}"#, nil), (#"{"error":["forbidden"]}"#, nil), ("{}", nil),
            (#"{"code":"forbidden"}"#, nil), (#"{"error":{"code":1}}"#, nil), (#"{"error":{"code":"x","message":1}}"#, nil),
            (#"{"error":{"code":"x","retry_after":-1}}"#, nil), (#"{"error":{"code":"x","retry_after":1.5}}"#, nil),
            (#"{"error":{"code":"x","retry_after":"1"}}"#, nil), (#"{"error":{"code":"x","field":["a"]}}"#, nil), ("[]", nil),
            ("null", nil),
        ] as [(String, ChatError?)])
    func errorsAreReadOrAreNone(text: String, error: ChatError?) throws {
        let value = try JSONReader.read(text)
        #expect((try? ChatError(json: value)) == error)
    }

    @Test func theMessageOfAnErrorHasALimit() {
        for (length, isRead) in [(ChatLimits.messageLength, true), (ChatLimits.messageLength + 1, false)] {
            let text = String(repeating: "鸟", count: length)
            for field in ["message", "field"] {
                let error = try? ChatError(json: ["error": ["code": "forbidden", field: .string(text)] as JSONValue])
                #expect((error != nil) == isRead, "\(field) \(length)")
            }
        }
    }

    /// The text of each rule, as a developer reads it.
    @Test func rulesAreSentences() throws {
        let fields: JSONObject = ["a": 7, "b": "text", "c": [1, 2, 3], "d": ["x"], "e": "", "f": "\u{1}", "n": nil]
        let reader = WireReader(fields)
        func text(_ read: (WireReader) throws(WireError) -> Void) -> String? {
            do throws(WireError) { try read(reader) } catch { return error.message }
            return nil
        }
        let cases: [(String, String?)] = [
            ("`z` is required", text { reader throws(WireError) in _ = try reader.integer("z") }),
            ("`n` is required", text { reader throws(WireError) in _ = try reader.string("n", maximum: 1) }),
            ("`z` is required", text { reader throws(WireError) in _ = try reader.flag("z") }),
            ("`z` is required", text { reader throws(WireError) in _ = try reader.free("z") }),
            ("`z` is required", text { reader throws(WireError) in _ = try reader.integers("z", minimum: 1, maximum: 2) }),
            ("`a` must be an integer from 1 to 5", text { reader throws(WireError) in _ = try reader.integer("a", in: 1...5) }),
            ("`b` must be a number from -1.0 to 1.5", text { reader throws(WireError) in _ = try reader.number("b", in: -1...1.5) }),
            ("`a` must be true or false", text { reader throws(WireError) in _ = try reader.bool("a") }),
            ("`a` must be a string", text { reader throws(WireError) in _ = try reader.string("a", maximum: 9) }),
            ("`b` must have at most 3 Unicode scalars", text { reader throws(WireError) in _ = try reader.string("b", maximum: 3) }),
            ("`e` must not be empty", text { reader throws(WireError) in _ = try reader.string("e", minimum: 1, maximum: 3) }),
            (
                "`b` must have at least 5 Unicode scalars",
                text { reader throws(WireError) in _ = try reader.string("b", minimum: 5, maximum: 9) }
            ), ("`a` must be an array", text { reader throws(WireError) in _ = try reader.strings("a", length: 1, maximum: 2) }),
            ("`c` must have at most 2 elements", text { reader throws(WireError) in _ = try reader.integers("c", maximum: 2) }),
            (
                "`d` must have at least 2 elements",
                text { reader throws(WireError) in _ = try reader.strings("d", length: 1, minimum: 2, maximum: 3) }
            ),
            (
                "`c[2]` must be an integer from 0 to 2",
                text { reader throws(WireError) in _ = try reader.integers("c", in: 0...2, maximum: 3) }
            ),
            ("`c[0]` must be a string", text { reader throws(WireError) in _ = try reader.strings("c", length: 1, maximum: 3) }),
            ("`a` must be an object", text { reader throws(WireError) in _ = try reader.free("a") }),
            ("`a` must be an object", text { reader throws(WireError) in _ = try reader.object("a", as: HelloLimits.self) }),
            (
                "`e` must have 1 to 64 visible ASCII characters",
                text { reader throws(WireError) in _ = try reader.text("e", as: ClientID.self) }
            ),
            (
                "`b` must be one of `audio`, `video`",
                text { reader throws(WireError) in _ = try reader.knownChoice("b", as: CallMedia.self) }
            ),
            (
                "`f` must contain a visible character, and no control, invisible or unassigned characters",
                text { reader throws(WireError) in _ = try reader.nickname("f", maximum: 9) }
            ), ("The value must be an object", text { _ throws(WireError) in _ = try WireReader(.array([])) }),
        ]
        for (expected, found) in cases { #expect(found == expected) }
    }
}

extension JSONObject {
    /// Returns the object with the fields whose names satisfy a condition.
    fileprivate func filtered(_ isKept: (String) -> Bool) -> JSONObject {
        JSONObject(self.filter { isKept($0.key) }.map { ($0.key, $0.value) })
    }
}
