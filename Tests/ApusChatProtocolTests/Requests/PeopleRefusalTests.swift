import ApusChatProtocol
import ApusJSON
import Testing

/// The errors of the requests for users, contacts, reports and settings.
@Suite("Refused requests for users")
struct PeopleRefusalTests {
    // MARK: Users

    @Test(
        arguments: [
            .missing("names"), .invalid("names", [], Rule.filled), .invalid("names", "bob", Rule.array),
            .invalid("names", ["bob", "@bob"], at: "names[1]", Rule.user), .tooLarge("names", Wire.list("bob", 101), Rule.elements(100)),
        ] as [Refusal])
    func aRequestForUsersNamesItsWrongUser(refusal: Refusal) { refusal.check(UsersRequest.self, ["names": ["bob"]]) }

    @Test(
        arguments: [
            .missing("query"), .invalid("query", "", Rule.filled), .tooLarge("query", Wire.text(101), Rule.scalars(100)),
            .invalid("query", ["bob"], Rule.string), .invalid("page", "é", Rule.token),
        ] as [Refusal])
    func aSearchForUsersNamesItsWrongField(refusal: Refusal) { refusal.check(PeopleRequest.self, ["query": "bob"]) }

    /// The text of a search is not an account name: it may be a part of one, or of a shown name.
    @Test(arguments: ["@bob", "b", ".", "Bob  Smith", "张", "a\u{202E}b", " "])
    func aSearchForUsersIsAnyText(query: String) throws {
        #expect(try PeopleRequest(json: ["query": .string(query)]).query.unicodeScalars.elementsEqual(query.unicodeScalars))
    }

    private static let profile: JSONObject = ["id": "m", "nick": "N"]

    @Test(
        arguments: [
            .invalid("nick", " ", Rule.shown), .invalid("nick", "\u{200B}", Rule.shown), .invalid("nick", "a\u{2066}b", Rule.shown),
            .invalid("nick", "a\tb", Rule.shown), .invalid("nick", 7, Rule.string), .tooLarge("nick", Wire.text(51), Rule.scalars(50)),
            .tooLarge("nick", "ﷺﷺﷺ", Rule.scalars(50)), .invalid("avatar", "0f", Rule.picture), .invalid("avatar", 7, Rule.picture),
            .tooLarge("status", Wire.text(101), Rule.scalars(100)), .invalid("status", ["S"], Rule.string),
        ] as [Refusal])
    func aProfileNamesItsWrongField(refusal: Refusal) { refusal.check(ProfileSetRequest.self, Self.profile) }

    @Test(
        arguments: [
            ("nick", Wire.text(50)), ("nick", ""), ("status", Wire.text(100)), ("status", ""), ("avatar", Wire.hash), ("avatar", ""),
        ] as [(String, JSONValue)])
    func aProfileAcceptsItsLimits(field: String, value: JSONValue) throws {
        #expect(try Wire.rewritten(ProfileSetRequest.self, Self.profile, field, value) == value)
    }

    // MARK: Contacts

    private static let contactStates = Rule.oneOf("friend", "asking", "asked", "blocked")

    @Test(
        arguments: [
            .invalid("state", "contact", contactStates), .invalid("state", "unknown", contactStates), .invalid("state", 1, Rule.string),
            .invalid("page", "", Rule.token),
        ] as [Refusal])
    func aRequestForContactsNamesItsWrongField(refusal: Refusal) { refusal.check(ContactsRequest.self, [:]) }

    @Test(
        arguments: [
            .invalid("text", "", Rule.filled), .tooLarge("text", Wire.text(201), Rule.scalars(200)), .invalid("text", 7, Rule.string),
            .invalid("alias", "", Rule.shown), .invalid("alias", "a\u{0}", Rule.shown), .tooLarge("alias", Wire.text(51), Rule.scalars(50)),
        ] as [Refusal])
    func aContactRequestNamesItsWrongField(refusal: Refusal) {
        refusal.check(ContactRequestRequest.self, ["id": "m", "user": "bob"])
    }

