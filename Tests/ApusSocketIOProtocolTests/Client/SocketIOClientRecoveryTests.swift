import ApusJSON
import ApusSocketIOProtocol
import Testing

private let session = SocketIOClientSession(version: .v5, id: "engine1")

/// Connection state recovery in the client, tested through the namespace state machine.
@Suite struct SocketIOClientRecoveryTests {
    private func event(_ arguments: SocketIOValue..., ackID: Int? = nil) -> SocketIOPacket.Content {
        .event(name: "e", arguments: .init(arguments), ackID: ackID)
    }

    private func delivered(_ arguments: SocketIOValue...) -> SocketIOClientNamespace.Event {
        .init(name: "e", arguments: .init(arguments), ackID: nil)
    }

    private func makeConnected(offset: SocketIOValue? = nil) -> SocketIOClientNamespace {
        var namespace = SocketIOClientNamespace()
        #expect(namespace.open(in: session) == .fetchAuth(attempt: 1))
        #expect(namespace.authenticated(attempt: 1) == .sendConnect(auth: nil))
        var grant: SocketIOValue = ["sid": "id1", "pid": "pid1"]
        if let offset { grant = ["sid": "id1", "pid": "pid1", "offset": offset] }
        #expect(namespace.receivedPacket(.connect(grant)) == .connected(id: "id1", early: []))
        return namespace
    }

    /// Loses the session, reopens it, and returns the auth of the CONNECT.
    private func auth(of namespace: inout SocketIOClientNamespace, _ own: SocketIOValue? = nil) -> SocketIOValue? {
        #expect(namespace.sessionLost() == .wasConnected)
        guard case .fetchAuth(let attempt) = namespace.sessionOpened(session),
            case .sendConnect(let auth) = namespace.authenticated(attempt: attempt, own)
        else {
            Issue.record("no CONNECT was sent")
            return nil
        }
        return auth
    }

    @Test func theOffsetIsTheLastArgumentOfTheLastEvent() {
        var namespace = self.makeConnected()
        #expect(namespace.receivedPacket(self.event(1, "o1")) == .deliver(self.delivered(1, "o1")))
        _ = namespace.receivedPacket(self.event("text", "o2"))
        #expect(self.auth(of: &namespace) == ["pid": "pid1", "offset": "o2"])
    }

    @Test func eventsThatCarryNoOffsetChangeNothing() {
        var namespace = self.makeConnected()
        _ = namespace.receivedPacket(self.event(1, "o1"))
        _ = namespace.receivedPacket(self.event())
        _ = namespace.receivedPacket(self.event("text", 7))
        // The server does not keep an event that requests an ack.
        _ = namespace.receivedPacket(self.event("text", ackID: 3))
        #expect(self.auth(of: &namespace) == ["pid": "pid1", "offset": "o1"])
    }

    @Test func aQuietSocketHasTheOffsetOfItsConnect() {
        var namespace = self.makeConnected(offset: "o0")
        #expect(self.auth(of: &namespace) == ["pid": "pid1", "offset": "o0"])
        namespace = self.makeConnected()
        #expect(self.auth(of: &namespace) == ["pid": "pid1"])
    }

    @Test func theUsersAuthStaysAndIsNeverOverwritten() {
        var namespace = self.makeConnected(offset: "o0")
        #expect(self.auth(of: &namespace, ["token": "t", "offset": "mine"]) == ["pid": "pid1", "offset": "mine", "token": "t"])
    }

    @Test func missedEventsArriveOnceBeforeTheConnect() {
        var namespace = self.makeConnected()
        for offset: SocketIOValue in ["o1", "o2"] { _ = namespace.receivedPacket(self.event(offset)) }
        _ = self.auth(of: &namespace)
        // The server repeats more events than requested.
        for offset: SocketIOValue in ["o1", "o2", "o3", "o3", "o4"] { #expect(namespace.receivedPacket(self.event(offset)) == .doNothing) }
        #expect(
            namespace.receivedPacket(.connect(["sid": "id1", "pid": "pid1"]))
                == .connected(id: "id1", early: [self.delivered("o3"), self.delivered("o4")], isRecovered: true))
        #expect(self.auth(of: &namespace) == ["pid": "pid1", "offset": "o4"])
    }

    @Test func aPidThatChangesIsRecoveredWhenTheSocketIsTheSame() {
        var namespace = self.makeConnected()
        _ = self.auth(of: &namespace)
        #expect(namespace.receivedPacket(.connect(["sid": "id1", "pid": "pid2"])) == .connected(id: "id1", early: [], isRecovered: true))
        #expect(self.auth(of: &namespace) == ["pid": "pid2"])
    }

    @Test func anotherSessionIsNotRecoveredAndItsEventsAreNew() {
        var namespace = self.makeConnected()
        _ = namespace.receivedPacket(self.event("o1"))
        _ = self.auth(of: &namespace)
        _ = namespace.receivedPacket(self.event("o1"))
        #expect(
            namespace.receivedPacket(.connect(["sid": "id2", "pid": "pid2"])) == .connected(id: "id2", early: [self.delivered("o1")]))
        #expect(self.auth(of: &namespace) == ["pid": "pid2", "offset": "o1"])
        // A server without recovery sends no pid, and nothing is kept.
        #expect(namespace.receivedPacket(.connect(["sid": "id3"])) == .connected(id: "id3", early: []))
        _ = namespace.receivedPacket(self.event("o9"))
        #expect(self.auth(of: &namespace) == nil)
    }

    @Test func theSessionIsForgottenAfterADisconnect() {
        var namespace = self.makeConnected(offset: "o0")
        _ = namespace.close()
        _ = namespace.open(in: session)
        #expect(namespace.authenticated(attempt: 2) == .sendConnect(auth: nil))
        namespace = self.makeConnected(offset: "o0")
        #expect(namespace.receivedPacket(.disconnect) == .disconnected)
        _ = namespace.open(in: session)
        #expect(namespace.authenticated(attempt: 2) == .sendConnect(auth: nil))
    }

    @Test func theLastOffsetsAreRemembered() {
        var recovery = SocketIOClientRecovery(maximumSeen: 2)
        #expect(recovery.granted(["sid": "id1", "pid": "pid1"]) == false)
        for offset: SocketIOValue in ["a", "b", "c"] { #expect(recovery.receivedEvent(self.delivered(offset)) != nil) }
        #expect(recovery.receivedEvent(self.delivered("c"), isRepeated: true) == nil)
        #expect(recovery.receivedEvent(self.delivered("b"), isRepeated: true) == nil)
        #expect(recovery.receivedEvent(self.delivered("a"), isRepeated: true) != nil)
        // Live events are never duplicates, regardless of their last argument.
        #expect(recovery.receivedEvent(self.delivered("a")) != nil)
    }

    /// An Apus server sends an offset in CONNECT, and all of its offsets have the same prefix.
    @Test func anOffsetWithTheKnownPrefixIsRemoved() {
        var namespace = self.makeConnected(offset: "k3x9Qz.0")
        #expect(namespace.receivedPacket(self.event(1, "k3x9Qz.1")) == .deliver(self.delivered(1)))
        // A volatile event has no offset, so its last argument is kept.
        #expect(namespace.receivedPacket(self.event("a.b")) == .deliver(self.delivered("a.b")))
        #expect(self.auth(of: &namespace) == ["pid": "pid1", "offset": "k3x9Qz.1"])
    }
}
