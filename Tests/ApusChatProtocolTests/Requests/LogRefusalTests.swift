import ApusChatProtocol
import ApusJSON
import Testing

/// The errors and defaults of the requests for the log: parts, positions, tokens and searches.
@Suite("Refused requests for the log")
struct LogRefusalTests {
    // MARK: History

    private static let history: JSONObject = ["conv": Wire.conv]
    private static let oneRange = "must be the only one of `from`, `before` and `around`"

    @Test(
        arguments: [
            .invalid("from", 0, Rule.seq), .invalid("before", 0, Rule.seq), .invalid("around", 0, Rule.seq),
            .invalid("from", "3", Rule.seq), .invalid("before", 2.5, Rule.seq), .invalid("around", [3], Rule.seq),
            .invalid("before", 9_007_199_254_740_992, Rule.seq), .invalid("limit", 0, Rule.integer(1, 200)),
            .invalid("limit", 201, Rule.integer(1, 200)), .invalid("limit", "20", Rule.integer(1, 200)), .invalid("thread", 0, Rule.seq),
            .invalid("edits", 0, Rule.seq), .invalid("edits", true, Rule.seq),
        ] as [Refusal])
    func aPartOfTheLogNamesItsWrongField(refusal: Refusal) { refusal.check(HistoryRequest.self, Self.history) }

    @Test(
        arguments: [
            ["from": 3, "before": 9], ["from": 3, "around": 9], ["before": 3, "around": 9], ["from": 3, "before": 4, "around": 5],
        ] as [JSONObject])
    func twoPartsOfTheLogAreRefused(fields: JSONObject) {
        var request = fields
        request["conv"] = Wire.conv
        #expect(Wire.refusal(HistoryRequest.self, request) == WireError(.invalid, field: "from", rule: Self.oneRange))
    }

    /// A null is an absent field, also among fields of which a request has one.
    @Test func nullsDoNotNameAPart() throws {
        let request = try HistoryRequest(json: ["conv": Wire.conv, "from": nil, "before": 9, "around": nil, "thread": nil, "edits": 2])
        #expect(request.range == .before(9) && request.thread == nil && request.edits == 2)
    }

    @Test(arguments: [(1, 1), (199, 199), (200, nil)] as [(Int64, Int64?)])
    func theLargestPageIsTheDefault(limit: Int64, written: Int64?) throws {
        let request = try HistoryRequest(json: ["conv": Wire.conv, "limit": .integer(limit)])
        #expect(request.limit == Int(limit) && request.json["limit"] == written.map { .integer($0) })
        #expect(try HistoryRequest(json: ["conv": Wire.conv]).limit == 200)
    }

