import ApusChatCore
import ApusChatStorage
import Testing

@Suite struct PresenceMachineTests {
    private let ann = UserKey(1)
    private let bob = UserKey(2)

    @Test func theFirstConnectionIsReported() {
        var presence = PresenceMachine()
        #expect(presence.connected(self.ann) == [.announce(self.ann, isOnline: true)])
        #expect(presence.connected(self.ann).isEmpty)
        #expect(presence.isOnline(self.ann))
        #expect(presence.disconnected(self.ann, at: 0).isEmpty)
        #expect(presence.isOnline(self.ann), "another device is connected")
    }

    @Test func goingIsReportedAfterTheGracePeriod() {
        var presence = PresenceMachine()
        _ = presence.connected(self.ann)
        #expect(presence.disconnected(self.ann, at: 5) == [.schedule(after: .seconds(10))])
        #expect(presence.isOnline(self.ann))
        #expect(presence.timerFired(at: 10_005) == [.announce(self.ann, isOnline: false)])
        #expect(!presence.isOnline(self.ann))
        #expect(presence.connected(self.ann) == [.announce(self.ann, isOnline: true)])
    }

    @Test func aReconnectionIsNotSeen() {
        var presence = PresenceMachine()
        _ = presence.connected(self.ann)
        _ = presence.disconnected(self.ann, at: 0)
        #expect(presence.connected(self.ann).isEmpty)
        #expect(presence.timerFired(at: 10_000).isEmpty)
        #expect(presence.isOnline(self.ann))
    }

    @Test func aSecondLeaveCountsFromItsOwnTime() {
        var presence = PresenceMachine()
        _ = presence.connected(self.ann)
        _ = presence.disconnected(self.ann, at: 0)
        _ = presence.connected(self.ann)
        #expect(presence.disconnected(self.ann, at: 9_000).isEmpty, "the timer runs")
        #expect(presence.timerFired(at: 10_000) == [.schedule(after: .seconds(9))])
        #expect(presence.timerFired(at: 19_000) == [.announce(self.ann, isOnline: false)])
    }

    @Test func oneTimerServesAll() {
        var presence = PresenceMachine()
        _ = presence.connected(self.ann)
        _ = presence.connected(self.bob)
        _ = presence.disconnected(self.ann, at: 0)
        #expect(presence.disconnected(self.bob, at: 1_000).isEmpty)
        #expect(presence.timerFired(at: 10_000) == [.announce(self.ann, isOnline: false), .schedule(after: .seconds(1))])
        #expect(presence.timerFired(at: 11_000) == [.announce(self.bob, isOnline: false)])
    }

    @Test func unknownUsersAreHarmless() {
        var presence = PresenceMachine()
        #expect(presence.disconnected(self.ann, at: 0).isEmpty)
        #expect(presence.timerFired(at: 0).isEmpty)
    }
}
