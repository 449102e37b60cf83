import ApusChatProtocol
import ApusJSON
import Testing

/// The fields of the requests for messages, and of their answers.
@Suite struct MessageFieldsTests {
    @Test func sends() throws {
        try Wire.check(
            SendRequest(
                id: try Wire.id("m"), conversation: Wire.room, kind: .text, body: ["text": "x"], ref: 3, thread: 2, ifEpoch: 4,
                isSilent: true),
            [
                "id": "m", "conv": Wire.conv, "kind": "text", "body": ["text": "x"], "ref": 3, "thread": 2, "if_epoch": 4,
                "silent": true,
            ])
        try Wire.check(
            SendRequest(id: try Wire.id("m"), conversation: Wire.room, kind: .text, body: [:]),
            ["id": "m", "conv": Wire.conv, "kind": "text", "body": [:]])
        try Wire.check(
            SendAnswer(conversation: Wire.room, id: try Wire.id("m"), seq: 9, n: 4, at: 11),
            ["conv": Wire.conv, "id": "m", "seq": 9, "n": 4, "at": 11])
        try Wire.check(
            ChangeAnswer(conversation: Wire.room, id: try Wire.id("m"), seq: 9, at: 11),
            ["conv": Wire.conv, "id": "m", "seq": 9, "at": 11])
        try Wire.check(
            ChangeAnswer(conversation: Wire.room, id: try Wire.id("m"), seq: nil, at: 11), ["conv": Wire.conv, "id": "m", "at": 11])
    }

    @Test func changesOfMessages() throws {
        let id = try Wire.id("m")
        try Wire.check(
            EditRequest(id: id, conversation: Wire.room, ref: 3, body: ["text": "x"]),
            ["id": "m", "conv": Wire.conv, "ref": 3, "body": ["text": "x"]])
        try Wire.check(PreviewRemoveRequest(id: id, conversation: Wire.room, ref: 3), ["id": "m", "conv": Wire.conv, "ref": 3])
        try Wire.check(RecallRequest(id: id, conversation: Wire.room, ref: 3), ["id": "m", "conv": Wire.conv, "ref": 3])
        try Wire.check(HideRequest(id: id, conversation: Wire.room, seqs: [4, 2]), ["id": "m", "conv": Wire.conv, "seqs": [4, 2]])
        try Wire.check(
            PinRequest(id: id, conversation: Wire.room, ref: 3, isRemoval: true),
            ["id": "m", "conv": Wire.conv, "ref": 3, "remove": true])
        try Wire.check(PinRequest(id: id, conversation: Wire.room, ref: 3), ["id": "m", "conv": Wire.conv, "ref": 3])
        try Wire.check(
            ReactRequest(id: id, conversation: Wire.room, ref: 3, key: "👍", isRemoval: true),
            ["id": "m", "conv": Wire.conv, "ref": 3, "key": "👍", "remove": true])
        try Wire.check(
            VoteRequest(id: id, conversation: Wire.room, ref: 3, options: [2, 0]),
            ["id": "m", "conv": Wire.conv, "ref": 3, "options": [2, 0]])
        try Wire.check(PollCloseRequest(id: id, conversation: Wire.room, ref: 3), ["id": "m", "conv": Wire.conv, "ref": 3])
    }

    @Test func forwards() throws {
        try Wire.check(
            ForwardRequest(
                id: try Wire.id("m"), conversation: Wire.room, source: Wire.other, seqs: [4, 2], isBundle: true, title: "T",
                isAnonymous: true, isSilent: true),
            [
                "id": "m", "conv": Wire.conv, "from": "0000000000008", "seqs": [4, 2], "bundle": true, "title": "T", "anonymous": true,
                "silent": true,
            ])
        try Wire.check(
            ForwardRequest(id: try Wire.id("m"), conversation: Wire.room, source: Wire.other, seqs: [1]),
            ["id": "m", "conv": Wire.conv, "from": "0000000000008", "seqs": [1]])
        try Wire.check(
            ForwardAnswer(conversation: Wire.room, id: try Wire.id("m"), seqs: [8, 9], at: 11),
            ["conv": Wire.conv, "id": "m", "seqs": [8, 9], "at": 11])
    }

