import ApusChatProtocol
import ApusJSON
import Testing

/// Damaged events, previews and heads, and values of a later version in them.
@Suite("Damaged parts of the model")
struct EventRefusalTests {
    private static let event: JSONObject = ["conv": Wire.conv, "seq": 9, "kind": "text"]

    @Test(
        arguments: [
            .missing("conv"), .missing("seq"), .missing("kind"), .invalid("seq", 0, Rule.seq), .invalid("n", 0, Rule.seq),
            .invalid("sender", "@bob", Rule.user), .invalid("id", "a b", Rule.client), .invalid("at", -1, Rule.count),
            .invalid("ref", 0, Rule.seq), .invalid("thread", 0, Rule.seq), .invalid("state", 1, Rule.string),
            .invalid("body", "x", Rule.object),
            .invalid("edited_at", "1", Rule.count), .invalid("expires_at", 0.5, Rule.count), .invalid("kind", "", Rule.kind),
            .invalid("reactions", ["👍"], at: "reactions[0]", Rule.object), .missing("reactions", [["count": 1]], at: "reactions[0].key"),
            .missing("reactions", [["key": "a", "count": 1], ["key": "b"]], at: "reactions[1].count"),
            .tooLarge("reactions", [["key": Wire.text(17), "count": 1]], at: "reactions[0].key", Rule.scalars(16)),
            .invalid("reactions", [["key": "", "count": 1]], at: "reactions[0].key", Rule.filled),
            .tooLarge("reactions", Wire.list(["key": "a", "count": 1], 21), Rule.elements(20)),
            .invalid("votes", [1, -1], at: "votes[1]", Rule.count), .tooLarge("votes", Wire.list(0, 21), Rule.elements(20)),
            .missing("replies", ["seq": 8], at: "replies.count"), .missing("replies", ["count": 3], at: "replies.seq"),
            .invalid("replies", 3, Rule.object),
        ] as [Refusal])
    func anEventNamesItsWrongField(refusal: Refusal) { refusal.check(ChatEvent.self, Self.event) }

    /// Each state is read, and one of a later version is treated as normal content.
    @Test(arguments: [
        ("normal", EventState.normal, false), ("edited", .edited, false), ("recalled", .recalled, true), ("expired", .expired, true),
        ("erased", .erased, true), ("moderated", .unknown, false), ("Recalled", .unknown, false), ("", .unknown, false),
    ])
    func aStateIsReadByItsName(name: String, state: EventState, isBlank: Bool) throws {
        let event = try ChatEvent(json: ["conv": Wire.conv, "seq": 9, "kind": "text", "state": .string(name), "body": ["text": "x"]])
        #expect(event.state == state && (ChatBody(event) == nil) == isBlank)
    }

    /// The values that stand for absent fields are not written.
    @Test(
        arguments: [
            ("at", 0), ("state", "normal"), ("body", [:]), ("reactions", []), ("votes", []), ("n", nil), ("sender", nil), ("replies", nil),
        ]
            as [(String, JSONValue)])
    func anAbsentFieldOfAnEventHasADefault(field: String, value: JSONValue) throws {
        #expect(try Wire.rewritten(ChatEvent.self, Self.event, field, value) == nil)
        var changed = Self.event
        changed[field] = value
        #expect(try ChatEvent(json: .object(changed)) == ChatEvent(json: .object(Self.event)))
    }

    // MARK: Previews

    private static let preview: JSONObject = ["seq": 9, "kind": "text"]

    @Test(
        arguments: [
            .missing("seq"), .missing("kind"), .invalid("seq", -1, Rule.count), .invalid("n", 0, Rule.seq),
            .invalid("sender", "", Rule.user),
            .invalid("at", "1", Rule.count), .invalid("state", 1, Rule.string), .tooLarge("text", Wire.text(161), Rule.scalars(160)),
            .invalid("users", ["bob", "a b"], at: "users[1]", Rule.user), .tooLarge("users", Wire.list("bob", 11), Rule.elements(10)),
            .invalid("call", 1, Rule.string), .invalid("media", [], Rule.string), .invalid("voice", "yes", Rule.bool),
            .invalid("duration", -1, Rule.count),
        ] as [Refusal])
    func aPreviewNamesItsWrongField(refusal: Refusal) { refusal.check(EventPreview.self, Self.preview) }

    @Test(
        arguments: [
            ("text", Wire.text(160), Wire.text(160)), ("text", "", ""), ("users", Wire.list("bob", 10), Wire.list("bob", 10)),
            ("users", [], nil),
            ("voice", false, nil), ("at", 0, nil), ("state", "normal", nil), ("state", "later", "unknown"), ("call", "later", "unknown"),
            ("media", "hologram", "unknown"), ("duration", 0, 0),
        ] as [(String, JSONValue, JSONValue?)])
    func aPreviewKeepsItsValues(field: String, value: JSONValue, written: JSONValue?) throws {
        #expect(try Wire.rewritten(EventPreview.self, Self.preview, field, value) == written)
    }

