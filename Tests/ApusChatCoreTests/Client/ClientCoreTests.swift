import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatCore

@Suite("Client core")
struct ClientCoreTests {
    // MARK: Events

    @Test func anEventOfAnotherIsStoredAndCounted() {
        var core = Client.online()
        let actions = core.pushed(EventPush(events: [Client.message(4)]))
        #expect(Client.changes(actions).first == .events([Client.message(4)]))
        #expect(core.heads[Client.room]?.unread == 1 && core.heads[Client.room]?.n == 4 && core.heads[Client.room]?.at == 1_004)
        #expect(core.pushed(EventPush(events: [Client.message(4)])) == [])
    }

    /// The core updates the last message of the head itself, because no head follows an event.
    @Test func anEventIsThePreviewOfItsConversation() {
        var core = Client.online()
        _ = core.pushed(EventPush(events: [Client.message(4, by: Client.alice)]))
        #expect(core.heads[Client.room]?.last?.text == "text 4" && core.heads[Client.room]?.last?.sender == Client.alice)
        _ = core.pushed(EventPush(events: [Client.change(.edit, seq: 5, of: 1)]))
        #expect(core.heads[Client.room]?.last?.seq == 4, "changes are no preview")
        _ = core.pushed(EventPush(events: [.hidden(conversation: Client.room, seq: 6, n: 5)]))
        #expect(core.heads[Client.room]?.last?.seq == 6 && core.heads[Client.room]?.last?.text == nil)
    }

