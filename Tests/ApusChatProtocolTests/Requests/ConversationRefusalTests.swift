import ApusChatProtocol
import ApusJSON
import Testing

/// The errors of the requests for conversations, links and the directory.
@Suite("Refused requests for conversations")
struct ConversationRefusalTests {
    // MARK: Creation

    private static let create: JSONObject = ["id": "m", "kind": "group", "title": "T"]

    @Test(
        arguments: [
            .missing("kind"), .missing("title"), .invalid("kind", "self", "must be `group` or `channel`"),
            .invalid("kind", "pair", "must be `group` or `channel`"),
            .invalid("kind", "room", Rule.oneOf("self", "pair", "group", "channel")),
            .invalid("kind", "unknown", Rule.oneOf("self", "pair", "group", "channel")), .invalid("kind", 1, Rule.string),
            .invalid("title", "", Rule.shown), .invalid("title", "  ", Rule.shown), .invalid("title", "a\u{202E}b", Rule.shown),
            .invalid("title", "a\nb", Rule.shown), .invalid("title", 7, Rule.string), .tooLarge("title", Wire.text(101), Rule.scalars(100)),
            // The compatibility form of this letter has 18 scalars.
            .tooLarge("title", .string(String(repeating: "ﷺ", count: 6)), Rule.scalars(100)), .invalid("about", "", Rule.filled),
            .tooLarge("about", Wire.text(1_001), Rule.scalars(1_000)), .invalid("avatar", "", Rule.blob),
            .invalid("avatar", "0f", Rule.blob),
            .invalid("users", "bob", Rule.array), .invalid("users", ["bob", ""], at: "users[1]", Rule.user),
            .invalid("users", ["bob", "carol", "a b"], at: "users[2]", Rule.user),
            .tooLarge("users", Wire.list("bob", 101), Rule.elements(100)),
            .invalid("settings", [], Rule.object), .unsupported("settings", ["write": "owner"], Rule.later),
            .unsupported("settings", ["join": "later"], Rule.later), .unsupported("settings", ["history": "none"], Rule.later),
            .invalid("settings", ["slow": 3_601], at: "settings.slow", Rule.integer(0, 3_600)),
            .invalid("settings", ["slow": -1], at: "settings.slow", Rule.integer(0, 3_600)),
            .invalid("settings", ["expire": 31_536_001], at: "settings.expire", Rule.integer(0, 31_536_000)),
            .invalid("settings", ["listed": "yes"], at: "settings.listed", Rule.bool),
            .invalid("settings", ["receipts": 0], at: "settings.receipts", Rule.bool),
            .invalid("settings", ["pin": 1], at: "settings.pin", Rule.string),
        ] as [Refusal])
    func aCreationNamesItsWrongField(refusal: Refusal) { refusal.check(CreateRequest.self, Self.create) }

    @Test(
        arguments: [
            ("title", Wire.text(100)), ("about", Wire.text(1_000)), ("users", Wire.list("bob", 100)), ("avatar", Wire.hash),
            ("settings", ["slow": 3_600, "expire": 31_536_000, "listed": true, "receipts": false]), ("settings", ["slow": 0, "expire": 0]),
        ] as [(String, JSONValue)])
    func aCreationAcceptsItsLimits(field: String, value: JSONValue) throws {
        #expect(try Wire.rewritten(CreateRequest.self, Self.create, field, value) == value)
    }

    /// The title is prepared before it is stored, so that it is shown on one line.
    @Test(arguments: [
        ("  Plans   for\u{3000}May ", "Plans for May"), ("Ａｐｕｓ", "Apus"), ("e\u{301}te\u{301}", "\u{E9}t\u{E9}"), ("ﬁn ①", "fin 1"),
        ("👩‍👩‍👧 Familie", "👩‍👩‍👧 Familie"), ("תכנון", "תכנון"),
    ])
    func aTitleIsPrepared(title: String, prepared: String) throws {
        let created = try CreateRequest(json: ["id": "m", "kind": "channel", "title": .string(title)]).title
        let set = try ConversationSetRequest(json: ["id": "m", "conv": Wire.conv, "title": .string(title)]).title
        #expect(created.unicodeScalars.elementsEqual(prepared.unicodeScalars) && set == created)
    }

    // MARK: Changes

    private static let set: JSONObject = ["id": "m", "conv": Wire.conv, "about": "A"]

