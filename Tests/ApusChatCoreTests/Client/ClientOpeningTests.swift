import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatCore

/// The first requests of a connection, and the data that they load.
@Suite("Client core: opening")
struct ClientOpeningTests {
    /// The server reports removed conversations only for a sync with a token. A complete sync that
    /// was interrupted has no token, so that its repetition removes the conversations that it does
    /// not contain.
    @Test func aRepeatedCompleteSyncRemovesUnnamedConversations() {
        let (third, page) = (ConversationID(number: 77), Client.token("p2"))
        var core = ClientCore(user: Client.alice)
        _ = core.connected()
        _ = core.answered(hello: Client.hello(Client.sync([Client.head(3), Client.head(4, in: Client.other)], page: page)))
        core.disconnected()
        #expect(core.connected() == [.request(.hello(since: nil, epoch: Client.epoch))])
        _ = core.answered(hello: Client.hello(Client.sync([Client.head(3)], page: page)))
        _ = core.pushed(HeadPush(heads: [Client.head(1, in: third)]))
        let last = core.answered(sync: Client.sync([]))
        #expect(Client.changes(last) == [.gone(Client.other)])
        #expect(Set(core.heads.keys) == [Client.room, third])
        // A sync with a token names only what has changed.
        let next = core.answered(sync: Client.sync([Client.head(5, in: third)], token: "t2"))
        #expect(Client.changes(next).contains(.gone(Client.room)) == false && core.heads.count == 2)
    }

    /// Between two pages, a new message moves a conversation to the first page.
    @Test func aConversationThatMovesBetweenTwoPagesIsKeptAndRead() {
        var core = ClientCore(user: Client.alice)
        var restored = ClientCore.Restored()
        restored.heads = [Client.head(3), Client.head(4, in: Client.other)]
        (restored.epoch, restored.token) = (Client.epoch, Client.token("t0"))
        core.restore(restored)
        _ = core.connected()
        #expect(core.failed(hello: ChatError(.resync, message: "")) == [.request(.hello(since: nil, epoch: Client.epoch))])
        _ = core.answered(hello: Client.hello(Client.sync([Client.head(3)], page: Client.token("p2"))))
        _ = core.pushed(EventPush(events: [Client.message(5, in: Client.other)]))
        let last = core.answered(sync: Client.sync([]))
        #expect(!Client.changes(last).contains(.gone(Client.other)))
        #expect(Client.requests(last) == [.sync(SyncRequest(since: Client.token("t1")))])
        let next = core.answered(sync: Client.sync([Client.head(5, in: Client.other)], token: "t2"))
        #expect(Client.requests(next).isEmpty && Client.changes(next).last == .token(Client.token("t2")))
        #expect(Set(core.heads.keys) == [Client.room, Client.other])
    }

    /// A push that arrives before the answer may be older than the answer. The user has then
    /// removed the conversation.
    @Test func aConversationThatWasRemovedAfterItsPushIsRemovedByTheNextSync() {
        var core = ClientCore(user: Client.alice)
        _ = core.connected()
        _ = core.answered(hello: Client.hello(nil))
        _ = core.pushed(EventPush(events: [Client.message(5, in: Client.other)]))
        _ = core.pushed(HeadPush(heads: [Client.head(5, in: Client.other)]))
        let last = core.answered(sync: Client.sync([Client.head(3)]))
        #expect(Set(core.heads.keys) == [Client.room, Client.other], "it may be newer than the sync")
        #expect(Client.requests(last).contains(.sync(SyncRequest(since: Client.token("t1")))))
        #expect(!Client.changes(last).contains(.token(Client.token("t1"))), "a restart repeats the complete sync")
        let next = core.answered(sync: Client.sync([], token: "t2"))
        #expect(Client.changes(next) == [.gone(Client.other), .token(Client.token("t2"))])
        #expect(Set(core.heads.keys) == [Client.room] && Client.requests(next).isEmpty)
    }