    @Test func listsOfUsersOfAMessage() throws {
        try Wire.check(
            ReactionsRequest(conversation: Wire.room, ref: 3, key: "👍", page: try Wire.token("p")),
            ["conv": Wire.conv, "ref": 3, "key": "👍", "page": "p"])
        try Wire.check(
            ReactionsAnswer(reactions: [Reaction(user: Wire.bob, key: "👍")], page: try Wire.token("p")),
            ["reactions": [["user": "bob", "key": "👍"]], "page": "p"])
        try Wire.check(
            ReadersRequest(conversation: Wire.room, seq: 3, page: try Wire.token("p")), ["conv": Wire.conv, "seq": 3, "page": "p"])
        try Wire.check(
            ReadersAnswer(
                readers: [Reader(user: Wire.bob, isRead: true), Reader(user: Wire.carol, isReceived: true)], page: try Wire.token("p")),
            ["readers": [["user": "bob", "read": true], ["user": "carol", "received": true]], "page": "p"])
    }

    @Test func positionsAndSubscriptions() throws {
        try Wire.check(
            MarkRequest(conversation: Wire.room, read: 3, received: 9), ["conv": Wire.conv, "read": 3, "received": 9])
        try Wire.check(MarkRequest(conversation: Wire.room, read: 3), ["conv": Wire.conv, "read": 3])
        try Wire.check(
            MarkAnswer(conversation: Wire.room, read: 3, unread: 4, mentions: 2, n: 7),
            ["conv": Wire.conv, "read": 3, "unread": 4, "mentions": 2, "n": 7])
        try Wire.check(MarkAnswer(conversation: Wire.room), ["conv": Wire.conv])
        try Wire.check(TypingRequest(conversation: Wire.room, isStopped: true), ["conv": Wire.conv, "stopped": true])
        try Wire.check(TypingRequest(conversation: Wire.room), ["conv": Wire.conv])
        try Wire.check(SubscribeRequest(conversations: [Wire.other, Wire.room]), ["convs": ["0000000000008", Wire.conv]])
        try Wire.check(SubscribeRequest(conversations: []), ["convs": []])
    }

    @Test func scheduledMessages() throws {
        let id = try Wire.id("m")
        try Wire.check(
            ScheduleRequest(
                id: id, conversation: Wire.room, kind: .text, body: ["text": "x"], ref: 1, thread: 2, isSilent: true, sendAt: 9),
            [
                "id": "m", "conv": Wire.conv, "kind": "text", "body": ["text": "x"], "ref": 1, "thread": 2, "silent": true, "send_at": 9,
            ])
        let message = ScheduledMessage(
            id: id, conversation: Wire.room, kind: .text, body: ["text": "x"], ref: 1, thread: 2, isSilent: true, sendAt: 9,
            error: .forbidden)
        let json: JSONValue = [
            "id": "m", "conv": Wire.conv, "kind": "text", "body": ["text": "x"], "ref": 1, "thread": 2, "silent": true, "send_at": 9,
            "error": "forbidden",
        ]
        try Wire.check(message, json)
        try Wire.check(ScheduleAnswer(scheduled: message), ["scheduled": json])
        try Wire.check(
            ScheduledRequest(conversation: Wire.room, page: try Wire.token("p")), ["conv": Wire.conv, "page": "p"])
        try Wire.check(ScheduledRequest(), [:])
        try Wire.check(ScheduledAnswer(scheduled: [message], page: try Wire.token("p")), ["scheduled": [json], "page": "p"])
        try Wire.check(UnscheduleRequest(id: id, target: try Wire.id("s")), ["id": "m", "of": "s"])
    }

    // MARK: The log

