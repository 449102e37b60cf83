import ApusChatProtocol
import ApusJSON
import Testing

/// The answers that a client refuses, because a server or a proxy damaged them.
@Suite("Damaged answers")
struct AnswerRefusalTests {
    private static let changed: JSONObject = ["conv": Wire.conv, "id": "m", "seq": 9, "at": 8]

    @Test(
        arguments: [
            .missing("conv"), .missing("id"), .missing("at"), .invalid("seq", 0, Rule.seq), .invalid("seq", "9", Rule.seq),
            .invalid("at", -1, Rule.count), .invalid("id", "", Rule.client), .invalid("conv", 7, Rule.conversation),
        ] as [Refusal])
    func aChangeNamesItsWrongField(refusal: Refusal) {
        refusal.check(ChangeAnswer.self, Self.changed)
        refusal.check(CallUpdateAnswer.self, Self.changed)
        refusal.check(MemberAnswerAnswer.self, Self.changed)
        refusal.check(MemberAddAnswer.self, Self.changed)
    }

    @Test(
        arguments: [
            .missing("seq"), .missing("n"), .missing("at"), .invalid("seq", 0, Rule.seq), .invalid("n", 0, Rule.seq),
            .invalid("at", 1.5, Rule.count),
        ] as [Refusal])
    func aSentMessageHasItsPosition(refusal: Refusal) {
        refusal.check(SendAnswer.self, ["conv": Wire.conv, "id": "m", "seq": 9, "n": 4, "at": 8])
    }

    @Test(
        arguments: [
            .missing("seq"), .missing("min_seq"), .invalid("min_seq", 0, Rule.seq), .invalid("seq", -1, Rule.count),
            .invalid("events", [["conv": Wire.conv, "seq": 1, "kind": "text"], 7], at: "events[1]", Rule.object),
            .missing("events", [["conv": Wire.conv, "kind": "text"]], at: "events[0].seq"),
            .invalid("events", [["conv": Wire.conv, "seq": 0, "kind": "text"]], at: "events[0].seq", Rule.seq),
            .invalid("events", [["conv": Wire.conv, "seq": 1, "kind": ""]], at: "events[0].kind", Rule.kind),
            .tooLarge("events", Wire.list(["conv": Wire.conv, "seq": 1, "kind": "text"], 201), Rule.elements(200)),
            .invalid("mine", [["seq": 0]], at: "mine[0].seq", Rule.seq),
            .tooLarge("mine", [["seq": 1, "reactions": ["a", "b", "c", "d"]]], at: "mine[0].reactions", Rule.elements(3)),
            .tooLarge("mine", [["seq": 1, "reactions": [Wire.text(17)]]], at: "mine[0].reactions[0]", Rule.scalars(16)),
            .tooLarge("mine", [["seq": 1], ["seq": 2, "votes": Wire.list(0, 21)]], at: "mine[1].votes", Rule.elements(20)),
        ] as [Refusal])
    func aPageOfTheLogNamesItsPath(refusal: Refusal) {
        refusal.check(HistoryAnswer.self, ["conv": Wire.conv, "events": [], "seq": 0, "min_seq": 1])
    }

    /// The token is stored with the last page, so an answer without it is of no use.
    @Test(
        arguments: [
            .missing("token"), .invalid("token", "", Rule.token), .invalid("page", "a b", Rule.token), .invalid("badge", -1, Rule.count),
            .missing("heads", [["kind": "pair"]], at: "heads[0].conv"),
            .invalid("gone", [Wire.conv, 7], at: "gone[1]", Rule.conversation),
            .tooLarge("gone", Wire.list(Wire.conv, 10_001), Rule.elements(10_000)),
            .tooLarge("heads", Wire.list(["conv": Wire.conv, "kind": "pair", "seq": 0, "n": 0, "at": 0], 201), Rule.elements(200)),
        ] as [Refusal])
    func aSyncNamesItsPath(refusal: Refusal) { refusal.check(SyncAnswer.self, ["heads": [], "token": "t"]) }

    @Test(
        arguments: [
            .missing("version"), .missing("total"), .invalid("members", "bob", Rule.array),
            .missing("members", [["role": "admin", "since": 1]], at: "members[0].user"),
            .missing("members", [["user": ["name": "bob"], "role": "admin"]], at: "members[0].since"),
            .invalid("members", [["user": ["name": ""], "role": "admin", "since": 1]], at: "members[0].user.name", Rule.user),
            .invalid(
                "members", [["user": ["name": "bob", "nick": ""], "role": "admin", "since": 1]], at: "members[0].user.nick", Rule.filled),
            .invalid("members", [["user": ["name": "bob"], "role": 1, "since": 1]], at: "members[0].role", Rule.string),
            .invalid("members", [["user": ["name": "bob"], "role": "admin", "since": 1, "by": "a b"]], at: "members[0].by", Rule.user),
            .tooLarge("members", Wire.list(["user": ["name": "bob"], "role": "admin", "since": 1], 101), Rule.elements(100)),
            .invalid("total", -1, Rule.count), .invalid("version", "1", Rule.count),
        ] as [Refusal])
    func aPageOfMembersNamesItsPath(refusal: Refusal) { refusal.check(MembersAnswer.self, ["members": [], "version": 1, "total": 0]) }

