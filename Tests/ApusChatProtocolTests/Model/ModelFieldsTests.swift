import ApusChatProtocol
import ApusJSON
import Testing

/// The fields of events, heads and previews.
@Suite struct ModelFieldsTests {
    @Test func events() throws {
        try Wire.check(
            ChatEvent(
                conversation: Wire.room, seq: 9, n: 4, sender: Wire.bob, id: try Wire.id("m"), at: 5, kind: .text, ref: 3, thread: 2,
                state: .edited, body: ["text": "x"], editedAt: 6, expiresAt: 7,
                reactions: [ReactionCount(key: "👍", count: 2), ReactionCount(key: "👎", count: 1)], votes: [1, 0],
                replies: ThreadSummary(count: 11, seq: 8)),
            [
                "conv": Wire.conv, "seq": 9, "n": 4, "sender": "bob", "id": "m", "at": 5, "kind": "text", "ref": 3, "thread": 2,
                "state": "edited", "body": ["text": "x"], "edited_at": 6, "expires_at": 7,
                "reactions": [["key": "👍", "count": 2], ["key": "👎", "count": 1]], "votes": [1, 0],
                "replies": ["count": 11, "seq": 8],
            ])
    }

    @Test(arguments: [
        (EventState.edited, "edited"), (.recalled, "recalled"), (.expired, "expired"), (.erased, "erased"),
    ])
    func states(state: EventState, text: String) throws {
        try Wire.check(
            ChatEvent(conversation: Wire.room, seq: 9, n: 4, sender: Wire.bob, id: nil, at: 5, kind: .text, state: state, body: [:]),
            ["conv": Wire.conv, "seq": 9, "n": 4, "sender": "bob", "at": 5, "kind": "text", "state": .string(text)])
    }

    @Test func aHiddenEventHasItsPlaceOnly() throws {
        try Wire.check(
            ChatEvent.hidden(conversation: Wire.room, seq: 9, n: 4), ["conv": Wire.conv, "seq": 9, "n": 4, "kind": "hidden"])
        try Wire.check(ChatEvent.hidden(conversation: Wire.room, seq: 9, n: nil), ["conv": Wire.conv, "seq": 9, "kind": "hidden"])
    }

    @Test func heads() throws {
        var settings = ConversationSettings()
        settings.slow = 30
        let head = ChatHead(
            conversation: Wire.room, kind: .group, state: .left, role: .admin, title: "T", avatar: try Wire.blob(),
            peer: ChatUser(name: Wire.bob), members: 3, membersVersion: 4, settings: settings, seq: 17, n: 12, minSeq: 5, read: 10,
            unread: 2, mentions: 1, at: 8,
            last: EventPreview(
                seq: 16, n: 11, sender: Wire.carol, at: 7, kind: .text, state: .edited, text: "hi", users: [Wire.alice]),
            pins: [6, 9], call: 15, silencedUntil: 24,
            own: OwnSettings(
                pinnedAt: 21, isArchived: true, mutedUntil: 22, notify: .mentions, isMarkedUnread: true,
                draft: Draft(text: "d", ref: 2, at: 23), folders: ["Work"]))
        try Wire.check(
            head,
            [
                "conv": Wire.conv, "kind": "group", "state": "left", "role": "admin", "title": "T", "avatar": Wire.hash,
                "peer": ["name": "bob"], "members": 3, "members_version": 4, "settings": settings.json, "seq": 17, "n": 12,
                "min_seq": 5, "read": 10, "unread": 2, "mentions": 1, "at": 8,
                "last": [
                    "seq": 16, "n": 11, "sender": "carol", "at": 7, "kind": "text", "state": "edited", "text": "hi",
                    "users": ["alice"],
                ], "pins": [6, 9], "call": 15, "silenced_until": 24,
                "own": [
                    "pinned_at": 21, "archived": true, "muted_until": 22, "notify": "mentions", "marked_unread": true,
                    "draft": ["text": "d", "ref": 2, "at": 23], "folders": ["Work"],
                ],
            ])
    }