    @Test func aFirstConnectionLoadsTheHeadsAndThenTheLogs() {
        var core = ClientCore(user: Client.alice)
        #expect(core.connected() == [.request(.hello(since: nil, epoch: nil))])
        #expect(core.connected() == [])
        let first = core.answered(hello: Client.hello(Client.sync([Client.head(60)], page: Client.token("p2"))))
        #expect(Client.changes(first) == [.dropCache, .epoch(Client.epoch), .head(Client.head(60))])
        #expect(Client.requests(first) == [.sync(SyncRequest(since: nil, page: Client.token("p2")))])
        #expect(!core.isOnline)
        let last = core.answered(sync: Client.sync([Client.head(0, in: Client.other)]))
        #expect(Client.changes(last) == [.head(Client.head(0, in: Client.other)), .token(Client.token("t1"))])
        #expect(Client.requests(last) == [.sync(SyncRequest(since: Client.token("t1")))], "a log is loaded when it is shown")
        #expect(core.isOnline)
        let window = HistoryRequest(conversation: Client.room, range: .newest, limit: 50)
        #expect(core.opened(Client.room) == [.request(.history(window))])
        #expect(core.opened(Client.room) == [], "a request is pending")
        #expect(core.opened(Client.other) == [], "an empty log")
    }

    @Test func anInterruptedSyncIsRepeatedAsAWhole() {
        var core = Client.online()
        core.disconnected()
        #expect(core.connected() == [.request(.hello(since: Client.token("t1"), epoch: Client.epoch))])
        _ = core.answered(hello: Client.hello(Client.sync([], page: Client.token("p2"), token: "t2")))
        core.disconnected()
        #expect(core.connected() == [.request(.hello(since: Client.token("t1"), epoch: Client.epoch))])
    }

    @Test func anotherEpochDropsTheCacheAndKeepsTheOutbox() {
        var core = Client.online()
        _ = core.enqueued(Client.id("m"), in: Client.room)
        core.disconnected()
        _ = core.connected()
        let actions = core.answered(hello: Client.hello(nil, epoch: Client.token("e2")))
        #expect(Client.changes(actions) == [.requeue, .dropCache, .epoch(Client.token("e2"))])
        #expect(Client.requests(actions) == [.sync(SyncRequest())])
        let opened = core.answered(sync: Client.sync([Client.head(2)]))
        #expect(Client.requests(opened).contains(.send(Client.id("m"), in: Client.room)))
        #expect(core.unsentCount == 1)
    }

    /// A server that was restored from a backup can lack messages that it has acknowledged. The log
    /// contains those that were received; the others are sent again, before the unsent ones.
    @Test func anotherEpochSendsAcknowledgedMessagesAgain() {
        var core = Client.online()
        for id in ["a", "b", "c", "d"] { _ = core.enqueued(Client.id(id), in: Client.room) }
        for (id, seq) in [("a", 4), ("b", 5), ("c", 6)] as [(String, Int64)] { _ = core.answered(Client.answer(id, seq: seq)) }
        _ = core.pushed(EventPush(events: [Client.message(4, by: Client.alice, id: "a")]))
        #expect(core.unsentCount == 1)
        core.disconnected()
        _ = core.connected()
        let actions = core.answered(hello: Client.hello(nil, epoch: Client.token("e2")))
        #expect(Client.changes(actions) == [.requeue, .dropCache, .epoch(Client.token("e2"))] && core.unsentCount == 3)
        var opened = core.answered(sync: Client.sync([Client.head(3)]))
        for (id, seq) in [("b", 4), ("c", 5), ("d", 6)] as [(String, Int64)] {
            #expect(Client.requests(opened).contains(.send(Client.id(id), in: Client.room)), "\(id)")
            opened = core.answered(Client.answer(id, seq: seq))
            #expect(Client.changes(opened) == [.sent(Client.id(id), Client.answer(id, seq: seq))])
        }
        #expect(core.unsentCount == 0 && Client.requests(opened).isEmpty)
    }