    @Test(
        arguments: [
            .missing("hits", [["snippet": "x"]], at: "hits[0].event"),
            .missing("hits", [["event": ["conv": Wire.conv, "seq": 1, "kind": "text"]]], at: "hits[0].snippet"),
            .tooLarge(
                "hits", [["event": ["conv": Wire.conv, "seq": 1, "kind": "text"], "snippet": Wire.text(161)]], at: "hits[0].snippet",
                Rule.scalars(160)),
            .missing(
                "hits", [["event": ["conv": Wire.conv, "seq": 1, "kind": "text"], "snippet": "x", "ranges": [["offset": 0]]]],
                at: "hits[0].ranges[0].length"),
            .invalid(
                "hits",
                [["event": ["conv": Wire.conv, "seq": 1, "kind": "text"], "snippet": "x", "ranges": [["offset": -1, "length": 1]]]],
                at: "hits[0].ranges[0].offset", Rule.count),
            .tooLarge("hits", Wire.list(["event": ["conv": Wire.conv, "seq": 1, "kind": "text"], "snippet": ""], 31), Rule.elements(30)),
            .invalid("indexed_at", -1, Rule.count), .invalid("page", "", Rule.token),
        ] as [Refusal])
    func foundMessagesNameTheirPath(refusal: Refusal) { refusal.check(SearchAnswer.self, ["hits": []]) }

    // MARK: Links and directories

    private static let link: JSONValue = ["code": "k7Qm2ZtX9bVw4NsA", "role": "guest", "by": "bob", "at": 7, "used": 4]

    private static func linkWith(_ field: String, _ value: JSONValue?) -> JSONValue {
        var object = self.link.objectValue ?? [:]
        object[field] = value
        return .object(object)
    }

    @Test(
        arguments: [
            .missing("links", [link, linkWith("code", .none)], at: "links[1].code"),
            .missing("links", [linkWith("by", .none)], at: "links[0].by"),
            .missing("links", [linkWith("at", .none)], at: "links[0].at"),
            .missing("links", [linkWith("used", .none)], at: "links[0].used"),
            .invalid("links", [linkWith("code", "short")], at: "links[0].code", Rule.link),
            .invalid("links", [linkWith("uses", -1)], at: "links[0].uses", Rule.count),
            .invalid("links", [linkWith("expires_at", "1")], at: "links[0].expires_at", Rule.count),
            .invalid("links", [linkWith("approval", 1)], at: "links[0].approval", Rule.bool),
            .tooLarge("links", Wire.list(link, 21), Rule.elements(20)),
        ] as [Refusal])
    func aListOfLinksNamesItsPath(refusal: Refusal) { refusal.check(LinkListAnswer.self, ["links": [Self.link]]) }

    /// A choice of a later version is read, and so is an absent one, because the server of another
    /// version may omit it.
    @Test(arguments: [.none, "later", "", "unknown", "Guest"] as [JSONValue?])
    func aRoleOfALaterVersionIsUnknown(role: JSONValue?) throws {
        #expect(try LinkAnswer(json: ["link": Self.linkWith("role", role)]).link.role == .unknown)
        var entry: JSONObject = ["conv": Wire.conv, "kind": "group", "title": "T", "members": 2, "join": "open"]
        (entry["kind"], entry["join"]) = (role, role)
        let read = try DirectoryAnswer(json: ["conversations": [.object(entry)]]).conversations[0]
        #expect(read.kind == .unknown && read.join == .unknown && read.members == 2)
    }

    @Test(
        arguments: [
            .missing("title"), .missing("members"), .missing("by"), .invalid("title", "", Rule.filled), .invalid("members", -1, Rule.count),
            .tooLarge("title", Wire.text(101), Rule.scalars(100)), .invalid("avatar", "", Rule.blob),
            .missing("by", ["nick": "B"], at: "by.name"), .invalid("by", "bob", Rule.object), .invalid("join", 1, Rule.string),
        ] as [Refusal])
    func theTargetOfALinkNamesItsWrongField(refusal: Refusal) {
        refusal.check(LinkInfoAnswer.self, ["title": "T", "kind": "group", "members": 3, "join": "open", "by": ["name": "bob"]])
    }
}
