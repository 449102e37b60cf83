import ApusChatProtocol
import ApusJSON
import Testing

/// The properties that the fields of the protocol are read into. A comparison of the input of a
/// codec with its output would not detect two fields that are exchanged in both directions.
@Suite("Fields and their properties")
struct TypedValueTests {
    private static let conv: JSONValue = "0000000000007"
    private let room = ConversationID(number: 7)

    // MARK: Requests

    @Test func requestsHaveTheirFields() throws {
        let send = try SendRequest(
            json: [
                "id": "m", "conv": Self.conv, "kind": "text", "body": ["text": "x"], "ref": 3, "thread": 2, "if_epoch": 4, "silent": true,
            ])
        #expect(send.id.rawValue == "m" && send.conversation == self.room && send.kind == .text && send.body["text"] == "x")
        #expect(send.ref == 3 && send.thread == 2 && send.ifEpoch == 4 && send.isSilent)
        let answer = try MemberAnswerRequest(json: ["id": "a", "conv": Self.conv, "accept": false])
        #expect(!answer.isAccepted && answer.json["accept"] == false)
        let approve = try MemberApproveRequest(json: ["id": "a", "conv": Self.conv, "user": "Bob", "accept": true])
        #expect(approve.isAccepted && approve.user.rawValue == "bob")
        let contact = try ContactAnswerRequest(json: ["id": "a", "user": "bob", "accept": true])
        #expect(contact.isAccepted)
        let pin = try PinRequest(json: ["id": "a", "conv": Self.conv, "ref": 5, "remove": true])
        let unpin = try PinRequest(json: ["id": "a", "conv": Self.conv, "ref": 5])
        #expect(pin.ref == 5 && pin.isRemoval && !unpin.isRemoval)
        let react = try ReactRequest(json: ["id": "a", "conv": Self.conv, "ref": 5, "key": "👍"])
        #expect(!react.isRemoval && react.key == "👍" && react.ref == 5)
        let typing = try TypingRequest(json: ["conv": Self.conv, "stopped": true])
        #expect(try typing.isStopped && !TypingRequest(json: ["conv": Self.conv]).isStopped)
        let mark = try MarkRequest(json: ["conv": Self.conv, "read": 3, "received": 9])
        #expect(mark.read == 3 && mark.received == 9)
        let forward = try ForwardRequest(
            json: ["id": "a", "conv": "0000000000008", "from": Self.conv, "seqs": [4, 2], "bundle": true, "title": "T", "anonymous": true])
        #expect(forward.conversation.number == 8 && forward.source == self.room && forward.seqs == [4, 2])
        #expect(forward.isBundle && forward.isAnonymous && !forward.isSilent && forward.title == "T")
        let delete = try DeleteRequest(json: ["id": "a", "conv": Self.conv, "for_all": true])
        #expect(delete.isForAll)
        let link = try LinkCreateRequest(json: [
            "id": "a", "conv": Self.conv, "role": "guest", "expires_at": 8, "uses": 9, "approval": true,
        ])
        #expect(link.role == .guest && link.expiresAt == 8 && link.uses == 9 && link.needsApproval)
        let ban = try MemberUntilRequest(json: ["id": "a", "conv": Self.conv, "users": ["bob", "carol"], "until": 5])
        #expect(ban.users.map(\.rawValue) == ["bob", "carol"] && ban.until == 5)
        let vote = try VoteRequest(json: ["id": "a", "conv": Self.conv, "ref": 5, "options": [2, 0]])
        #expect(vote.ref == 5 && vote.options == [2, 0])
        let schedule = try ScheduleRequest(
            json: [
                "id": "a", "conv": Self.conv, "kind": "text", "body": ["text": "x"], "ref": 1, "thread": 2, "silent": true, "send_at": 9,
            ])
        #expect(schedule.sendAt == 9 && schedule.isSilent && schedule.ref == 1 && schedule.thread == 2)
        let unschedule = try UnscheduleRequest(json: ["id": "a", "of": "b"])
        #expect(unschedule.id.rawValue == "a" && unschedule.target.rawValue == "b")
        let members = try MembersRequest(json: ["conv": Self.conv, "query": "b", "state": "banned", "page": "p"])
        #expect(members.query == "b" && members.state == .banned && members.page?.rawValue == "p")
        let search = try SearchRequest(
            json: ["query": "q", "conv": Self.conv, "sender": "bob", "kinds": ["text", "x.a"], "from_at": 1, "until_at": 2])
        #expect(
            search.sender?.rawValue == "bob" && search.kinds.map(\.rawValue) == ["text", "x.a"] && search.fromAt == 1 && search.untilAt == 2
        )
        let call = try CallUpdateRequest(json: ["id": "a", "conv": Self.conv, "call": 4, "state": "declined"])
        #expect(call.call == 4 && call.state == .declined)
    }

    @Test func ownSettingsKeepAbsentAndFalseApart() throws {
        let empty = try OwnSetRequest(json: ["id": "a", "conv": Self.conv])
        #expect(
            empty.isPinned == nil && empty.isArchived == nil && empty.mutedUntil == nil && empty.isMarkedUnread == nil
                && empty.notify == nil)
        let set = try OwnSetRequest(
            json: [
                "id": "a", "conv": Self.conv, "pinned": false, "archived": true, "muted_until": 0, "marked_unread": false,
                "notify": "mentions",
            ])
        #expect(
            set.isPinned == false && set.isArchived == true && set.mutedUntil == 0 && set.isMarkedUnread == false && set.notify == .mentions
        )
        let settings = try SettingsSetRequest(
            json: [
                "id": "a", "settings": ["receipts": false, "typing": true, "quiet_from": 1_320, "quiet_until": 420, "find": "contacts"],
            ]
        ).settings
        #expect(settings.receipts == false && settings.typing == true && settings.quietFrom == 1_320 && settings.quietUntil == 420)
        #expect(settings.find == .contacts && settings.lastSeen == nil && settings.folders == nil)
        for minutes in [-1, 1_440] as [Int64] {
            #expect(throws: WireError.self) {
                try SettingsSetRequest(json: ["id": "a", "settings": ["quiet_from": .integer(minutes), "quiet_until": 0]])
            }
        }
    }

    // MARK: Events and heads

    @Test func eventsHaveTheirFields() throws {
        let event = try ChatEvent(json: [
            "conv": Self.conv, "seq": 9, "n": 4, "sender": "bob", "id": "m", "at": 5, "kind": "text", "ref": 3, "thread": 2,
            "state": "edited",
            "body": ["text": "x"], "edited_at": 6, "expires_at": 7, "reactions": [["key": "👍", "count": 2]], "votes": [1, 0],
            "replies": ["count": 3, "seq": 8],
        ])
        #expect(event.conversation == self.room && event.seq == 9 && event.n == 4 && event.sender?.rawValue == "bob" && event.at == 5)
        #expect(event.ref == 3 && event.thread == 2 && event.state == .edited && event.editedAt == 6 && event.expiresAt == 7)
        #expect(
            event.reactions == [ReactionCount(key: "👍", count: 2)] && event.votes == [1, 0]
                && event.replies == ThreadSummary(count: 3, seq: 8))
        let bare = try ChatEvent(json: ["conv": Self.conv, "seq": 1, "kind": "hidden"])
        #expect(bare.n == nil && bare.sender == nil && bare.state == .normal && bare.body.isEmpty && bare.at == 0 && bare.kind == .hidden)
    }

    @Test(arguments: [
        ("normal", false), ("edited", false), ("recalled", true), ("expired", true), ("erased", true), ("later", false),
    ])
    func statesWithoutContentAreBlank(state: String, isBlank: Bool) throws {
        let event = try ChatEvent(json: ["conv": Self.conv, "seq": 1, "kind": "text", "state": .string(state), "body": ["text": "x"]])
        #expect(event.state.isBlank == isBlank && (ChatBody(event) == nil) == isBlank)
    }

    @Test func headsHaveTheirFields() throws {
        let head = try ChatHead(json: [
            "conv": Self.conv, "kind": "group", "state": "invited", "role": "admin", "title": "T", "members": 3, "members_version": 4,
            "seq": 17,
            "n": 12, "min_seq": 5, "read": 10, "unread": 2, "mentions": 1, "at": 8, "pins": [6, 5], "call": 16,
            "last": ["seq": 17, "n": 12, "sender": "bob", "kind": "text", "text": "hi", "state": "edited"],
            "own": ["pinned_at": 3, "archived": true, "muted_until": 9, "marked_unread": true, "draft": ["text": "d", "ref": 2, "at": 1]],
        ])
        #expect(head.kind == .group && head.state == .invited && head.role == .admin && head.title == "T")
        #expect(head.members == 3 && head.membersVersion == 4 && head.seq == 17 && head.n == 12 && head.minSeq == 5)
        #expect(head.read == 10 && head.unread == 2 && head.mentions == 1 && head.at == 8 && head.pins == [6, 5] && head.call == 16)
        #expect(head.last?.text == "hi" && head.last?.state == .edited && head.last?.sender?.rawValue == "bob" && head.last?.seq == 17)
        #expect(head.own.pinnedAt == 3 && head.own.isArchived && head.own.mutedUntil == 9 && head.own.isMarkedUnread)
        #expect(head.own.draft?.text == "d" && head.own.draft?.ref == 2)
        let bare = try ChatHead(json: ["conv": Self.conv, "kind": "self", "seq": 0, "n": 0, "at": 0])
        #expect(
            bare.state == .joined && bare.role == .member && bare.minSeq == 1 && bare.unread == 0 && bare.own == OwnSettings()
                && bare.kind == .own)
    }

    // MARK: Pushes and answers

    @Test func pushesHaveTheirFields() throws {
        let marks = try MarkPush(json: ["marks": [["conv": Self.conv, "user": "bob", "read": 3, "received": 5]]]).marks
        #expect(marks.map(\.user.rawValue) == ["bob"] && marks[0].read == 3 && marks[0].received == 5)
        let presence = try PresencePush(json: ["users": [["user": "bob", "online": false, "last_seen": 7]]]).users
        #expect(presence[0].isOnline == false && presence[0].lastSeen == 7)
        let typing = try TypingPush(json: ["conv": Self.conv, "user": "bob", "stopped": true])
        #expect(typing.isStopped && typing.user.rawValue == "bob" && typing.conversation == self.room)
        let bye = try ByePush(json: ["reason": "signed_out"])
        #expect(!bye.reason.permitsReconnect && bye.retryAfter == nil)
        #expect(try ByePush(json: ["reason": "slow", "retry_after": 20]).retryAfter == 20)
        #expect(try ByePush(json: ["reason": "of a later version"]).reason.permitsReconnect)
    }

    @Test func answersHaveTheirFields() throws {
        let sent = try SendAnswer(json: ["conv": Self.conv, "id": "m", "seq": 4, "n": 3, "at": 2])
        #expect(sent.seq == 4 && sent.n == 3 && sent.at == 2 && sent.id.rawValue == "m")
        let mark = try MarkAnswer(json: ["conv": Self.conv, "read": 4, "unread": 3, "mentions": 2, "n": 7])
        #expect(mark.read == 4 && mark.unread == 3 && mark.mentions == 2 && mark.n == 7)
        let readers = try ReadersAnswer(json: ["readers": [["user": "bob", "received": true]]]).readers
        #expect(readers[0].isReceived && !readers[0].isRead)
        let history = try HistoryAnswer(
            json: ["conv": Self.conv, "events": [], "mine": [["seq": 3, "reactions": ["👍"], "votes": [1]]], "seq": 9, "min_seq": 2])
        #expect(history.seq == 9 && history.minSeq == 2 && history.mine.map(\.seq) == [3])
        #expect(history.mine[0].reactions == ["👍"] && history.mine[0].votes == [1])
        let answer = try DevicesAnswer(json: [
            "devices": [
                ["device": Self.conv, "name": "N", "platform": "web", "at": 1, "last_seen": 2, "address": "192.0.2.1", "current": true]
            ],
            "authenticator": true,
        ])
        #expect(answer.hasAuthenticator && !DevicesAnswer(devices: []).hasAuthenticator)
        let devices = answer.devices
        #expect(devices[0].isCurrent && devices[0].lastSeen == 2 && devices[0].at == 1 && devices[0].address == "192.0.2.1")
        let session = try SessionAnswer(json: [
            "user": ["name": "alice"], "device": Self.conv, "access": "a", "access_expires_at": 5, "refresh": "r", "recovery": ["c"],
        ])
        #expect(session.access == "a" && session.refresh == "r" && session.accessExpiresAt == 5 && session.recovery == ["c"])
    }

    // MARK: Lists that are bounded by their meaning

    @Test func aChangeIsUnknownByItsValueOnly() throws {
        #expect(try ConversationSettingsChange(json: ["write": "admins", "slow": 5]).isKnown)
        #expect(try ConversationSettingsChange(json: [:]).isKnown && ConversationSettingsChange(json: [:]).isEmpty)
        for field in ["write", "invite", "manage", "pin", "mention_all", "join", "history"] {
            let change = try ConversationSettingsChange(json: .object(JSONObject([(field, JSONValue.string("of a later version"))])))
            #expect(!change.isKnown && !change.isEmpty, "\(field)")
        }
    }
}