    /// The store has made the messages unsent in the transaction that dropped the cache.
    @Test(arguments: [false, true]) func acknowledgedMessagesSurviveARestart(isRequeued: Bool) {
        var core = ClientCore(user: Client.alice)
        var restored = ClientCore.Restored()
        restored.unsent = [(Client.id("a"), Client.room, false), (Client.id("b"), Client.room, false)]
        if !isRequeued { restored.acknowledged = [Client.id("a")] }
        restored.epoch = Client.token(isRequeued ? "e2" : "e1")
        core.restore(restored)
        #expect(core.unsentCount == (isRequeued ? 2 : 1))
        _ = core.connected()
        var actions = core.answered(hello: Client.hello(isRequeued ? Client.sync([Client.head(3)]) : nil, epoch: Client.token("e2")))
        if !isRequeued { actions = core.answered(sync: Client.sync([Client.head(3)])) }
        #expect(Client.requests(actions).contains(.send(Client.id("a"), in: Client.room)))
        #expect(Client.requests(core.answered(Client.answer("a", seq: 4))) == [.send(Client.id("b"), in: Client.room)])
    }

    @Test func aReconnectionSendsNoAcknowledgedMessageAgain() {
        var core = Client.online()
        _ = core.enqueued(Client.id("a"), in: Client.room)
        _ = core.answered(Client.answer("a", seq: 4))
        core.disconnected()
        _ = core.connected()
        let actions = core.answered(hello: Client.hello(Client.sync([Client.head(4)])))
        #expect(Client.requests(actions) == [.history(HistoryRequest(conversation: Client.room, range: .from(4)))])
        #expect(core.failed(sync: ChatError(.resync, message: "")) == [.store(.dropCache), .request(.sync(SyncRequest()))])
    }

    /// A read position counts the messages of its log. With the same epoch it remains valid, and is
    /// sent again.
    @Test(arguments: [false, true]) func anUnconfirmedReadPositionBelongsToItsEpoch(isOther: Bool) {
        var core = Client.online(at: 5, read: 1)
        core.disconnected()
        _ = core.read(4, in: Client.room)
        _ = core.connected()
        _ = core.answered(hello: Client.hello(nil, epoch: Client.token(isOther ? "e2" : "e1")))
        if !isOther { _ = core.failed(sync: ChatError(.resync, message: "")) }
        let actions = core.answered(sync: Client.sync([Client.head(5, read: 1)]))
        #expect(core.readPosition(in: Client.room) == (isOther ? 1 : 4))
        #expect(core.heads[Client.room]?.unread == (isOther ? 4 : 1))
        #expect(Client.changes(actions).contains(.read(Client.room, n: 4, isConfirmed: false)) == !isOther, "the head was removed with it")
        #expect(Client.requests(actions).contains(.mark(MarkRequest(conversation: Client.room, read: 4))) == !isOther)
    }

    @Test func readPositionsAreSentAfterACacheWasDroppedOnline() {
        var core = Client.online(at: 5, read: 1)
        _ = core.failed(sync: ChatError(.resync, message: ""))
        _ = core.answered(sync: Client.sync([Client.head(5, read: 1)]))
        #expect(Client.requests(core.read(3, in: Client.room)) == [.mark(MarkRequest(conversation: Client.room, read: 3))])
    }

    @Test func aTokenThatIsTooOldIsDropped() {
        var core = Client.online()
        #expect(core.failed(sync: ChatError(.resync, message: "")) == [.store(.dropCache), .request(.sync(SyncRequest()))])
        #expect(core.failed(sync: ChatError(.unavailable, message: "")) == [.startTimer(.sync, .milliseconds(500))])
        #expect(core.timerFired(.sync) == [.request(.sync(SyncRequest()))])
    }

    @Test func aRefusedSessionEnds() {
        var core = ClientCore(user: Client.alice)
        _ = core.connected()
        #expect(core.failed(hello: ChatError(.unavailable, message: "")) == [.startTimer(.hello, .milliseconds(500))])
        let error = ChatError(.unauthorized, message: "")
        #expect(core.failed(hello: error) == [.endSession(error)])
        core.disconnected()
        #expect(core.connected() == [])
    }