    @Test(
        arguments: [
            .invalid("title", "", Rule.shown), .tooLarge("title", Wire.text(101), Rule.scalars(100)),
            .tooLarge("about", Wire.text(1_001), Rule.scalars(1_000)), .invalid("about", 7, Rule.string),
            .invalid("avatar", " ", Rule.picture), .invalid("avatar", .string(String(repeating: "0F", count: 32)), Rule.picture),
            .invalid("avatar", 0, Rule.picture), .unsupported("settings", ["mention_all": "later"], Rule.later),
            .invalid("settings", ["expire": "1"], at: "settings.expire", Rule.integer(0, 31_536_000)),
            .invalid("settings", "x", Rule.object),
        ] as [Refusal])
    func aChangeNamesItsWrongField(refusal: Refusal) { refusal.check(ConversationSetRequest.self, Self.set) }

    /// A change without a value is refused; empty values and empty settings are values.
    @Test(
        arguments: [
            ([:], false), (["title": nil, "about": nil, "avatar": nil, "settings": nil], false), (["about": ""], true),
            (["avatar": ""], true), (["settings": [:]], true), (["title": "T"], true),
        ] as [(JSONObject, Bool)])
    func aChangeHasAValue(fields: JSONObject, isRead: Bool) {
        var request: JSONObject = ["id": "m", "conv": Wire.conv]
        for (name, value) in fields { request[name] = value }
        let error = WireError(.missing, field: "title", rule: "or another field to change must be present")
        #expect(Wire.refusal(ConversationSetRequest.self, request) == (isRead ? nil : error))
    }

    @Test(arguments: [.invalid("for_all", "yes", Rule.bool), .invalid("for_all", 1, Rule.bool)] as [Refusal])
    func aDeletionNamesItsWrongField(refusal: Refusal) { refusal.check(DeleteRequest.self, ["id": "m", "conv": Wire.conv]) }

    @Test(
        arguments: [
            .invalid("query", "", Rule.filled), .tooLarge("query", Wire.text(101), Rule.scalars(100)), .invalid("query", 1, Rule.string),
            .invalid("page", "", Rule.token),
        ] as [Refusal])
    func aRequestForTheDirectoryNamesItsWrongField(refusal: Refusal) { refusal.check(DirectoryRequest.self, [:]) }

    // MARK: Links

    private static let roles = Rule.oneOf("owner", "admin", "member", "reader", "guest")

    @Test(
        arguments: [
            .invalid("role", "owner", "must be `member`, `reader` or `guest`"),
            .invalid("role", "admin", "must be `member`, `reader` or `guest`"), .invalid("role", "later", roles),
            .invalid("role", 1, Rule.string),
            .invalid("expires_at", -1, Rule.count), .invalid("expires_at", "1", Rule.count), .invalid("uses", 0, Rule.integer(1, 100_000)),
            .invalid("uses", 100_001, Rule.integer(1, 100_000)), .invalid("approval", "yes", Rule.bool),
        ] as [Refusal])
    func aLinkNamesItsWrongField(refusal: Refusal) { refusal.check(LinkCreateRequest.self, ["id": "m", "conv": Wire.conv]) }

    @Test(
        arguments: [
            ("role", "member"), ("role", "reader"), ("role", "guest"), ("expires_at", 0), ("uses", 1), ("uses", 100_000),
            ("approval", true),
        ] as [(String, JSONValue)])
    func aLinkAcceptsItsLimits(field: String, value: JSONValue) throws {
        #expect(try Wire.rewritten(LinkCreateRequest.self, ["id": "m", "conv": Wire.conv], field, value) == value)
    }

    private static let wrongCodes: [JSONValue] = [
        "", "k7Qm2ZtX9bVw4Ns", "k7Qm2ZtX9bVw4Ns+", "k7Qm2ZtX9bVw4Ns/", "k7Qm2ZtX9bVw4NsA=", "k7Qm2ZtX9bVw4Ns ", "k7Qm2ZtX9bVw4Nsé", 7,
        .string(String(repeating: "a", count: 65)), ["k7Qm2ZtX9bVw4NsA"],
    ]

    @Test func aCodeHasItsSyntaxInEachRequest() {
        for wrong in Self.wrongCodes {
            let error = WireError(.invalid, field: "code", rule: Rule.link)
            #expect(Wire.refusal(LinkInfoRequest.self, ["code": wrong]) == error, "\(wrong)")
            #expect(Wire.refusal(LinkRevokeRequest.self, ["id": "m", "conv": Wire.conv, "code": wrong]) == error, "\(wrong)")
            #expect(
                Wire.refusal(MemberJoinRequest.self, ["id": "m", "link": wrong]) == WireError(.invalid, field: "link", rule: Rule.link),
                "\(wrong)")
        }
    }
}