    // MARK: Heads

    private static let head: JSONObject = ["conv": Wire.conv, "kind": "group", "seq": 3, "n": 2, "at": 4]

    @Test(
        arguments: [
            .missing("conv"), .missing("seq"), .missing("n"), .missing("at"), .invalid("kind", 1, Rule.string),
            .invalid("role", 1, Rule.string),
            .invalid("state", [], Rule.string), .invalid("title", "", Rule.filled), .tooLarge("title", Wire.text(101), Rule.scalars(100)),
            .invalid("avatar", "", Rule.blob), .invalid("peer", "bob", Rule.object), .missing("peer", [:], at: "peer.name"),
            .invalid("members", -1, Rule.count), .invalid("members_version", "4", Rule.count), .invalid("min_seq", 0, Rule.seq),
            .invalid("read", -1, Rule.count), .invalid("unread", 0.5, Rule.count), .invalid("mentions", "1", Rule.count),
            .missing("last", ["kind": "text"], at: "last.seq"), .invalid("pins", [6, 0], at: "pins[1]", Rule.seq),
            .tooLarge("pins", Wire.list(1, 51), Rule.elements(50)), .invalid("call", 0, Rule.seq),
            .invalid("silenced_until", -1, Rule.count),
            .invalid("settings", ["slow": 3_601], at: "settings.slow", Rule.integer(0, 3_600)),
            .invalid("own", ["archived": 1], at: "own.archived", Rule.bool),
            .invalid("own", ["pinned_at": -1], at: "own.pinned_at", Rule.count),
            .missing("own", ["draft": ["at": 1]], at: "own.draft.text"), .missing("own", ["draft": ["text": "d"]], at: "own.draft.at"),
            .invalid("own", ["draft": ["text": "d", "at": 1, "ref": 0]], at: "own.draft.ref", Rule.seq),
            .tooLarge("own", ["draft": ["text": Wire.text(8_001), "at": 1]], at: "own.draft.text", Rule.scalars(8_000)),
            .tooLarge("own", ["folders": [Wire.text(31)]], at: "own.folders[0]", Rule.scalars(30)),
            .tooLarge("own", ["folders": Wire.list("a", 21)], at: "own.folders", Rule.elements(20)),
        ] as [Refusal])
    func aHeadNamesItsWrongField(refusal: Refusal) { refusal.check(ChatHead.self, Self.head) }

    /// The values that stand for absent fields are not written, so that most heads are small.
    @Test(
        arguments: [
            ("state", "joined"), ("role", "member"), ("members", 0), ("members_version", 0), ("min_seq", 1), ("read", 0), ("unread", 0),
            ("mentions", 0), ("pins", []), ("own", [:]), ("own", ["archived": false, "notify": "all", "folders": []]), ("title", nil),
        ] as [(String, JSONValue)])
    func anAbsentFieldOfAHeadHasADefault(field: String, value: JSONValue) throws {
        #expect(try Wire.rewritten(ChatHead.self, Self.head, field, value) == nil)
        var changed = Self.head
        changed[field] = value
        #expect(try ChatHead(json: .object(changed)) == ChatHead(json: .object(Self.head)))
    }

    @Test(
        arguments: [("kind", "broadcast"), ("state", "paused"), ("role", "moderator")] as [(String, JSONValue)])
    func aHeadOfALaterVersionIsRead(field: String, value: JSONValue) throws {
        #expect(try Wire.rewritten(ChatHead.self, Self.head, field, value) == "unknown")
    }

    // MARK: Users

    @Test(
        arguments: [
            .missing("name"), .invalid("name", "@bob", Rule.user), .invalid("nick", "", Rule.filled),
            .tooLarge("nick", Wire.text(51), Rule.scalars(50)), .invalid("avatar", "", Rule.blob), .invalid("status", "", Rule.filled),
            .tooLarge("status", Wire.text(101), Rule.scalars(100)), .invalid("online", 1, Rule.bool), .invalid("last_seen", -1, Rule.count),
            .invalid("deleted", "yes", Rule.bool),
        ] as [Refusal])
    func aUserNamesItsWrongField(refusal: Refusal) { refusal.check(ChatUser.self, ["name": "bob"]) }

    /// Offline and not visible are different: a user who hides the presence has no `online`.
    @Test func aHiddenPresenceIsAbsent() throws {
        #expect(try ChatUser(json: ["name": "bob", "online": false]).online == false)
        #expect(try ChatUser(json: ["name": "bob", "online": nil]).online == nil)
        #expect(ChatUser(name: Wire.bob, online: false).json == ["name": "bob", "online": false])
        #expect(ChatUser(name: Wire.bob).json == ["name": "bob"])
    }
}