    @Test func aFailedHelloIsRepeated() {
        var core = ClientCore(user: Client.alice)
        _ = core.connected()
        let hello = ClientAction.request(.hello(since: nil, epoch: nil))
        #expect(core.timerFired(.hello) == [], "it is pending")
        #expect(core.failed(hello: ChatError(.unavailable, message: "")) == [.startTimer(.hello, .milliseconds(500))])
        #expect(core.timerFired(.hello) == [hello])
        #expect(core.failed(hello: ChatError(.storage, message: "")) == [.startTimer(.hello, .seconds(1))])
        let wait = ChatError(.tooMany, message: "", retryAfter: 7_000)
        #expect(core.failed(hello: wait) == [.startTimer(.hello, .seconds(7))])
        core.disconnected()
        #expect(core.timerFired(.hello) == [])
        #expect(core.connected() == [hello])
        _ = core.answered(hello: Client.hello(Client.sync([])))
        #expect(core.timerFired(.hello) == [] && core.isOnline)
    }

    @Test func aLogThatIsNotShownBeginsWithTheFirstPush() {
        var core = ClientCore(user: Client.alice)
        _ = core.connected()
        _ = core.answered(hello: Client.hello(Client.sync([Client.head(60, read: 60)])))
        let actions = core.pushed(EventPush(events: [Client.message(62)]))
        #expect(Client.changes(actions).first == .events([Client.message(62)]))
        #expect(core.heads[Client.room]?.unread == 2 && Client.requests(actions).isEmpty)
        #expect(core.pushed(EventPush(events: [Client.message(61)])) == [], "it is requested with what is before it")
        // A later gap is detected.
        #expect(core.pushed(EventPush(events: [Client.message(64)])) == [.startTimer(.hole(Client.room), .milliseconds(500))])
        let nudge = HeadNudge(conversation: Client.other, seq: 5, n: 5, at: 1)
        _ = core.pushed(HeadPush(heads: [Client.head(4, in: Client.other)], nudges: [nudge]))
        #expect(core.timerFired(.hole(Client.other)) == [])
    }

    @Test func aLogThatLacksAnAcknowledgedMessageIsLoaded() {
        var core = ClientCore(user: Client.alice)
        var restored = ClientCore.Restored()
        restored.heads = [Client.head(3), Client.head(3, in: Client.other)]
        restored.unsent = [(Client.id("a"), Client.room, false)]
        restored.acknowledged = [Client.id("a")]
        restored.epoch = Client.epoch
        restored.token = Client.token("t0")
        core.restore(restored)
        _ = core.connected()
        let opened = core.answered(hello: Client.hello(Client.sync([])))
        #expect(Client.requests(opened) == [.history(HistoryRequest(conversation: Client.room, range: .newest, limit: 50))])
    }

    /// The first event of a new conversation can be pushed before its head.
    @Test func aLogThatWasStoredBeforeItsHeadIsContinued() {
        var core = ClientCore(user: Client.alice)
        var restored = ClientCore.Restored()
        restored.cursors = [Client.room: 2]
        restored.epoch = Client.epoch
        core.restore(restored)
        _ = core.connected()
        let opened = core.answered(hello: Client.hello(Client.sync([Client.head(4)])))
        #expect(Client.requests(opened) == [.history(HistoryRequest(conversation: Client.room, range: .from(3), limit: 200))])
    }

    @Test func aLogThatMentionsTheUserIsLoaded() {
        var core = ClientCore(user: Client.alice)
        _ = core.connected()
        var head = Client.head(60)
        head.mentions = 1
        let actions = core.answered(hello: Client.hello(Client.sync([head, Client.head(9, in: Client.other)])))
        #expect(Client.requests(actions) == [.history(HistoryRequest(conversation: Client.room, range: .newest, limit: 50))])
        let nudge = HeadNudge(conversation: Client.other, seq: 10, n: 10, at: 1, mentions: 1)
        #expect(core.pushed(HeadPush(nudges: [nudge])).contains(.startTimer(.hole(Client.other), .milliseconds(500))))
    }

    @Test func aGoneConversationIsRemovedOnce() {
        var core = Client.online()
        #expect(core.pushed(HeadPush(gone: [Client.room])) == [.store(.gone(Client.room))])
        #expect(core.pushed(HeadPush(gone: [Client.room])) == [])
    }
}