    @Test func theEditsOfAThreadAreRefused() {
        let rule = "must be absent if `thread` is present"
        #expect(
            Wire.refusal(HistoryRequest.self, ["conv": Wire.conv, "edits": 3, "thread": 2])
                == WireError(.invalid, field: "edits", rule: rule))
        #expect(Wire.refusal(HistoryRequest.self, ["conv": Wire.conv, "edits": 3, "thread": 2, "from": 1])?.rule == rule)
    }

    // MARK: Positions

    @Test(
        arguments: [
            .invalid("read", -1, Rule.count), .invalid("read", "3", Rule.count), .invalid("read", 0.5, Rule.count),
            .invalid("received", -1, Rule.count), .invalid("received", 9_007_199_254_740_992, Rule.count),
        ] as [Refusal])
    func aMarkNamesItsWrongField(refusal: Refusal) { refusal.check(MarkRequest.self, ["conv": Wire.conv, "read": 3]) }

    /// The position 0 is a position: it removes the mark as unread.
    @Test func aMarkHasAPosition() throws {
        let error = WireError(.missing, field: "read", rule: "or `received` must be present")
        for fields: JSONObject in [["conv": Wire.conv], ["conv": Wire.conv, "read": nil, "received": nil]] {
            #expect(Wire.refusal(MarkRequest.self, fields) == error)
        }
        #expect(try MarkRequest(json: ["conv": Wire.conv, "read": 0]).read == 0)
        #expect(try MarkRequest(json: ["conv": Wire.conv, "received": 0]).received == 0)
    }

    @Test(arguments: [.invalid("stopped", "no", Rule.bool), .invalid("stopped", 0, Rule.bool)] as [Refusal])
    func aTypingNotificationNamesItsWrongField(refusal: Refusal) { refusal.check(TypingRequest.self, ["conv": Wire.conv]) }

    @Test(
        arguments: [
            .invalid("convs", "0000000000007", Rule.array), .invalid("convs", [Wire.conv, "7"], at: "convs[1]", Rule.conversation),
            .invalid("convs", [nil], at: "convs[0]", Rule.conversation), .tooLarge("convs", Wire.list(Wire.conv, 21), Rule.elements(20)),
        ] as [Refusal])
    func aSubscriptionNamesItsWrongConversation(refusal: Refusal) { refusal.check(SubscribeRequest.self, ["convs": [Wire.conv]]) }

    @Test func aSubscriptionHasUpToTwentyConversations() throws {
        let most = Wire.list(Wire.conv, 20)
        #expect(try Wire.rewritten(SubscribeRequest.self, [:], "convs", most) == most)
        // Without the field, the subscription ends.
        #expect(try SubscribeRequest(json: [:]).conversations == [])
    }

    // MARK: Tokens

    private static let wrongTokens: [JSONValue] = ["", " ", "a b", "é", "a\n", 1, [], .string(String(repeating: "t", count: 257))]

    @Test func aSyncNamesItsWrongToken() {
        for field in ["since", "page"] {
            for wrong in Self.wrongTokens {
                let error = Wire.refusal(SyncRequest.self, JSONObject([(field, wrong)]))
                #expect(error == WireError(.invalid, field: field, rule: Rule.token), "\(field) \(wrong)")
            }
        }
    }

    /// A token is opaque: the client sends it back as it was, without any change.
    @Test(arguments: ["!", "~", "a/b+c=", "\"\\<>&", "0", "null", "-1", String(repeating: "~", count: 256)])
    func aTokenIsSentBackUnchanged(token: String) throws {
        #expect(try SyncRequest(json: ["since": .string(token)]).since?.rawValue == token)
        let answer = try SyncAnswer(json: ["heads": [], "token": .string(token), "page": .string(token)])
        #expect(SyncRequest(since: answer.token, page: answer.page).json == ["since": .string(token), "page": .string(token)])
    }

    // MARK: Searches

    private static let search: JSONObject = ["query": "q"]

    @Test(
        arguments: [
            .invalid("query", "", Rule.filled), .invalid("query", 7, Rule.string), .tooLarge("query", Wire.text(101), Rule.scalars(100)),
            .invalid("conv", "7", Rule.conversation), .invalid("sender", "a b", Rule.user), .invalid("kinds", "text", Rule.array),
            .invalid("kinds", ["text", ""], at: "kinds[1]", Rule.kind), .tooLarge("kinds", Wire.list("text", 21), Rule.elements(20)),
            .invalid("from_at", -1, Rule.count), .invalid("from_at", "now", Rule.count), .invalid("until_at", 0.5, Rule.count),
            .invalid("until_at", 9_007_199_254_740_992, Rule.count), .invalid("page", "", Rule.token),
        ] as [Refusal])
    func aSearchNamesItsWrongField(refusal: Refusal) { refusal.check(SearchRequest.self, Self.search) }

    @Test(
        arguments: [
            ("query", Wire.text(100)), ("kinds", Wire.list("x.a", 20)), ("from_at", 0), ("until_at", 9_007_199_254_740_991),
            ("sender", "bob"),
        ] as [(String, JSONValue)])
    func aSearchAcceptsItsLimits(field: String, value: JSONValue) throws {
        #expect(try Wire.rewritten(SearchRequest.self, Self.search, field, value) == value)
    }

    /// Without words, a search lists the messages of given kinds in one conversation.
    @Test(
        arguments: [
            ([:], false), (["conv": Wire.conv], false), (["kinds": ["image"]], false), (["conv": Wire.conv, "kinds": []], false),
            (["kinds": ["image"], "sender": "bob"], false), (["conv": Wire.conv, "kinds": ["image"]], true),
            (["conv": Wire.conv, "kinds": ["image"], "query": nil], true),
        ] as [(JSONObject, Bool)])
    func aSearchWithoutWordsNamesKindsAndAConversation(fields: JSONObject, isRead: Bool) {
        let rule = "is required unless both `conv` and `kinds` are present"
        #expect(Wire.refusal(SearchRequest.self, fields) == (isRead ? nil : WireError(.invalid, field: "query", rule: rule)))
    }

    @Test func aSearchWithoutWordsHasNoQueryOnTheWire() {
        let request = SearchRequest(conversation: Wire.room, kinds: [.image, .video])
        #expect(request.json == ["conv": Wire.conv, "kinds": ["image", "video"]])
    }
}
