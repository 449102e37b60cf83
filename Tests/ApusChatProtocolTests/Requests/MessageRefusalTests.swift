import ApusChatProtocol
import ApusJSON
import Testing

/// The errors of the requests that send and change messages: the field, the problem and the rule.
@Suite("Refused requests for messages")
struct MessageRefusalTests {
    // MARK: Sending

    private static let send: JSONObject = ["id": "m", "conv": Wire.conv, "kind": "text", "body": ["text": "x"]]

    @Test(
        arguments: [
            .missing("id"), .missing("conv"), .missing("kind"), .missing("body"), .invalid("kind", "", Rule.kind),
            .invalid("kind", 7, Rule.kind), .invalid("kind", .string(String(repeating: "a", count: 65)), Rule.kind),
            // The length of a kind is counted in bytes.
            .invalid("kind", Wire.text(22), Rule.kind), .invalid("body", "x", Rule.object), .invalid("body", [["text": "x"]], Rule.object),
            .invalid("ref", 0, Rule.seq), .invalid("ref", "3", Rule.seq), .invalid("ref", 9_007_199_254_740_992, Rule.seq),
            .invalid("thread", 0, Rule.seq), .invalid("thread", 1.5, Rule.seq), .invalid("if_epoch", -1, Rule.count),
            .invalid("silent", "true", Rule.bool), .invalid("silent", 1, Rule.bool),
        ] as [Refusal])
    func aSendNamesItsWrongField(refusal: Refusal) { refusal.check(SendRequest.self, Self.send) }

    /// The body is not validated before the server knows that the request is not a retry.
    @Test(
        arguments: [
            ("text", [:]), ("text", ["text": 7]), ("image", ["blob": "x"]), ("call", [:]), ("later", ["a": [:]]), ("member.join", [:]),
        ] as [(String, JSONObject)])
    func aSendKeepsItsBodyAsSent(kind: String, body: JSONObject) throws {
        let request = try SendRequest(json: ["id": "m", "conv": Wire.conv, "kind": .string(kind), "body": .object(body)])
        #expect(request.kind.rawValue == kind && request.body == body)
    }

    @Test(
        arguments: [
            ("ref", 1), ("ref", 9_007_199_254_740_991), ("thread", 1), ("thread", 9_007_199_254_740_991), ("if_epoch", 0),
            ("if_epoch", 9_007_199_254_740_991), ("silent", true), ("kind", .string(String(repeating: "a", count: 64))),
            ("kind", Wire.text(21)),
        ] as [(String, JSONValue)])
    func aSendAcceptsItsLimits(field: String, value: JSONValue) throws {
        #expect(try Wire.rewritten(SendRequest.self, Self.send, field, value) == value)
    }

    // MARK: Changes

    private static let edit: JSONObject = ["id": "m", "conv": Wire.conv, "ref": 3, "body": ["text": "x"]]

    @Test(
        arguments: [
            .missing("ref"), .missing("body"), .invalid("body", [], Rule.object), .invalid("body", "{}", Rule.object),
            .invalid("ref", 9_007_199_254_740_992, Rule.seq),
        ] as [Refusal])
    func anEditNamesItsWrongField(refusal: Refusal) { refusal.check(EditRequest.self, Self.edit) }

    private static let react: JSONObject = ["id": "m", "conv": Wire.conv, "ref": 3, "key": "👍"]

    @Test(
        arguments: [
            .missing("key"), .invalid("key", "", Rule.filled), .invalid("key", 7, Rule.string),
            .tooLarge("key", Wire.text(17), Rule.scalars(16)), .invalid("remove", "yes", Rule.bool), .invalid("remove", 0, Rule.bool),
        ] as [Refusal])
    func aReactionNamesItsWrongField(refusal: Refusal) { refusal.check(ReactRequest.self, Self.react) }

    /// A family of four with skin tones has 11 scalars, and a flag of a region has 7.
    @Test(arguments: ["👍", "❤️", "👩🏽‍🤝‍👨🏿", "🧑🏻‍👩🏼‍👧🏽‍👦🏾", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "+1", "é", "e\u{301}", "鸟鸟鸟鸟鸟鸟鸟鸟鸟鸟鸟鸟鸟鸟鸟鸟"])
    func aReactionIsAnEmojiOrAShortText(key: String) throws {
        let written = try Wire.rewritten(ReactRequest.self, Self.react, "key", .string(key))?.stringValue
        #expect(written?.unicodeScalars.elementsEqual(key.unicodeScalars) == true)
    }

    private static let vote: JSONObject = ["id": "m", "conv": Wire.conv, "ref": 3, "options": [1, 0]]

    @Test(
        arguments: [
            .invalid("options", "0", Rule.array), .invalid("options", ["a": 0], Rule.array),
            .invalid("options", [0, -1], at: "options[1]", Rule.count), .invalid("options", ["0"], at: "options[0]", Rule.count),
            .invalid("options", [0, 1, nil], at: "options[2]", Rule.count), .tooLarge("options", Wire.list(0, 21), Rule.elements(20)),
        ] as [Refusal])
    func aVoteNamesItsWrongOption(refusal: Refusal) { refusal.check(VoteRequest.self, Self.vote) }

