import ApusChatProtocol
import ApusJSON
import Testing

/// The fields of the pushes.
@Suite struct PushFieldsTests {
    private let event = ChatEvent(
        conversation: Wire.room, seq: 9, n: 4, sender: Wire.bob, id: nil, at: 5, kind: .text, body: ["text": "x"])
    private let eventJSON: JSONValue = [
        "conv": Wire.conv, "seq": 9, "n": 4, "sender": "bob", "at": 5, "kind": "text", "body": ["text": "x"],
    ]

    @Test func events() throws {
        try Wire.check(
            EventPush(events: [self.event], isSilent: true, asOf: 12), ["events": [self.eventJSON], "silent": true, "as_of": 12])
        try Wire.check(EventPush(events: [self.event]), ["events": [self.eventJSON]])
    }

    @Test func headsNudgesAndTombstones() throws {
        let head = ChatHead(conversation: Wire.room, kind: .pair, seq: 3, n: 2, at: 4)
        let last = EventPreview(seq: 6, n: 5, sender: Wire.bob, at: 7, kind: .text, text: "hi")
        try Wire.check(
            HeadPush(
                heads: [head], nudges: [HeadNudge(conversation: Wire.other, seq: 6, n: 5, at: 7, mentions: 2, last: last)],
                gone: [ConversationID(number: 9)]),
            [
                "heads": [["conv": Wire.conv, "kind": "pair", "seq": 3, "n": 2, "at": 4]],
                "nudges": [
                    [
                        "conv": "0000000000008", "seq": 6, "n": 5, "at": 7, "mentions": 2,
                        "last": ["seq": 6, "n": 5, "sender": "bob", "at": 7, "kind": "text", "text": "hi"],
                    ]
                ], "gone": ["0000000000009"],
            ])
        try Wire.check(HeadPush(), [:])
    }

    @Test func positions() throws {
        try Wire.check(
            MarkPush(marks: [
                ReadMark(conversation: Wire.room, user: Wire.bob, read: 3, received: 4, unread: 5, mentions: 2, n: 8),
                ReadMark(conversation: Wire.other, user: Wire.carol, received: 1),
            ]),
            [
                "marks": [
                    ["conv": Wire.conv, "user": "bob", "read": 3, "received": 4, "unread": 5, "mentions": 2, "n": 8],
                    ["conv": "0000000000008", "user": "carol", "received": 1],
                ]
            ])
    }

    @Test func presences() throws {
        try Wire.check(
            PresencePush(users: [.init(user: Wire.bob, isOnline: true), .init(user: Wire.carol, isOnline: false, lastSeen: 7)]),
            ["users": [["user": "bob", "online": true], ["user": "carol", "online": false, "last_seen": 7]]])
    }

    @Test func typingAndProfiles() throws {
        try Wire.check(
            TypingPush(conversation: Wire.room, user: Wire.bob, isStopped: true),
            ["conv": Wire.conv, "user": "bob", "stopped": true])
        try Wire.check(UserPush(users: [ChatUser(name: Wire.bob, nick: "B")]), ["users": [["name": "bob", "nick": "B"]]])
    }

    /// A client reconnects by itself only if that can succeed.
    @Test(arguments: [
        (ByePush.Reason.signedOut, "signed_out", false), (.accountClosed, "account_closed", false), (.shutdown, "shutdown", true),
        (.slow, "slow", true), (.protocolError, "protocol_error", false), (.version, "version", false),
    ])
    func ends(reason: ByePush.Reason, text: String, permitsReconnect: Bool) throws {
        try Wire.check(ByePush(reason: reason, retryAfter: 20), ["reason": .string(text), "retry_after": 20])
        #expect(reason.permitsReconnect == permitsReconnect)
    }
}
