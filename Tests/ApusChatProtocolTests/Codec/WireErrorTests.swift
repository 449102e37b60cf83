import ApusChatProtocol
import ApusJSON
import Testing

/// The paths of errors, the codes of refusals, and values that readers compare byte by byte.
@Suite("Errors of readers")
struct WireErrorTests {
    private func reader(_ fields: JSONObject) -> WireReader { WireReader(fields) }

    // MARK: Paths

    @Test(arguments: [
        ("", "a", "a"), ("b", "a", "a.b"), ("b.c", "a", "a.b.c"), ("[0]", "a", "a[0]"), ("[0].b", "a", "a[0].b"), ("b[2]", "a", "a.b[2]"),
    ])
    func aPathBeginsWithTheOuterField(inner: String, outer: String, path: String) {
        let error = WireError(.missing, field: inner, rule: "is required")
        #expect(error.under(outer) == WireError(.missing, field: path, rule: "is required"))
    }

    @Test func aPathHasTheIndicesOfItsLists() {
        let error = WireError(.invalid, field: "", rule: "r").under(index: 3).under("rows").under(index: 0).under("table")
        #expect(error.field == "table[0].rows[3]" && error.message == "`table[0].rows[3]` r")
    }

    /// The path of an error of the deepest object of the protocol.
    @Test func aPathHasAnyDepth() {
        let user: JSONValue = ["name": "bob", "nick": ""]
        let head: JSONValue = ["conv": Wire.conv, "kind": "pair", "seq": 0, "n": 0, "at": 0, "peer": user]
        let hello: JSONObject = [
            "version": 1, "limits": HelloLimits().json, "epoch": "e", "at": 1, "user": ["name": "bob"], "device": "0000000000005",
            "self": Wire.conv, "sync": ["heads": [head], "token": "t"],
        ]
        #expect(Wire.refusal(HelloAnswer.self, hello) == WireError(.invalid, field: "sync.heads[0].peer.nick", rule: Rule.filled))
    }

    // MARK: Refusals

    @Test(arguments: [
        (WireError.Problem.missing, ChatError.Code.badRequest), (.invalid, .badRequest), (.tooLarge, .tooLarge),
        (.unsupported, .unsupported),
    ])
    func aProblemHasItsCode(problem: WireError.Problem, code: ChatError.Code) {
        let refusal = ChatError(WireError(problem, field: "body.text", rule: "must be a string"))
        #expect(refusal == ChatError(code, message: "`body.text` must be a string", field: "body.text"))
        #expect(!refusal.code.isTemporary && refusal.retryAfter == nil)
    }

    /// The codes of errors and nothing else, by their names on the wire.
    @Test func codesHaveTheirNames() {
        let names = [
            "bad_request", "unauthorized", "forbidden", "not_found", "conflict", "too_large", "unsupported", "too_many", "limit",
            "too_late",
            "resync", "epoch", "storage", "unavailable", "internal", "unknown",
        ]
        #expect(ChatError.Code.allCases.map(\.rawValue) == names)
        for name in ["", "badRequest", "Forbidden", "forbidden ", "tooMany", "not-found"] {
            #expect(ChatError.Code(rawValue: name) == nil, "\(name)")
        }
        #expect(ChatError.Code.unknown.httpStatus == 500 && !ChatError.Code.unknown.isTemporary)
    }

    @Test(arguments: [
        (ChatError(.forbidden, message: ""), #"{"error":{"code":"forbidden","message":""}}"#),
        (ChatError(.tooMany, message: "M", retryAfter: 0), #"{"error":{"code":"too_many","message":"M","retry_after":0}}"#),
        (ChatError(.badRequest, message: "M", field: ""), #"{"error":{"code":"bad_request","message":"M","field":""}}"#),
        (ChatError(.unknown, message: "M"), #"{"error":{"code":"unknown","message":"M"}}"#),
    ])
    func anErrorOmitsAbsentFields(error: ChatError, text: String) throws {
        #expect(try error.json.jsonString() == text)
        #expect(try ChatError(json: JSONReader.read(text)) == error)
    }

    // MARK: Names of fields

    /// Names of fields are compared by their bytes: canonically equivalent names are two fields.
    @Test func equivalentNamesAreDifferentFields() throws {
        let reader = WireReader(try #require(try JSONReader.read(#"{"\u00e9":1,"e\u0301":2}"#).objectValue))
        #expect(try reader.integer("\u{E9}") == 1 && reader.integer("e\u{301}") == 2)
        #expect(try self.reader(["\u{E9}": 1]).integerIfPresent("e\u{301}") == nil)
        #expect(try self.reader(["\u{212A}": 1]).integerIfPresent("K") == nil)
    }

    // MARK: Numbers

    @Test(
        arguments: [
            (.double(-0.0), 0), (.double(9_007_199_254_740_991), 9_007_199_254_740_991), (.double(9_007_199_254_740_992), nil),
            (.double(.nan), nil), (.double(.infinity), nil), (.double(-.infinity), nil), (.double(0.999_999_999_999_999_9), nil),
            (.double(.leastNonzeroMagnitude), nil), ("", nil), (false, nil), ([1], nil), (["a": 1], nil), (.binary([1]), nil),
        ] as [(JSONValue, Int64?)])
    func anIntegerIsExact(value: JSONValue, number: Int64?) {
        #expect((try? self.reader(["a": value]).integer("a")) == number)
        #expect((try? self.reader(["a": [value]]).integers("a", maximum: 1)) == number.map { [$0] })
    }

    @Test(
        arguments: [
            (1.5, true), (.integer(2), true), (2.000_000_1, false), (-1.5, true), (-1.500_000_1, false), (.double(.nan), false),
            (.double(.infinity), false), ("1", false), (true, false), (.integer(.max), false), ([], false),
        ] as [(JSONValue, Bool)])
    func aNumberIsInItsRange(value: JSONValue, isRead: Bool) {
        let error = isRead ? nil : WireError(.invalid, field: "a", rule: "must be a number from -1.5 to 2.0")
        var found: WireError?
        do throws(WireError) { _ = try self.reader(["a": value]).number("a", in: -1.5...2) } catch { found = error }
        #expect(found == error)
    }

    // MARK: Lists

    /// The number of elements is compared before an element is read.
    @Test(arguments: [(1, WireError.Problem.invalid), (2, nil), (4, nil), (5, .tooLarge)] as [(Int, WireError.Problem?)])
    func aListHasItsNumbers(count: Int, problem: WireError.Problem?) {
        var reads = 0
        var found: WireError?
        do throws(WireError) {
            _ = try self.reader(["a": Wire.list(7, count)]).list("a", minimum: 2, maximum: 4) { value throws(WireError) -> JSONValue in
                reads += 1
                return value
            }
        } catch { found = error }
        #expect(found?.problem == problem && reads == (problem == nil ? count : 0))
    }

    /// Reading stops at the first wrong element.
    @Test func theFirstWrongElementIsNamed() {
        let fields: JSONObject = ["users": ["bob", "a b", "", 7]]
        #expect(Wire.refusal(OwnUserBody.self, fields)?.problem == .tooLarge)
        var request = fields
        (request["id"], request["conv"]) = ("m", Wire.conv)
        #expect(Wire.refusal(MemberAddRequest.self, request) == WireError(.invalid, field: "users[1]", rule: Rule.user))
    }
}
