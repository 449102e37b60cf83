import ApusSocketIOProtocol
import Testing

@Suite struct SocketIOClusterMembershipTests {
    private let a = SocketIONodeID("a")
    private let b = SocketIONodeID("b")

    @Test func aSilentServerLeavesAfterTheTimeout() {
        var membership = SocketIOClusterMembership(timeout: .seconds(10))
        #expect(membership.heard(a, at: .seconds(0)) == true)
        #expect(membership.heard(b, at: .seconds(1)) == true)
        #expect(membership.heard(a, at: .seconds(5)) == false)
        #expect(membership.timerFired(at: .seconds(10)) == [])
        #expect(membership.timerFired(at: .seconds(11)) == [b])
        #expect(membership.timerFired(at: .seconds(11)) == [])
        #expect(membership.nodes == [a])
        #expect(membership.heard(b, at: .seconds(12)) == true, "the server rejoined")
    }

    @Test func aServerLeavesOnce() {
        var membership = SocketIOClusterMembership(timeout: .seconds(10))
        membership.heard(a, at: .seconds(0))
        #expect(membership.left(a) == true)
        #expect(membership.left(a) == false)
        #expect(membership.nodes.isEmpty)
    }

    @Test func anEmitterIsNotAServer() {
        var membership = SocketIOClusterMembership(timeout: .seconds(10))
        #expect(membership.heard(.emitter, at: .seconds(0)) == false)
        #expect(membership.nodes.isEmpty)
    }
}