    @Test(arguments: [
        (ConversationKind.own, "self"), (.pair, "pair"), (.group, "group"), (.channel, "channel"),
    ])
    func kinds(kind: ConversationKind, text: String) throws {
        try Wire.check(
            ChatHead(conversation: Wire.room, kind: kind, seq: 3, n: 2, at: 4),
            ["conv": Wire.conv, "kind": .string(text), "seq": 3, "n": 2, "at": 4])
    }

    @Test(arguments: [
        (MemberState.invited, "invited"), (.requested, "requested"), (.left, "left"), (.removed, "removed"), (.banned, "banned"),
    ])
    func relations(state: MemberState, text: String) throws {
        try Wire.check(
            ChatHead(conversation: Wire.room, kind: .group, state: state, seq: 3, n: 2, at: 4),
            ["conv": Wire.conv, "kind": "group", "state": .string(text), "seq": 3, "n": 2, "at": 4])
    }

    @Test(arguments: [(MemberRole.owner, "owner"), (.admin, "admin"), (.reader, "reader"), (.guest, "guest")])
    func roles(role: MemberRole, text: String) throws {
        try Wire.check(
            ChatHead(conversation: Wire.room, kind: .group, role: role, seq: 3, n: 2, at: 4),
            ["conv": Wire.conv, "kind": "group", "role": .string(text), "seq": 3, "n": 2, "at": 4])
    }

    @Test func previewsOfCallsAndRecordings() throws {
        try Wire.check(
            EventPreview(seq: 3, n: 2, sender: Wire.bob, at: 4, kind: .call, call: .missed, media: .video),
            [
                "seq": 3, "n": 2, "sender": "bob", "at": 4, "kind": "call", "call": "missed", "media": "video",
            ])
        try Wire.check(
            EventPreview(seq: 3, n: 2, sender: Wire.bob, at: 4, kind: .audio, isVoice: true, duration: 9),
            [
                "seq": 3, "n": 2, "sender": "bob", "at": 4, "kind": "audio", "voice": true, "duration": 9,
            ])
    }

    // MARK: Errors

    @Test(arguments: ChatError.Code.allCases.filter { $0 != .unknown })
    func errorsHaveTheirFields(code: ChatError.Code) throws {
        let error = ChatError(code, message: "M", field: "F", retryAfter: 7)
        let inner: JSONValue = ["code": .string(code.rawValue), "message": "M", "field": "F", "retry_after": 7]
        try Wire.check(error, ["error": inner])
        try Wire.check(ChatError(code, message: "M"), ["error": ["code": .string(code.rawValue), "message": "M"]])
    }

    /// The codes, their status codes and whether a retry can help, as docs/chat-wire.md lists them.
    @Test(arguments: [
        ("bad_request", 400, false), ("unauthorized", 401, false), ("forbidden", 403, false), ("not_found", 404, false),
        ("conflict", 409, false), ("too_large", 413, false), ("unsupported", 501, false), ("too_many", 429, true),
        ("limit", 422, false), ("too_late", 410, false), ("resync", 409, false), ("epoch", 409, false), ("storage", 503, true),
        ("unavailable", 503, true), ("internal", 500, true),
    ])
    func codesHaveAStatusAndAreTemporaryOrNot(text: String, status: Int, isTemporary: Bool) throws {
        let code = try #require(ChatError.Code(rawValue: text))
        #expect(code.httpStatus == status && code.isTemporary == isTemporary)
    }

    @Test func anErrorOfALaterVersionIsUnknownAndNotRepeated() throws {
        let error = try ChatError(json: ["error": ["code": "later", "message": "M"]])
        #expect(error.code == .unknown && error.message == "M" && !error.code.isTemporary)
        for value in [["error": "x"], [:], ["code": "limit", "message": "M"]] as [JSONValue] {
            #expect(throws: WireError.self, "\(value)") { try ChatError(json: value) }
        }
    }
}