    @Test(arguments: [("text", Wire.text(200)), ("alias", Wire.text(50))] as [(String, JSONValue)])
    func aContactRequestAcceptsItsLimits(field: String, value: JSONValue) throws {
        #expect(try Wire.rewritten(ContactRequestRequest.self, ["id": "m", "user": "bob"], field, value) == value)
    }

    /// An empty alias removes the alias; a blank one is not a name.
    @Test(
        arguments: [
            .missing("alias"), .invalid("alias", "  ", Rule.shown), .invalid("alias", "\u{2800}", Rule.shown),
            .invalid("alias", 7, Rule.string), .tooLarge("alias", Wire.text(51), Rule.scalars(50)),
        ] as [Refusal])
    func anAliasIsANameOrEmpty(refusal: Refusal) {
        refusal.check(ContactAliasRequest.self, ["id": "m", "user": "bob", "alias": ""])
        refusal.check(ContactAliasRequest.self, ["id": "m", "user": "bob", "alias": "Bob"])
    }

    // MARK: Reports

    private static let reasons = Rule.oneOf("spam", "abuse", "violence", "illegal", "impersonation", "other")

    @Test(
        arguments: [
            .missing("reason"), .invalid("reason", "boring", reasons), .invalid("reason", "unknown", reasons),
            .invalid("reason", 1, Rule.string), .invalid("conv", "7", Rule.conversation), .invalid("user", "a b", Rule.user),
            .invalid("seqs", [0], at: "seqs[0]", Rule.seq), .tooLarge("seqs", Wire.list(1, 101), Rule.elements(100)),
            .invalid("text", "", Rule.filled), .tooLarge("text", Wire.text(1_001), Rule.scalars(1_000)),
        ] as [Refusal])
    func aReportNamesItsWrongField(refusal: Refusal) {
        refusal.check(ReportRequest.self, ["id": "m", "conv": Wire.conv, "user": "bob", "reason": "spam"])
    }

    @Test(
        arguments: [
            ([:], false), (["seqs": [1]], false), (["user": nil, "conv": nil], false), (["user": "bob"], true), (["conv": Wire.conv], true),
            (["conv": Wire.conv, "seqs": Wire.list(1, 100), "user": "bob", "text": Wire.text(1_000)], true),
        ] as [(JSONObject, Bool)])
    func aReportNamesAUserOrAConversation(fields: JSONObject, isRead: Bool) {
        var request = fields
        (request["id"], request["reason"]) = ("m", "spam")
        let error = WireError(.missing, field: "user", rule: "or `conv` must be present")
        #expect(Wire.refusal(ReportRequest.self, request) == (isRead ? nil : error))
    }

    // MARK: Settings for a conversation

    private static let own: JSONObject = ["id": "m", "conv": Wire.conv]

    @Test(
        arguments: [
            .invalid("pinned", "yes", Rule.bool), .invalid("archived", 1, Rule.bool), .invalid("marked_unread", [], Rule.bool),
            .invalid("muted_until", -1, Rule.count), .invalid("muted_until", "0", Rule.count),
            .invalid("notify", "none", Rule.oneOf("all", "mentions")), .invalid("notify", "unknown", Rule.oneOf("all", "mentions")),
            .invalid("notify", true, Rule.string), .invalid("folders", "Work", Rule.array),
            .invalid("folders", [""], at: "folders[0]", Rule.filled),
            .invalid("folders", ["Work", 1], at: "folders[1]", Rule.string),
            .invalid("folders", ["Work", nil], at: "folders[1]", Rule.string),
            .tooLarge("folders", ["Work", Wire.text(31)], at: "folders[1]", Rule.scalars(30)),
            .tooLarge("folders", Wire.list("Work", 21), Rule.elements(20)),
        ] as [Refusal])
    func anOwnSettingNamesItsWrongField(refusal: Refusal) { refusal.check(OwnSetRequest.self, Self.own) }

    @Test(
        arguments: [
            ("pinned", false), ("archived", false), ("marked_unread", false), ("muted_until", 0), ("muted_until", 9_007_199_254_740_991),
            ("notify", "all"), ("folders", []), ("folders", Wire.list(Wire.text(30), 20)),
        ] as [(String, JSONValue)])
    func anOwnSettingIsKeptAlsoIfItIsADefault(field: String, value: JSONValue) throws {
        #expect(try Wire.rewritten(OwnSetRequest.self, Self.own, field, value) == value)
    }