    /// `test_page_core_modules.py` runs the same cases for the page.
    @Test func headsMoveUpAsOnThePage() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let vectors = try JSONReader.read(Array(try Data(contentsOf: root.appendingPathComponent("Tests/Vectors/heads.json"))))
        let cases = try #require(vectors["cases"]?.arrayValue)
        #expect(cases.count > 20)
        for one in cases {
            let name = try #require(one["name"]?.stringValue)
            var fields = try #require(one["event"]?.objectValue)
            fields["conv"] = .string(Client.room.rawValue)
            fields["seq"] = .integer(9)
            if fields["kind"] != .string("hidden") { (fields["sender"], fields["at"]) = (.string("bob"), .integer(2_000)) }
            var head = Client.head(8, n: 3, read: 3)
            head.kind = try #require(ConversationKind(rawValue: one["kind"]?.stringValue ?? ""))
            head.at = 1_000
            head.last = EventPreview(seq: 5, n: 3, sender: Client.bob, at: 1_000, kind: .text, text: "newest")
            var core = Client.online(at: 8, read: 3)
            _ = core.pushed(HeadPush(heads: [head]))
            _ = core.pushed(EventPush(events: [try ChatEvent(json: .object(fields))]))
            #expect(core.heads[Client.room]?.seq == 9, "\(name)")
            #expect(core.heads[Client.room]?.at == one["at"]?.intValue.map(Int64.init), "the time after \(name)")
            #expect(core.heads[Client.room]?.last?.seq == one["top"]?.intValue.map(Int64.init), "the preview after \(name)")
        }
    }

    @Test func changesAndHiddenMessagesAreNotUnread() {
        var core = Client.online()
        _ = core.pushed(EventPush(events: [Client.change(.edit, seq: 4, of: 1)]))
        #expect(core.heads[Client.room]?.unread == 0 && core.heads[Client.room]?.seq == 4)
        _ = core.pushed(EventPush(events: [.hidden(conversation: Client.room, seq: 5, n: 4)]))
        #expect(core.heads[Client.room]?.unread == 0 && core.heads[Client.room]?.n == 4)
    }

    @Test func anOwnMessageMovesThePositionOnlyIfAllWasRead() {
        var caughtUp = Client.online(at: 3, read: 3)
        _ = caughtUp.pushed(EventPush(events: [Client.message(4, by: Client.alice)]))
        #expect(caughtUp.heads[Client.room]?.read == 4 && caughtUp.heads[Client.room]?.unread == 0)
        var behind = Client.online(at: 3, read: 2)
        _ = behind.pushed(EventPush(events: [Client.message(4, by: Client.alice)]))
        #expect(behind.heads[Client.room]?.read == 2 && behind.heads[Client.room]?.unread == 1)
    }

    @Test func anOwnMessageThatTheServerDidNotCountAsReadIsMarked() {
        var core = Client.online(at: 5, read: 2)
        _ = core.read(5, in: Client.room)
        // Another device sent the message before the server received the position 5.
        _ = core.pushed(EventPush(events: [Client.message(6, by: Client.alice)]))
        #expect(core.heads[Client.room]?.read == 6)
        let next = core.answered(MarkAnswer(conversation: Client.room, read: 5, unread: 0, mentions: 0, n: 6))
        #expect(Client.requests(next) == [.mark(MarkRequest(conversation: Client.room, read: 6))])
    }

    @Test func aHoleIsFilledAfterItsTime() {
        var core = Client.online()
        #expect(core.pushed(EventPush(events: [Client.message(6)])) == [.startTimer(.hole(Client.room), .milliseconds(500))])
        let request = HistoryRequest(conversation: Client.room, range: .from(4))
        #expect(core.timerFired(.hole(Client.room)) == [.request(.history(request))])
        let answer = HistoryAnswer(conversation: Client.room, events: [Client.message(4), Client.message(5)], seq: 6)
        let actions = core.answered(answer, to: request)
        #expect(Client.changes(actions).first == .events([4, 5, 6].map { Client.message($0) }))
        #expect(core.heads[Client.room]?.unread == 3)
    }

    @Test func aLostTailIsClosedByANudge() {
        var core = Client.online()
        let nudge = HeadNudge(conversation: Client.room, seq: 5, n: 5, at: 1_005, mentions: 1)
        #expect(core.pushed(HeadPush(nudges: [nudge])).contains(.startTimer(.hole(Client.room), .milliseconds(500))))
        #expect(core.heads[Client.room]?.unread == 2 && core.heads[Client.room]?.mentions == 1)
        _ = core.timerFired(.hole(Client.room))
        let answer = HistoryAnswer(conversation: Client.room, events: [Client.message(4), Client.message(5)], seq: 5)
        _ = core.answered(answer, to: HistoryRequest(conversation: Client.room, range: .from(4)))
        #expect(core.heads[Client.room]?.unread == 2)  // not counted twice
        #expect(core.pushed(HeadPush(nudges: [nudge])) == [])
    }

    @Test func eventsKeepThePositionOfTheirAnswer() {
        let request = HistoryRequest(conversation: Client.room, range: .from(4))
        let page = HistoryAnswer(conversation: Client.room, events: [Client.message(4), Client.message(5)], seq: 9)
        var other = Client.online()
        for seq: Int64 in [6, 7] { _ = other.pushed(EventPush(events: [Client.message(seq)])) }
        _ = other.timerFired(.hole(Client.room))
        // The page contains the changes up to 9, and each push those up to its own seq.
        #expect(
            Client.changes(other.answered(page, to: request)).prefix(3) == [
                .events([Client.message(4), Client.message(5)], asOf: 9), .events([Client.message(6)]), .events([Client.message(7)]),
            ])
    }

    @Test(arguments: [true, false]) func anAnswerAndAPushThatCrossCountOnce(_ isAnswerFirst: Bool) {
        var core = Client.online(at: 5, read: 2)
        _ = core.read(4, in: Client.room)
        // The server had seen message 6 when it answered.
        let answer = MarkAnswer(conversation: Client.room, read: 4, unread: 2, mentions: 0, n: 6)
        if isAnswerFirst { _ = core.answered(answer) }
        _ = core.pushed(EventPush(events: [Client.message(6)]))
        if !isAnswerFirst { _ = core.answered(answer) }
        _ = core.pushed(EventPush(events: [Client.message(7)]))
        #expect(core.heads[Client.room]?.unread == 3 && core.heads[Client.room]?.n == 7)
    }

    @Test func anOwnMessageAfterAnUnconfirmedPositionIsReadToo() {
        var core = Client.online(at: 5, read: 2)
        _ = core.read(5, in: Client.room)
        let actions = core.pushed(EventPush(events: [Client.message(6, by: Client.alice)]))
        #expect(core.heads[Client.room]?.read == 6 && core.heads[Client.room]?.unread == 0)
        #expect(Client.requests(actions).isEmpty, "one request at a time")
        let stored = Client.changes(actions).contains(.read(Client.room, n: 6, isConfirmed: false))
        #expect(stored, "it is sent after a restart, too")
        let next = core.answered(MarkAnswer(conversation: Client.room, read: 5, unread: 0, mentions: 0, n: 6))
        #expect(Client.requests(next) == [.mark(MarkRequest(conversation: Client.room, read: 6))])
    }

    @Test func anOwnMessageInANudgeIsNotUnread() {
        var core = Client.online(at: 3, read: 3)
        let last = EventPreview(seq: 4, n: 4, sender: Client.alice, at: 1_004, kind: .text)
        _ = core.pushed(HeadPush(nudges: [HeadNudge(conversation: Client.room, seq: 4, n: 4, at: 1_004, last: last)]))
        #expect(core.heads[Client.room]?.unread == 0 && core.heads[Client.room]?.read == 4)
        let next = EventPreview(seq: 6, n: 6, sender: Client.alice, at: 1_006, kind: .text)
        _ = core.pushed(HeadPush(nudges: [HeadNudge(conversation: Client.room, seq: 6, n: 6, at: 1_006, last: next)]))
        #expect(core.heads[Client.room]?.unread == 1 && core.heads[Client.room]?.read == 4, "5 is of another user")
    }

    @Test func aPreviewFollowsItsCall() {
        var core = Client.online()
        var call = Client.message(4)
        (call.kind, call.body) = (.call, ["media": "audio", "state": "ringing"])
        _ = core.pushed(EventPush(events: [call]))
        #expect(core.heads[Client.room]?.last?.call == .ringing)
        let end = Client.change(.callUpdate, seq: 5, of: 4, ["state": "ended", "duration": 151_000])
        _ = core.pushed(EventPush(events: [end]))
        #expect(core.heads[Client.room]?.last?.seq == 4 && core.heads[Client.room]?.last?.call == .ended)
        #expect(core.heads[Client.room]?.last?.duration == 151_000)
        _ = core.pushed(EventPush(events: [Client.message(6), Client.change(.callUpdate, seq: 7, of: 4, ["state": "missed"])]))
        #expect(core.heads[Client.room]?.last?.seq == 6 && core.heads[Client.room]?.last?.call == nil)
    }

    @Test func aLateHeadDoesNotRevertEvents() {
        var core = Client.online()
        _ = core.pushed(EventPush(events: [Client.message(4), Client.message(5)]))
        _ = core.pushed(HeadPush(heads: [Client.head(4, read: 3)]))
        #expect(core.heads[Client.room]?.seq == 5 && core.heads[Client.room]?.unread == 2)
        #expect(core.pushed(EventPush(events: [Client.message(5)])) == [])
    }

    @Test func aFormerMemberRequestsNoEventsAfterItsHead() {
        var core = Client.online()
        _ = core.pushed(HeadPush(nudges: [HeadNudge(conversation: Client.room, seq: 5, n: 5, at: 5)]))
        var head = Client.head(3)
        head.state = .removed
        _ = core.pushed(HeadPush(heads: [head]))
        #expect(core.heads[Client.room]?.seq == 3)
        #expect(Client.requests(core.timerFired(.hole(Client.room))) == [])
    }

    @Test func invitationsHaveNoLog() {
        var core = Client.online()
        var invitation = Client.head(9, in: Client.other)
        invitation.state = .invited
        #expect(Client.requests(core.pushed(HeadPush(heads: [invitation]))) == [])
        #expect(core.timerFired(.hole(Client.other)) == [])
        invitation.state = .joined
        _ = core.opened(Client.other)
        #expect(core.pushed(HeadPush(heads: [invitation])).contains(.startTimer(.hole(Client.other), .milliseconds(500))))
    }

    @Test func aLogIsNotRequestedAfterANewInvitation() {
        var core = ClientCore(user: Client.alice)
        var restored = ClientCore.Restored()
        var head = Client.head(9)
        head.state = .left
        restored.heads = [head]
        restored.cursors = [Client.room: 3]
        restored.epoch = Client.epoch
        core.restore(restored)
        _ = core.connected()
        head.state = .invited
        head.seq = 0
        #expect(Client.requests(core.answered(hello: Client.hello(Client.sync([head])))) == [])
        #expect(core.timerFired(.hole(Client.room)) == [])
        // The core follows the log again after the user has joined.
        head.state = .joined
        head.seq = 12
        head.minSeq = 11
        #expect(core.pushed(HeadPush(heads: [head])).contains(.startTimer(.hole(Client.room), .milliseconds(500))))
    }

    @Test func aLateEventOfAGoneConversationRequestsNothing() {
        var core = Client.online()
        _ = core.pushed(HeadPush(gone: [Client.room]))
        #expect(Client.requests(core.pushed(EventPush(events: [Client.message(6)]))) == [])
        #expect(core.timerFired(.hole(Client.room)) == [])
        let head = Client.head(8)
        #expect(core.pushed(HeadPush(heads: [head])).contains(.startTimer(.hole(Client.room), .milliseconds(500))))
    }

    // MARK: Sending

    @Test func aMessageIsSentAndLeavesTheOutboxWithItsAnswer() {
        var core = Client.online()
        #expect(core.enqueued(Client.id("m"), in: Client.room) == [.request(.send(Client.id("m"), in: Client.room))])
        let answer = Client.answer("m", seq: 4)
        #expect(core.answered(answer) == [.store(.sent(Client.id("m"), answer))])
        #expect(core.answered(answer) == [])
        #expect(core.unsentCount == 0)
    }

    @Test func theEventSettlesAMessageWhoseAnswerWasLost() {
        var core = Client.online()
        _ = core.enqueued(Client.id("m"), in: Client.room)
        core.disconnected()
        _ = core.connected()
        let synced = core.answered(hello: Client.hello(Client.sync([Client.head(4)])))
        #expect(Client.requests(synced).contains(.history(HistoryRequest(conversation: Client.room, range: .from(4)))))
        let event = Client.message(4, by: Client.alice, id: "m")
        let actions = core.answered(
            HistoryAnswer(conversation: Client.room, events: [event], seq: 4),
            to: HistoryRequest(conversation: Client.room, range: .from(4)))
        #expect(Client.changes(actions).prefix(2) == [.events([event]), .sent(Client.id("m"), Client.answer("m", seq: 4))])
    }

    @Test func aTemporaryErrorRestsAndAnotherOneRefuses() {
        var core = Client.online()
        _ = core.enqueued(Client.id("m"), in: Client.room)
        let busy = ChatError(.tooMany, message: "", retryAfter: 1_500)
        #expect(core.failed(send: Client.id("m"), with: busy) == [.startTimer(.outbox(Client.room), .milliseconds(1_500))])
        #expect(core.timerFired(.outbox(Client.room)) == [.request(.send(Client.id("m"), in: Client.room))])
        #expect(
            core.failed(send: Client.id("m"), with: ChatError(.storage, message: "")) == [.startTimer(.outbox(Client.room), .seconds(1))])
        let refused = ChatError(.forbidden, message: "")
        _ = core.timerFired(.outbox(Client.room))
        #expect(core.failed(send: Client.id("m"), with: refused) == [.store(.refused(Client.id("m"), refused))])
    }

    @Test func unsentMessagesAreSentAfterARestartAndAReconnection() {
        var core = ClientCore(user: Client.alice)
        var restored = ClientCore.Restored()
        restored.heads = [Client.head(3)]
        restored.cursors = [Client.room: 3]
        restored.unsent = [(Client.id("a"), Client.room, false), (Client.id("b"), Client.room, true)]
        restored.epoch = Client.epoch
        core.restore(restored)
        _ = core.connected()
        #expect(Client.requests(core.answered(hello: Client.hello(Client.sync([])))) == [.send(Client.id("a"), in: Client.room)])
        _ = core.answered(Client.answer("a", seq: 4))
        #expect(core.uploaded(Client.id("b")) == [.request(.send(Client.id("b"), in: Client.room))])
        #expect(core.discarded(Client.id("b")) == [] && core.unsentCount == 0)
    }

    @Test func filesKeepTheirOrderAfterARestart() {
        var core = ClientCore(user: Client.alice)
        var restored = ClientCore.Restored()
        restored.heads = [Client.head(3)]
        restored.cursors = [Client.room: 3]
        restored.unsent = [(Client.id("film"), Client.room, true), (Client.id("photo"), Client.room, false)]
        restored.uploaded = [Client.id("photo")]
        restored.epoch = Client.epoch
        core.restore(restored)
        _ = core.connected()
        #expect(Client.requests(core.answered(hello: Client.hello(Client.sync([])))) == [])
        #expect(core.uploaded(Client.id("film")) == [.request(.send(Client.id("film"), in: Client.room))])
    }

    // MARK: Reading

    @Test func readingIsAppliedAtOnceAndConfirmedLater() {
        var core = Client.online(at: 5, read: 2)
        let actions = core.read(9, in: Client.room)  // bounded by the last message
        #expect(actions.first == .store(.read(Client.room, n: 5, isConfirmed: false)))
        #expect(Client.requests(actions) == [.mark(MarkRequest(conversation: Client.room, read: 5))])
        #expect(core.heads[Client.room]?.unread == 0)
        #expect(core.read(4, in: Client.room) == [])
        let answer = MarkAnswer(conversation: Client.room, read: 5, unread: 0, mentions: 0, n: 5)
        #expect(Client.changes(core.answered(answer)).first == .read(Client.room, n: 5, isConfirmed: true))
    }

    @Test func anUnconfirmedPositionIsSentAfterARestart() {
        var core = ClientCore(user: Client.alice)
        var restored = ClientCore.Restored()
        restored.heads = [Client.head(5, read: 5)]  // as the user saw it
        restored.cursors = [Client.room: 5]
        restored.reads = [Client.room: 5]
        restored.epoch = Client.epoch
        core.restore(restored)
        _ = core.connected()
        let opened = core.answered(hello: Client.hello(Client.sync([Client.head(5, read: 2)])))
        #expect(Client.requests(opened) == [.mark(MarkRequest(conversation: Client.room, read: 5))])
        #expect(core.heads[Client.room]?.read == 5 && core.heads[Client.room]?.unread == 0)
    }

    @Test func aHeadDoesNotRevertAnUnconfirmedPosition() {
        var core = Client.online(at: 5, read: 2)
        _ = core.read(5, in: Client.room)
        _ = core.pushed(HeadPush(heads: [Client.head(5, read: 2)]))
        #expect(core.heads[Client.room]?.read == 5 && core.heads[Client.room]?.unread == 0)
    }

    @Test func anotherDeviceMovesThePosition() {
        var core = Client.online(at: 5, read: 2)
        let own = ReadMark(conversation: Client.room, user: Client.alice, read: 5)
        let peer = ReadMark(conversation: Client.room, user: Client.bob, read: 4)
        #expect(
            core.pushed(MarkPush(marks: [own, peer])) == [.store(.read(Client.room, n: 5, isConfirmed: true)), .store(.peerRead(peer))])
        #expect(core.heads[Client.room]?.unread == 0 && core.readPosition(in: Client.room) == 5)
        let counted = ReadMark(conversation: Client.room, user: Client.alice, read: 5, unread: 1, mentions: 1, n: 6)
        _ = core.pushed(MarkPush(marks: [counted]))
        _ = core.pushed(EventPush(events: [Client.message(6)]))
        #expect(core.heads[Client.room]?.unread == 1 && core.heads[Client.room]?.mentions == 1)
    }

    @Test func nothingHappensWhileOffline() {
        var core = Client.online()
        core.disconnected()
        #expect(core.pushed(EventPush(events: [Client.message(4)])) == [])
        #expect(core.timerFired(.hole(Client.room)) == [] && core.timerFired(.sync) == [])
        #expect(core.answered(sync: Client.sync([])) == [] && core.cursor(of: Client.room) == 3)
    }

    // MARK: Before the next head

    @Test func ownSettingsAreTakenBeforeTheirHead() {
        var core = Client.online()
        let own = OwnSetBody(
            conversation: Client.room, pinnedAt: 9, isArchived: true, mutedUntil: 7, notify: .mentions, isMarkedUnread: true,
            folders: ["Work"])
        #expect(Client.changes(core.changed(own)).count == 1)
        #expect(
            core.heads[Client.room]?.own
                == OwnSettings(pinnedAt: 9, isArchived: true, mutedUntil: 7, notify: .mentions, isMarkedUnread: true, folders: ["Work"]))
        #expect(core.changed(own).isEmpty, "nothing is stored twice")
        _ = core.changed(OwnSetBody(conversation: Client.room, pinnedAt: 0, mutedUntil: 0))
        #expect(core.heads[Client.room]?.own.pinnedAt == nil && core.heads[Client.room]?.own.mutedUntil == nil)
        #expect(core.heads[Client.room]?.own.isArchived == true)
        #expect(core.changed(OwnSetBody(conversation: Client.other, isArchived: true)).isEmpty)
    }

    @Test func laterEventsChangeThePinsAndTheTitleOfAHead() {
        var core = Client.online()
        func push(_ event: ChatEvent) { _ = core.pushed(EventPush(events: [event])) }
        push(Client.change(EventKind(.pin), seq: 4, of: 1))
        push(Client.change(EventKind(.pin), seq: 5, of: 3))
        push(Client.change(EventKind(.pin), seq: 6, of: 2))
        #expect(core.heads[Client.room]?.pins == [3, 2, 1])
        push(Client.change(EventKind(.pin), seq: 7, of: 2, ["remove": true]))
        push(Client.change(EventKind(.conversationSet), seq: 8, of: 1, ["title": "Rowing"]))
        #expect(core.heads[Client.room]?.pins == [3, 1] && core.heads[Client.room]?.title == "Rowing")
        // A head contains the changes of earlier events, which are not applied again.
        var head = Client.head(10)
        head.pins = [1]
        _ = core.pushed(HeadPush(heads: [head]))
        push(Client.change(EventKind(.pin), seq: 9, of: 3))
        #expect(core.heads[Client.room]?.pins == [1])
    }

    @Test func aChangedProfileChangesTheHeadOfThePair() {
        var core = Client.online()
        var head = Client.head(3, read: 3)
        head.peer = ChatUser(name: Client.bob, nick: "Bob")
        _ = core.pushed(HeadPush(heads: [head]))
        let users = [ChatUser(name: Client.bob, nick: "Robert"), ChatUser(name: Client.name("carol"), nick: "Carol")]
        #expect(Client.changes(core.changed(users)).count == 1)
        #expect(core.heads[Client.room]?.peer?.nick == "Robert")
        #expect(core.changed(users).isEmpty)
    }
}
