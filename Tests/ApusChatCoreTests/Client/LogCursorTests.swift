import ApusChatProtocol
import Testing

@testable import ApusChatCore

@Suite("Log cursor")
struct LogCursorTests {
    private typealias Message = ChatEvent

    private static func primed(at seq: Int64) -> LogCursor { LogCursor(cursor: seq, head: seq, isPrimed: true) }

    @Test func theNextEventIsAppliedAndKnownOnesAreIgnored() {
        var log = Self.primed(at: 3)
        #expect(log.receivedEvent(Client.message(4)) == .apply([Client.placed(4)]))
        #expect(log.receivedEvent(Client.message(4)) == .ignore)
        #expect(log.receivedEvent(Client.message(1)) == .ignore)
        #expect(log.cursor == 4 && !log.isBehind)
    }

    @Test func anEarlyEventWaitsForTheMissingOne() {
        var log = Self.primed(at: 3)
        #expect(log.receivedEvent(Client.message(5)) == .wait(.milliseconds(500)))
        #expect(log.receivedEvent(Client.message(6)) == .hold)
        #expect(log.receivedEvent(Client.message(4)) == .apply([Client.placed(4), Client.placed(5), Client.placed(6)]))
        #expect(log.holeTimerFired() == .doNothing)  // the gap was closed before
    }

    @Test func aHoleIsRequestedWhenItsTimeIsOver() {
        var log = Self.primed(at: 3)
        _ = log.receivedEvent(Client.message(6))
        #expect(log.holeTimerFired() == .pull(.from(4), limit: 200))
        #expect(log.receivedEvent(Client.message(7)) == .hold)
        let page = log.receivedPage([Client.message(4), Client.message(5)], head: 7, for: .from(4))
        // The page contains the changes up to 7, and each pushed event those up to its own seq.
        let events = [Client.placed(4, asOf: 7), Client.placed(5, asOf: 7), Client.placed(6), Client.placed(7)]
        #expect(page == .init(gap: nil, events: events, next: .doNothing))
    }

    @Test func missedEventsAreRequestedAtOnceAfterASync() {
        var log = Self.primed(at: 3)
        #expect(log.synchronized(head: 300, floor: 1) == .pull(.from(4), limit: 200))
        #expect(log.synchronized(head: 300, floor: 1) == .doNothing)  // a request is pending
        let first = log.receivedPage((4...203).map { Client.message($0) }, head: 300, for: .from(4))
        #expect(first.events.count == 200 && first.next == .pull(.from(204), limit: 200))
    }

    @Test func aPushedHeadGivesTheEventTimeToArrive() {
        var log = Self.primed(at: 3)
        #expect(log.headAdvanced(head: 4, floor: 1) == .wait(.milliseconds(500)))
        #expect(log.receivedEvent(Client.message(4)) == .apply([Client.placed(4)]))
        #expect(log.headAdvanced(head: 4, floor: 1) == .doNothing)
    }

    @Test func aNewLogBeginsWithAWindow() {
        var log = LogCursor()
        #expect(log.synchronized(head: 500, floor: 1) == .doNothing)
        log.isWanted = true
        #expect(log.resumed() == .pull(.newest, limit: 50))
        let page = log.receivedPage((451...500).map { Client.message($0) }, head: 500, for: .newest)
        #expect(page.gap == nil && page.events.count == 50 && page.next == .doNothing)
        #expect(log.cursor == 500)
    }

    @Test func aClientFarBehindMarksAGap() {
        var log = Self.primed(at: 10)
        #expect(log.synchronized(head: 1_011, floor: 1) == .pull(.newest, limit: 50))
        let page = log.receivedPage((962...1_011).map { Client.message($0) }, head: 1_011, for: .newest)
        #expect(page.gap == 11...961 && page.events.first?.event.seq == 962)
        var near = Self.primed(at: 10)
        #expect(near.synchronized(head: 1_010, floor: 1) == .pull(.from(11), limit: 200))
    }

