import ApusChatProtocol
import ApusJSON
import Testing

/// Pushes with the least fields, with fields of a later version, and damaged ones.
@Suite("Pushes at their limits")
struct PushRefusalTests {
    private static let event: JSONValue = ["conv": Wire.conv, "seq": 9, "kind": "text"]

    // MARK: The log

    @Test(
        arguments: [
            .invalid("events", "x", Rule.array), .invalid("events", [event, "x"], at: "events[1]", Rule.object),
            .missing("events", [["seq": 1, "kind": "text"]], at: "events[0].conv"),
            .missing("events", [event, ["conv": Wire.conv, "seq": 1]], at: "events[1].kind"),
            .invalid("events", [["conv": Wire.conv, "seq": 1, "kind": "text", "n": 0]], at: "events[0].n", Rule.seq),
            .invalid("events", [["conv": Wire.conv, "seq": 1, "kind": "text", "sender": ""]], at: "events[0].sender", Rule.user),
            .tooLarge("events", Wire.list(event, 201), Rule.elements(200)), .invalid("silent", 1, Rule.bool),
            .invalid("as_of", 0, Rule.seq),
        ] as [Refusal])
    func aPushOfEventsNamesItsPath(refusal: Refusal) { refusal.check(EventPush.self, ["events": [Self.event]]) }

    /// A push of another version: an absent list has no events, and unknown fields are ignored.
    @Test func aPushOfEventsWithoutEventsIsEmpty() throws {
        #expect(try EventPush(json: [:]) == EventPush(events: []))
        #expect(try EventPush(json: ["events": nil, "silent": false, "later": [1]]).json == ["events": []])
        let most = try EventPush(json: ["events": Wire.list(Self.event, 200), "as_of": 9_007_199_254_740_991])
        #expect(most.events.count == 200 && most.asOf == 9_007_199_254_740_991 && !most.isSilent)
    }

    @Test(
        arguments: [
            .missing("nudges", [["seq": 1, "n": 1, "at": 1]], at: "nudges[0].conv"),
            .missing("nudges", [["conv": Wire.conv, "n": 1, "at": 1]], at: "nudges[0].seq"),
            .missing("nudges", [["conv": Wire.conv, "seq": 1, "at": 1]], at: "nudges[0].n"),
            .missing("nudges", [["conv": Wire.conv, "seq": 1, "n": 1]], at: "nudges[0].at"),
            .invalid("nudges", [["conv": Wire.conv, "seq": 1, "n": 1, "at": 1, "mentions": -1]], at: "nudges[0].mentions", Rule.count),
            .missing("nudges", [["conv": Wire.conv, "seq": 1, "n": 1, "at": 1, "last": ["seq": 1]]], at: "nudges[0].last.kind"),
            .invalid("heads", [7], at: "heads[0]", Rule.object),
            .missing("heads", [["conv": Wire.conv, "kind": "pair", "seq": 1, "n": 1]], at: "heads[0].at"),
            .invalid("gone", ["x"], at: "gone[0]", Rule.conversation),
            .tooLarge("gone", Wire.list(Wire.conv, 10_001), Rule.elements(10_000)),
            .tooLarge("heads", Wire.list(["conv": Wire.conv, "kind": "pair", "seq": 0, "n": 0, "at": 0], 201), Rule.elements(200)),
        ] as [Refusal])
    func aPushOfHeadsNamesItsPath(refusal: Refusal) { refusal.check(HeadPush.self, [:]) }

    // MARK: Positions and presences

    @Test(
        arguments: [
            .missing("marks", [["user": "bob"]], at: "marks[0].conv"), .missing("marks", [["conv": Wire.conv]], at: "marks[0].user"),
            .invalid("marks", [["conv": Wire.conv, "user": "bob", "read": -1]], at: "marks[0].read", Rule.count),
            .invalid("marks", [["conv": Wire.conv, "user": "bob", "received": "1"]], at: "marks[0].received", Rule.count),
            .invalid("marks", [["conv": Wire.conv, "user": "bob", "unread": 0.5]], at: "marks[0].unread", Rule.count),
            .invalid("marks", [["conv": Wire.conv, "user": "bob", "mentions": []]], at: "marks[0].mentions", Rule.count),
            .invalid("marks", [["conv": Wire.conv, "user": "bob", "n": true]], at: "marks[0].n", Rule.count),
        ] as [Refusal])
    func aPushOfPositionsNamesItsPath(refusal: Refusal) { refusal.check(MarkPush.self, ["marks": []]) }

