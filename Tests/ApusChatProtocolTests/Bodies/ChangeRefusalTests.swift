import ApusChatProtocol
import ApusJSON
import Testing

/// Damaged bodies of changes, and what a client reads of a change of another version.
@Suite("Damaged changes")
struct ChangeRefusalTests {
    private static func event(_ kind: String, _ body: JSONObject, state: EventState = .normal) -> ChatEvent {
        ChatEvent(
            conversation: Wire.room, seq: 9, n: nil, sender: Wire.bob, id: nil, at: 5, kind: EventKind(rawValue: kind), ref: 3,
            state: state,
            body: body)
    }

    private static func refusal(_ kind: String, _ body: JSONObject) -> WireError? {
        do throws(WireError) {
            _ = try ChatChange(reading: self.event(kind, body))
            return nil
        } catch { return error }
    }

    /// The smallest body of each kind of change.
    private static let smallest: [(kinds: [String], body: JSONObject)] = [
        (["edit"], ["body": [:]]), (["react"], ["key": "a"]), (["preview", "vote", "pin", "recall", "poll.close"], [:]),
        (["call.update"], ["state": "ended"]), (["conversation.create"], ["kind": "group"]), (["conversation.set"], [:]),
        (
            ["member.join", "member.invite", "member.leave", "member.remove", "member.ban", "member.unban", "member.role", "member.mute"],
            [:]
        ), (["self.pin", "self.archive", "self.mute", "self.unread", "self.folder", "self.draft", "self.hide"], ["conv": Wire.conv]),
        (["self.set"], [:]),
        (
            ["contact.request", "contact.accept", "contact.remove", "contact.alias", "contact.block", "contact.unblock"],
            ["user": "bob"]
        ), (["device.add", "device.remove"], ["device": "0000000000005", "name": "N", "platform": "web"]),
    ]

    @Test func eachKindOfChangeHasASmallestBody() {
        let kinds = EventKind.table.map { EventKind($0.code) }.filter { !$0.isMessage && $0 != .hidden }
        #expect(Set(Self.smallest.flatMap(\.kinds)) == Set(kinds.map(\.rawValue)))
        for (kinds, body) in Self.smallest {
            for kind in kinds { #expect(Self.refusal(kind, body) == nil, "\(kind)") }
        }
    }

    @Test func eachFieldOfTheSmallestBodyIsNeeded() {
        for (kinds, body) in Self.smallest {
            for (kind, field) in kinds.flatMap({ kind in body.map { (kind, $0.key) } }) {
                var damaged = body
                damaged[field] = nil
                // A choice of another version is unknown, also if it is absent.
                let isChoice = ["call.update", "conversation.create"].contains(kind)
                #expect(
                    Self.refusal(kind, damaged) == (isChoice ? nil : WireError(.missing, field: field, rule: "is required")),
                    "\(kind) \(field)")
            }
        }
    }

    @Test(
        arguments: [
            ("edit", "body", "x", "body", Rule.object), ("react", "key", "", "key", Rule.filled),
            ("react", "remove", 1, "remove", Rule.bool),
            ("vote", "options", [0, "1"], "options[1]", Rule.count), ("pin", "remove", "yes", "remove", Rule.bool),
            ("preview", "preview", "x", "preview", Rule.object), ("preview", "preview", ["url": ""], "preview.url", Rule.filled),
            ("preview", "preview", ["url": "u", "width": 0], "preview.width", Rule.integer(1, 16_384)),
            ("preview", "preview", ["url": "u", "height": 16_385], "preview.height", Rule.integer(1, 16_384)),
            ("preview", "preview", ["url": "u", "blob": ""], "preview.blob", Rule.blob), ("call.update", "state", 1, "state", Rule.string),
            ("call.update", "duration", -1, "duration", Rule.count), ("conversation.create", "title", "", "title", Rule.filled),
            ("conversation.set", "title", "", "title", Rule.filled), ("conversation.set", "avatar", "x", "avatar", Rule.picture),
            ("conversation.set", "settings", ["slow": -1], "settings.slow", Rule.integer(0, 3_600)),
            ("member.join", "users", ["bob", "a b"], "users[1]", Rule.user), ("member.ban", "until", -1, "until", Rule.count),
            ("member.role", "role", 1, "role", Rule.string), ("member.join", "via", [], "via", Rule.string),
            ("self.pin", "pinned_at", -1, "pinned_at", Rule.count), ("self.archive", "archived", 1, "archived", Rule.bool),
            ("self.mute", "notify", 1, "notify", Rule.string), ("self.unread", "marked_unread", "x", "marked_unread", Rule.bool),
            ("self.folder", "folders", [""], "folders[0]", Rule.filled), ("self.draft", "draft", "x", "draft", Rule.object),
            ("self.draft", "draft", ["text": ""], "draft.text", Rule.filled),
            ("self.draft", "draft", ["text": "T", "ref": 0], "draft.ref", Rule.seq),
            ("self.hide", "seqs", [1, 0], "seqs[1]", Rule.seq), ("self.set", "users", ["@"], "users[0]", Rule.user),
            ("contact.request", "text", "", "text", Rule.filled), ("contact.alias", "alias", 1, "alias", Rule.string),
            ("contact.accept", "incoming", "x", "incoming", Rule.bool), ("device.add", "device", "5", "device", Rule.device),
            ("device.add", "name", "", "name", Rule.filled), ("device.remove", "platform", "", "platform", Rule.filled),
        ] as [(String, String, JSONValue, String, String)])
    func aDamagedFieldIsNamedByItsPath(kind: String, field: String, value: JSONValue, path: String, rule: String) throws {
        var body = try #require(Self.smallest.first { $0.kinds.contains(kind) }?.body)
        body[field] = value
        #expect(Self.refusal(kind, body) == WireError(.invalid, field: path, rule: rule))
        #expect(ChatChange(Self.event(kind, body)) == nil)
    }