    @Test func eventsBelowTheFloorAreNotExpected() {
        var log = Self.primed(at: 3)
        #expect(log.headAdvanced(head: 9, floor: 10) == .doNothing)  // rejoined: the log begins at 10
        #expect(log.cursor == 9)
        #expect(log.receivedEvent(Client.message(10)) == .apply([Client.placed(10)]))
    }

    @Test func eventsThatTheServerDoesNotDeliverAreRequestedEverMoreSlowly() {
        var log = Self.primed(at: 3)
        #expect(log.synchronized(head: 4, floor: 1) == .pull(.from(4), limit: 200))
        var delays: [LogCursor.HeadAction] = []
        for _ in 0..<9 {
            delays.append(log.receivedPage([], head: 4, for: .from(4)).next)
            _ = log.holeTimerFired()
        }
        #expect(delays.prefix(3) == [.wait(.milliseconds(500)), .wait(.seconds(1)), .wait(.seconds(2))])
        #expect(delays.last == .wait(.seconds(30)))
        #expect(log.receivedPage([Client.message(4)], head: 4, for: .from(4)).events == [Client.placed(4)])
    }

    @Test func theLogOfAFormerMemberEndsWithItsHead() {
        var log = Self.primed(at: 3)
        _ = log.headAdvanced(head: 6, floor: 1)
        log.ended(at: 5)
        #expect(log.head == 5 && log.holeTimerFired() == .pull(.from(4), limit: 200))
        #expect(log.receivedPage([Client.message(4), Client.message(5)], head: 5, for: .from(4)).next == .doNothing)
        log.ended(at: 2)
        #expect(log.head == 5 && !log.isBehind, "applied events remain")
    }

    @Test func aFailedRequestIsRepeatedAndALostConnectionIsNot() {
        var log = Self.primed(at: 3)
        _ = log.synchronized(head: 9, floor: 1)
        #expect(log.pullFailed() == .wait(.milliseconds(500)))
        log.disconnected()
        #expect(log.holeTimerFired() == .doNothing && log.pullFailed() == .doNothing)
        #expect(log.resumed() == .pull(.from(4), limit: 200))
    }

    @Test func unorderedAndRepeatedPagesAreHarmless() {
        var log = Self.primed(at: 3)
        _ = log.synchronized(head: 7, floor: 1)
        let page = log.receivedPage([6, 4, 5, 4, 2].map { Client.message($0) }, head: 7, for: .from(4))
        #expect(page.events.map(\.event.seq) == [4, 5, 6] && page.next == .pull(.from(7), limit: 200))
    }

    @Test func heldEventsAreBounded() {
        var settings = FollowSettings()
        settings.maximumHeld = 2
        var log = LogCursor(cursor: 1, head: 1, isPrimed: true, settings: settings)
        for seq: Int64 in [3, 4, 5] { _ = log.receivedEvent(Client.message(seq)) }
        #expect(log.receivedEvent(Client.message(2)) == .apply([2, 3, 4].map { Client.placed($0) }))
        #expect(log.isBehind)  // 5 was dropped and is requested later
        #expect(log.holeTimerFired() == .pull(.from(5), limit: 200))
    }

    @Test func anEventKeepsItsNewestForm() {
        var log = Self.primed(at: 3)
        _ = log.receivedEvent(Client.message(5), asOf: 9)
        _ = log.holeTimerFired()
        let page = log.receivedPage([Client.message(4), Client.message(5)], head: 7, for: .from(4))
        #expect(page.events == [Client.placed(4, asOf: 7), Client.placed(5, asOf: 9)])
    }

    @Test(arguments: [Int64.max, Int64.max - 1]) func largestNumbersDoNotTrap(seq: Int64) {
        var log = Self.primed(at: seq - 1)
        #expect(log.receivedEvent(Client.message(seq)) == .apply([Client.placed(seq)]))
        _ = log.receivedEvent(Client.message(.max))
        _ = log.headAdvanced(head: .max, floor: .max)
        _ = log.resumed()
    }
}