    @Test func aVoteHasUpToTwentyOptions() throws {
        let options = JSONValue.array((0..<20).map { .integer($0) })
        #expect(try Wire.rewritten(VoteRequest.self, Self.vote, "options", options) == options)
        // Absent votes are withdrawn votes.
        #expect(try VoteRequest(json: ["id": "m", "conv": Wire.conv, "ref": 3]).options == [])
    }

    private static let hide: JSONObject = ["id": "m", "conv": Wire.conv, "seqs": [4, 2]]

    @Test(
        arguments: [
            .missing("seqs"), .invalid("seqs", [], Rule.filled), .invalid("seqs", 4, Rule.array),
            .invalid("seqs", [4, 0], at: "seqs[1]", Rule.seq), .invalid("seqs", [4, 2, 0.5], at: "seqs[2]", Rule.seq),
            .tooLarge("seqs", Wire.list(1, 101), Rule.elements(100)),
        ] as [Refusal])
    func aHideNamesItsWrongEvent(refusal: Refusal) { refusal.check(HideRequest.self, Self.hide) }

    @Test func aHideHasUpToAHundredEvents() throws {
        for count in [1, 100] {
            #expect(try Wire.rewritten(HideRequest.self, Self.hide, "seqs", Wire.list(9, count)) == Wire.list(9, count))
        }
    }

    @Test(arguments: [.invalid("remove", "", Rule.bool), .invalid("remove", [], Rule.bool), .invalid("ref", true, Rule.seq)] as [Refusal])
    func aPinNamesItsWrongField(refusal: Refusal) { refusal.check(PinRequest.self, ["id": "m", "conv": Wire.conv, "ref": 3]) }

    // MARK: Forwarding

    private static let forward: JSONObject = ["id": "m", "conv": Wire.conv, "from": "0000000000008", "seqs": [2, 4]]

    @Test(
        arguments: [
            .missing("from"), .missing("seqs"), .invalid("from", "8", Rule.conversation), .invalid("seqs", [], Rule.filled),
            .invalid("seqs", [0], at: "seqs[0]", Rule.seq), .tooLarge("seqs", Wire.list(1, 101), Rule.elements(100)),
            .invalid("title", "", Rule.filled), .tooLarge("title", Wire.text(101), Rule.scalars(100)), .invalid("title", 1, Rule.string),
            .invalid("bundle", "T", Rule.bool), .invalid("anonymous", 1, Rule.bool), .invalid("silent", [true], Rule.bool),
        ] as [Refusal])
    func aForwardNamesItsWrongField(refusal: Refusal) { refusal.check(ForwardRequest.self, Self.forward) }

    @Test(
        arguments: [("seqs", Wire.list(5, 100)), ("title", Wire.text(100)), ("title", "T"), ("bundle", true), ("anonymous", true)]
            as [(String, JSONValue)])
    func aForwardAcceptsItsLimits(field: String, value: JSONValue) throws {
        #expect(try Wire.rewritten(ForwardRequest.self, Self.forward, field, value) == value)
    }

    // MARK: Lists of users

    @Test(
        arguments: [
            .missing("ref"), .invalid("key", "", Rule.filled), .tooLarge("key", Wire.text(17), Rule.scalars(16)),
            .invalid("page", "", Rule.token), .invalid("page", "é", Rule.token), .invalid("page", 1, Rule.token),
            .invalid("page", .string(String(repeating: "a", count: 257)), Rule.token),
        ] as [Refusal])
    func aRequestForReactionsNamesItsWrongField(refusal: Refusal) {
        refusal.check(ReactionsRequest.self, ["conv": Wire.conv, "ref": 3])
    }

    @Test(arguments: [.missing("seq"), .invalid("seq", 0, Rule.seq), .invalid("page", "a b", Rule.token)] as [Refusal])
    func aRequestForReadersNamesItsWrongField(refusal: Refusal) { refusal.check(ReadersRequest.self, ["conv": Wire.conv, "seq": 3]) }

    // MARK: Schedules

    private static let schedule: JSONObject = [
        "id": "m", "conv": Wire.conv, "kind": "text", "body": ["text": "x"], "send_at": 9,
    ]

    @Test(
        arguments: [
            .missing("send_at"), .missing("kind"), .missing("body"), .invalid("send_at", -1, Rule.count),
            .invalid("send_at", "2026-01-01", Rule.count), .invalid("send_at", 1.5, Rule.count), .invalid("kind", "", Rule.kind),
            .invalid("body", 7, Rule.object), .invalid("ref", 0, Rule.seq), .invalid("thread", 0, Rule.seq),
            .invalid("silent", "x", Rule.bool),
        ] as [Refusal])
    func aScheduleNamesItsWrongField(refusal: Refusal) { refusal.check(ScheduleRequest.self, Self.schedule) }

    @Test(
        arguments: [
            .missing("of"), .invalid("of", "", Rule.client), .invalid("of", "a b", Rule.client), .invalid("of", 1, Rule.client),
        ] as [Refusal])
    func anUnscheduleNamesItsMessage(refusal: Refusal) { refusal.check(UnscheduleRequest.self, ["id": "m", "of": "s"]) }

    @Test(arguments: [.invalid("conv", "7", Rule.conversation), .invalid("page", "", Rule.token)] as [Refusal])
    func aRequestForTheScheduleNamesItsWrongField(refusal: Refusal) { refusal.check(ScheduledRequest.self, [:]) }
}