    @Test(
        arguments: [
            (.newest, [:] as JSONObject), (.from(4), ["from": 4]), (.before(5), ["before": 5]), (.around(6), ["around": 6]),
        ] as [(HistoryRequest.Range, JSONObject)])
    func aPartOfTheLogIsNamed(range: HistoryRequest.Range, fields: JSONObject) throws {
        var json = fields
        json["conv"] = Wire.conv
        try Wire.check(HistoryRequest(conversation: Wire.room, range: range), .object(json))
        json["limit"] = 20
        json["thread"] = 2
        try Wire.check(HistoryRequest(conversation: Wire.room, range: range, limit: 20, thread: 2), .object(json))
    }

    @Test(arguments: [["from": 4, "before": 5], ["from": 4, "around": 6], ["before": 5, "around": 6]] as [JSONObject])
    func onePartOfTheLogIsRequested(fields: JSONObject) {
        var json = fields
        json["conv"] = Wire.conv
        #expect(throws: WireError.self) { try HistoryRequest(json: .object(json)) }
    }

    @Test func theVersionsOfAMessageAreRequested() throws {
        try Wire.check(HistoryRequest(conversation: Wire.room, range: .newest, edits: 3), ["conv": Wire.conv, "edits": 3])
    }

    @Test func pagesOfTheLog() throws {
        let event = ChatEvent(
            conversation: Wire.room, seq: 9, n: 4, sender: Wire.bob, id: try Wire.id("m"), at: 5, kind: .text, body: ["text": "x"])
        let json: JSONValue = [
            "conv": Wire.conv, "seq": 9, "n": 4, "sender": "bob", "id": "m", "at": 5, "kind": "text", "body": ["text": "x"],
        ]
        try Wire.check(event, json)
        try Wire.check(
            HistoryAnswer(
                conversation: Wire.room, events: [event], mine: [HistoryAnswer.Mine(seq: 9, reactions: ["👍", "👎"], votes: [1, 0])],
                seq: 12, minSeq: 3),
            [
                "conv": Wire.conv, "events": [json], "mine": [["seq": 9, "reactions": ["👍", "👎"], "votes": [1, 0]]], "seq": 12,
                "min_seq": 3,
            ])
        try Wire.check(
            HistoryAnswer(conversation: Wire.room, events: [], seq: 0), ["conv": Wire.conv, "events": [], "seq": 0, "min_seq": 1])
    }

    @Test func syncs() throws {
        try Wire.check(SyncRequest(since: try Wire.token("s"), page: try Wire.token("p")), ["since": "s", "page": "p"])
        try Wire.check(SyncRequest(), [:])
        let head = ChatHead(conversation: Wire.room, kind: .pair, seq: 3, n: 2, at: 4)
        try Wire.check(
            SyncAnswer(heads: [head], gone: [Wire.other], page: try Wire.token("p"), token: try Wire.token("t"), badge: 5),
            [
                "heads": [["conv": Wire.conv, "kind": "pair", "seq": 3, "n": 2, "at": 4]], "gone": ["0000000000008"], "page": "p",
                "token": "t", "badge": 5,
            ])
    }

    @Test func searches() throws {
        try Wire.check(
            SearchRequest(
                query: "q", conversation: Wire.room, sender: Wire.bob, kinds: [.text, EventKind(rawValue: "x.a")], fromAt: 1, untilAt: 2,
                page: try Wire.token("p")),
            [
                "query": "q", "conv": Wire.conv, "sender": "bob", "kinds": ["text", "x.a"], "from_at": 1, "until_at": 2, "page": "p",
            ])
        let event = ChatEvent(
            conversation: Wire.room, seq: 9, n: 4, sender: Wire.bob, id: nil, at: 5, kind: .text, body: ["text": "x"])
        try Wire.check(
            SearchAnswer(
                hits: [SearchHit(event: event, snippet: "…x…", ranges: [TextRange(offset: 1, length: 2)])], page: try Wire.token("p"),
                indexedAt: 6),
            [
                "hits": [["event": event.json, "snippet": "…x…", "ranges": [["offset": 1, "length": 2]]]], "page": "p", "indexed_at": 6,
            ])
    }
}