    @Test(
        arguments: [
            .missing("text"), .invalid("text", 7, Rule.string), .tooLarge("text", Wire.text(8_001), Rule.scalars(8_000)),
            .invalid("ref", 0, Rule.seq), .invalid("ref", "3", Rule.seq),
        ] as [Refusal])
    func aDraftNamesItsWrongField(refusal: Refusal) { refusal.check(DraftRequest.self, ["id": "m", "conv": Wire.conv, "text": "T"]) }

    /// A draft is not a message: it may be blank, and may have any characters.
    @Test(arguments: ["", " ", "\n\n", "\u{202E}", "a\u{0}b", "e\u{301}", String(repeating: "鸟", count: 8_000)])
    func aDraftIsAnyText(text: String) throws {
        let draft = try DraftRequest(json: ["id": "m", "conv": Wire.conv, "text": .string(text)])
        #expect(draft.text.utf8.elementsEqual(text.utf8))
    }

    // MARK: Settings of the user

    private static func settings(_ field: String, _ value: JSONValue) -> JSONValue { .object(JSONObject([(field, value)])) }

    private static let minutes = Rule.integer(0, 1_439)

    @Test(
        arguments: [
            .missing("settings"), .invalid("settings", [], Rule.object), .invalid("settings", "x", Rule.object),
            .unsupported("settings", settings("messages", "friends"), Rule.later),
            .unsupported("settings", settings("find", ""), Rule.later),
            .unsupported("settings", settings("add", "unknown"), Rule.later),
            .invalid("settings", settings("avatar", 1), at: "settings.avatar", Rule.string),
            .invalid("settings", settings("receipts", "no"), at: "settings.receipts", Rule.bool),
            .invalid("settings", settings("typing", 1), at: "settings.typing", Rule.bool),
            .invalid("settings", settings("quiet_from", 1_440), at: "settings.quiet_from", minutes),
            .invalid("settings", settings("quiet_from", -1), at: "settings.quiet_from", minutes),
            .invalid("settings", settings("quiet_until", 0.5), at: "settings.quiet_until", minutes),
            .invalid("settings", settings("quiet_until", "22:00"), at: "settings.quiet_until", minutes),
            .invalid("settings", settings("folders", "Work"), at: "settings.folders", Rule.array),
            .invalid("settings", settings("folders", ["Work"]), at: "settings.folders[0]", Rule.object),
            .missing("settings", settings("folders", [["name": "a"], ["filter": "unread"]]), at: "settings.folders[1].name"),
            .invalid("settings", settings("folders", [["name": ""]]), at: "settings.folders[0].name", Rule.filled),
            .tooLarge("settings", settings("folders", [["name": Wire.text(31)]]), at: "settings.folders[0].name", Rule.scalars(30)),
            .tooLarge(
                "settings", settings("folders", [["name": "a", "filter": Wire.text(21)]]), at: "settings.folders[0].filter",
                Rule.scalars(20)),
            .tooLarge("settings", settings("folders", Wire.list(["name": "a"], 21)), at: "settings.folders", Rule.elements(20)),
        ] as [Refusal])
    func aSettingNamesItsPath(refusal: Refusal) { refusal.check(SettingsSetRequest.self, ["id": "m", "settings": [:]]) }

    @Test(
        arguments: [
            ("quiet_from", 0), ("quiet_from", 1_439), ("quiet_until", 0), ("quiet_until", 1_439), ("receipts", false), ("typing", false),
            ("messages", "none"), ("last_seen", "all"), ("add", "contacts"), ("folders", []),
            ("folders", Wire.list(["name": Wire.text(30), "filter": Wire.text(20)], 20)),
        ] as [(String, JSONValue)])
    func aSettingAcceptsItsLimits(field: String, value: JSONValue) throws {
        let request = try SettingsSetRequest(json: ["id": "m", "settings": Self.settings(field, value)])
        #expect(request.settings.json == Self.settings(field, value))
    }
}