    @Test(
        arguments: [
            ("react", "key", Wire.text(17), "key", Rule.scalars(16)), ("vote", "options", Wire.list(0, 21), "options", Rule.elements(20)),
            ("preview", "preview", ["url": Wire.text(2_001)], "preview.url", Rule.scalars(2_000)),
            ("preview", "preview", ["url": "u", "title": Wire.text(301)], "preview.title", Rule.scalars(300)),
            ("preview", "preview", ["url": "u", "text": Wire.text(2_001)], "preview.text", Rule.scalars(2_000)),
            ("preview", "preview", ["url": "u", "site": Wire.text(101)], "preview.site", Rule.scalars(100)),
            ("conversation.set", "about", Wire.text(1_001), "about", Rule.scalars(1_000)),
            ("conversation.create", "title", Wire.text(101), "title", Rule.scalars(100)),
            ("member.join", "users", Wire.list("bob", 101), "users", Rule.elements(100)),
            ("self.hide", "seqs", Wire.list(1, 101), "seqs", Rule.elements(100)),
            ("self.set", "users", ["bob", "carol"], "users", Rule.elements(1)),
            ("self.folder", "folders", Wire.list("a", 21), "folders", Rule.elements(20)),
            ("self.draft", "draft", ["text": Wire.text(8_001)], "draft.text", Rule.scalars(8_000)),
            ("contact.request", "text", Wire.text(201), "text", Rule.scalars(200)),
            ("contact.alias", "alias", Wire.text(51), "alias", Rule.scalars(50)),
            ("device.add", "name", Wire.text(51), "name", Rule.scalars(50)),
            ("device.add", "platform", Wire.text(21), "platform", Rule.scalars(20)),
        ] as [(String, String, JSONValue, String, String)])
    func aFieldBeyondItsLimitIsNamedByItsPath(kind: String, field: String, value: JSONValue, path: String, rule: String) throws {
        var body = try #require(Self.smallest.first { $0.kinds.contains(kind) }?.body)
        body[field] = value
        #expect(Self.refusal(kind, body) == WireError(.tooLarge, field: path, rule: rule))
    }

    /// A kind that is not a change is unsupported, whatever its body.
    @Test(arguments: ["text", "call", "bundle", "hidden", "x.game", "later", "member.later", "Edit"])
    func anotherKindIsNoChange(kind: String) {
        let rule = "must be the kind of a change, not `\(kind)`"
        #expect(Self.refusal(kind, ["key": "a", "body": [:]]) == WireError(.unsupported, field: "kind", rule: rule))
    }

    /// Choices and fields of a later version do not hide a change.
    @Test func aChangeOfALaterVersionIsRead() {
        let later: JSONValue = ["a": [1]]
        #expect(
            ChatChange(Self.event("member.join", ["users": ["bob"], "role": "moderator", "via": "qr", "later": later]))
                == .members(MemberBody(users: [Wire.bob], role: .unknown, via: .unknown)))
        #expect(ChatChange(Self.event("call.update", ["state": "paused", "later": later])) == .callUpdate(CallUpdateBody(state: .unknown)))
        #expect(
            ChatChange(Self.event("conversation.create", ["kind": "broadcast", "later": later]))
                == .conversationCreate(ConversationCreateBody(kind: .unknown)))
        #expect(ChatChange(Self.event("recall", ["later": later])) == .recall)
        #expect(ChatChange(Self.event("pin", ["remove": nil, "later": later])) == .pin(PinBody()))
        #expect(
            ChatChange(Self.event("self.mute", ["conv": Wire.conv, "notify": "later"]))
                == .ownSet(OwnSetBody(conversation: Wire.room, notify: .unknown)))
    }

    /// The content of a changed event that was removed is empty, so most changes cannot be read.
    @Test(arguments: ["edit", "react", "self.draft", "contact.request", "device.add"])
    func aRemovedChangeHasNoContent(kind: String) { #expect(ChatChange(Self.event(kind, [:], state: .erased)) == nil) }
}
