import ApusChatProtocol
import Testing

@testable import ApusChatServer

@Suite("Presence")
struct PresenceMachineTests {
    private let user = UserID(unchecked: "u")

    @Test func firstComesAndLastGoesAfterTheGrace() {
        var presence = PresenceMachine(grace: 5_000)
        #expect(presence.connected(self.user, at: 0) == ChatPresence(user: self.user, online: true, at: 0))
        #expect(presence.connected(self.user, at: 1) == nil)
        #expect(presence.connections(of: self.user) == 2 && presence.connections(of: UserID(unchecked: "v")) == 0)
        presence.disconnected(self.user, at: 10)
        #expect(presence.tick(at: 100_000) == [])
        presence.disconnected(self.user, at: 100_000)
        #expect(presence.tick(at: 104_999) == [] && presence.connections(of: self.user) == 0)
        #expect(presence.isOnline(self.user))
        #expect(presence.tick(at: 105_000) == [ChatPresence(user: self.user, online: false, at: 100_000)])
        #expect(!presence.isOnline(self.user))
        #expect(presence.tick(at: 200_000) == [])
    }

    @Test func aReconnectWithinTheGraceIsNotAnnounced() {
        var presence = PresenceMachine(grace: 5_000)
        _ = presence.connected(self.user, at: 0)
        presence.disconnected(self.user, at: 10)
        #expect(presence.connected(self.user, at: 20) == nil)
        #expect(presence.tick(at: 100_000) == [])
        presence.disconnected(self.user, at: 100_001)
        presence.disconnected(self.user, at: 100_002)  // a duplicate call
        #expect(presence.tick(at: 105_001).count == 1)
    }
}