    /// The position of another member has no counters, and 0 is a position.
    @Test func aPositionOfAnotherMemberHasNoCounters() throws {
        let mark = ReadMark(conversation: Wire.room, user: Wire.bob, read: 0)
        try Wire.check(mark, ["conv": Wire.conv, "user": "bob", "read": 0])
        try Wire.check(
            ReadMark(conversation: Wire.room, user: Wire.bob, received: 0, unread: 0, mentions: 0, n: 0),
            ["conv": Wire.conv, "user": "bob", "received": 0, "unread": 0, "mentions": 0, "n": 0])
    }

    @Test(
        arguments: [
            .missing("users", [["online": true]], at: "users[0].user"), .missing("users", [["user": "bob"]], at: "users[0].online"),
            .missing("users", [["user": "bob", "online": nil]], at: "users[0].online"),
            .invalid("users", [["user": "bob", "online": "yes"]], at: "users[0].online", Rule.bool),
            .invalid("users", [["user": "bob", "online": true, "last_seen": -1]], at: "users[0].last_seen", Rule.count),
            .tooLarge("users", Wire.list(["user": "bob", "online": true], 5_001), Rule.elements(5_000)),
        ] as [Refusal])
    func aPushOfPresencesNamesItsPath(refusal: Refusal) { refusal.check(PresencePush.self, ["users": []]) }

    @Test(
        arguments: [
            .missing("conv"), .missing("user"), .invalid("user", "a b", Rule.user), .invalid("stopped", "yes", Rule.bool),
        ] as [Refusal])
    func aPushOfTypingNamesItsWrongField(refusal: Refusal) { refusal.check(TypingPush.self, ["conv": Wire.conv, "user": "bob"]) }

    @Test(
        arguments: [
            .missing("users", [["nick": "B"]], at: "users[0].name"), .invalid("users", ["bob"], at: "users[0]", Rule.object),
            .tooLarge("users", Wire.list(["name": "bob"], 101), Rule.elements(100)),
        ] as [Refusal])
    func aPushOfProfilesNamesItsPath(refusal: Refusal) { refusal.check(UserPush.self, ["users": []]) }

    @Test(
        arguments: [
            .missing("conv"), .missing("call"), .missing("from"), .missing("device"), .missing("data"), .invalid("call", 0, Rule.seq),
            .invalid("from", "a b", Rule.user), .invalid("device", "5", Rule.device), .invalid("data", "x", Rule.object),
        ] as [Refusal])
    func aSignalNamesItsWrongField(refusal: Refusal) {
        refusal.check(SignalPush.self, ["conv": Wire.conv, "call": 4, "from": "bob", "device": "0000000000005", "data": [:]])
    }

    // MARK: The end of a connection

    /// A client of this version reconnects after a reason of a later version.
    @Test(arguments: [.none, "later", "unknown", "", "Shutdown"] as [JSONValue?])
    func anUnknownReasonPermitsAReconnection(reason: JSONValue?) throws {
        var fields: JSONObject = ["retry_after": 0]
        fields["reason"] = reason
        let bye = try ByePush(json: .object(fields))
        #expect(bye.reason == .unknown && bye.reason.permitsReconnect && bye.retryAfter == 0)
    }

    @Test(
        arguments: [
            .invalid("reason", 1, Rule.string), .invalid("retry_after", -1, Rule.count), .invalid("retry_after", "20", Rule.count),
            .invalid("retry_after", 0.5, Rule.count),
        ] as [Refusal])
    func aByeNamesItsWrongField(refusal: Refusal) { refusal.check(ByePush.self, ["reason": "slow"]) }

    // MARK: Names

    /// The names and features of the pushes, on which the filter of the server depends.
    @Test func pushesHaveTheirNamesAndFeatures() {
        let pushes: [(String, PushFeature?)] = [
            (ChatPushes.event.name, ChatPushes.event.feature), (ChatPushes.head.name, ChatPushes.head.feature),
            (ChatPushes.mark.name, ChatPushes.mark.feature), (ChatPushes.presence.name, ChatPushes.presence.feature),
            (ChatPushes.typing.name, ChatPushes.typing.feature), (ChatPushes.user.name, ChatPushes.user.feature),
            (ChatPushes.signal.name, ChatPushes.signal.feature), (ChatPushes.bye.name, ChatPushes.bye.feature),
        ]
        #expect(pushes.map(\.0) == ["event", "head", "mark", "presence", "typing", "user", "signal", "bye"])
        #expect(pushes.map(\.1) == [nil, nil, .receipts, .presence, .typing, nil, .calls, nil])
    }
}
