import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOProtocol
import NIOCore
import Testing

private let session = SocketIOClientSession(version: .v5, id: "engine1")

@Suite struct SocketIOClientNamespaceTests {
    private let granted = SocketIOPacket.Content.connect(["sid": "id1"])
    private func event(_ name: String) -> SocketIOPacket.Content { .event(name: name, arguments: [1], ackID: nil) }

    private func makeConnecting(maximumEarlyEvents: Int = 1000) -> SocketIOClientNamespace {
        var namespace = SocketIOClientNamespace(maximumEarlyEvents: maximumEarlyEvents)
        #expect(namespace.open(in: session) == .fetchAuth(attempt: 1))
        #expect(namespace.authenticated(attempt: 1) == .sendConnect(auth: nil))
        return namespace
    }

    private func makeConnected() -> SocketIOClientNamespace {
        var namespace = self.makeConnecting()
        #expect(namespace.receivedPacket(self.granted) == .connected(id: "id1", early: []))
        return namespace
    }

    @Test func waitsForTheSession() {
        var namespace = SocketIOClientNamespace()
        #expect(namespace.sessionOpened(session) == .doNothing)
        #expect(namespace.open(in: nil) == .waitForSession)
        #expect(namespace.open(in: nil) == .doNothing)
        #expect(namespace.sessionOpened(session) == .fetchAuth(attempt: 1))
        #expect(namespace.isPending(attempt: 1))
        #expect(!namespace.isPending(attempt: 0))
        #expect(namespace.authenticated(attempt: 1) == .sendConnect(auth: nil))
        #expect(namespace.receivedPacket(self.granted) == .connected(id: "id1", early: []))
        #expect(namespace.id == "id1")
        #expect(!namespace.isPending(attempt: 1))
    }

    @Test func anAuthOfAnEarlierAttemptIsNotUsed() {
        var namespace = SocketIOClientNamespace()
        _ = namespace.open(in: session)
        #expect(namespace.sessionLost() == .doNothing)
        #expect(namespace.authenticated(attempt: 1) == .doNothing)
        #expect(namespace.sessionOpened(session) == .fetchAuth(attempt: 2))
        #expect(namespace.authenticated(attempt: 1) == .doNothing)
        #expect(namespace.authenticated(attempt: 2) == .sendConnect(auth: nil))
    }

    @Test func eventsBeforeTheAnswerAreKept() {
        // python-socketio sends the events of its connect handler before the CONNECT packet.
        var namespace = self.makeConnecting(maximumEarlyEvents: 2)
        #expect(namespace.receivedPacket(self.event("a")) == .doNothing)
        #expect(namespace.receivedPacket(self.event("b")) == .doNothing)
        #expect(namespace.receivedPacket(.ack(id: 0, arguments: [])) == .doNothing)
        guard case .fail(let error) = namespace.receivedPacket(self.event("c")) else {
            Issue.record("the number of early events is not limited")
            return
        }
        #expect(error.code == .malformedPacket)
        // The limit also applies to bytes. The bytes of an earlier attempt do not count.
        do {
            namespace = self.makeConnecting(maximumEarlyEvents: 1000)
            #expect(namespace.receivedPacket(self.event("a"), bytes: 16 << 20) == .doNothing)
            _ = namespace.sessionLost()
            #expect(namespace.sessionOpened(session) == .fetchAuth(attempt: 2))
            #expect(namespace.authenticated(attempt: 2) == .sendConnect(auth: nil))
            #expect(namespace.receivedPacket(self.event("a"), bytes: 16 << 20) == .doNothing)
            guard case .fail = namespace.receivedPacket(self.event("b"), bytes: 1) else {
                Issue.record("the bytes of early events are not limited")
                return
            }
        }
        namespace = self.makeConnecting(maximumEarlyEvents: 2)
        _ = namespace.receivedPacket(self.event("a"))
        #expect(
            namespace.receivedPacket(self.granted)
                == .connected(id: "id1", early: [.init(name: "a", arguments: [1], ackID: nil)]))
    }

    @Test func refusalsCarryMessageAndData() {
        var namespace = self.makeConnecting()
        #expect(
            namespace.receivedPacket(.connectError(["message": "no", "data": ["code": 7]]))
                == .refused(SocketIOError(.connectRefused, message: "no", data: ["code": 7])))
        #expect(!namespace.isActive)
        namespace = self.makeConnecting()
        #expect(
            namespace.receivedPacket(.connectError("Unable to connect"))
                == .refused(SocketIOError(.connectRefused, message: "Unable to connect")))
    }

    @Test func aConnectWithoutAnIDIsAnOlderProtocol() {
        var namespace = self.makeConnecting()
        #expect(namespace.receivedPacket(.connect(nil)) == .serverIsVersion4)
        var broken = self.makeConnecting()
        guard case .fail = broken.receivedPacket(.connect(["a": 1])) else {
            Issue.record("accepted")
            return
        }
    }

    @Test(arguments: [("/", "engine1"), ("/chat", "/chat#engine1")]) func inVersionFourTheIDIsTheEngines(name: String, id: String) {
        var namespace = SocketIOClientNamespace(name: name)
        _ = namespace.open(in: SocketIOClientSession(version: .v4, id: "engine1"))
        _ = namespace.authenticated(attempt: 1)
        #expect(namespace.receivedPacket(.connect(nil)) == .connected(id: id, early: []))
    }

    @Test(
        arguments: [
            (["code": 7], "the server refused the namespace", ["code": 7]),
            (["no", ["code": 7]], "no", ["code": 7]),
            (["no", 1, 2], "no", ["no", 1, 2]),
            (7, "the server refused the namespace", 7),
            (.null, "the server refused the namespace", nil),
        ] as [(SocketIOValue, String, SocketIOValue?)])
    func inVersionFourTheRefusalIsTheData(payload: SocketIOValue, message: String, data: SocketIOValue?) {
        var namespace = self.makeConnecting()
        #expect(namespace.receivedPacket(.connectError(payload)) == .refused(SocketIOError(.connectRefused, message: message, data: data)))
    }

    @Test func deliversAndResolves() {
        var namespace = self.makeConnected()
        #expect(
            namespace.receivedPacket(.event(name: "e", arguments: ["x"], ackID: 3))
                == .deliver(.init(name: "e", arguments: ["x"], ackID: 3)))
        #expect(namespace.receivedPacket(.ack(id: 5, arguments: [true])) == .resolveAck(id: 5, arguments: [true]))
        #expect(namespace.receivedPacket(self.granted) == .doNothing)
        #expect(namespace.receivedPacket(.connectError("late")) == .doNothing)
    }

    @Test func theNamespaceRejoinsAfterALossButNotAfterADisconnect() {
        var namespace = self.makeConnected()
        #expect(namespace.sessionLost() == .wasConnected)
        #expect(namespace.isActive)
        #expect(namespace.receivedPacket(self.event("late")) == .doNothing)
        #expect(namespace.sessionOpened(session) == .fetchAuth(attempt: 2))
        namespace = self.makeConnected()
        #expect(namespace.receivedPacket(.disconnect) == .disconnected)
        #expect(!namespace.isActive)
        #expect(namespace.sessionLost() == .doNothing)
        #expect(namespace.sessionOpened(session) == .doNothing)
    }

    @Test func closesInEveryState() {
        var namespace = SocketIOClientNamespace()
        #expect(namespace.close() == .doNothing)
        _ = namespace.open(in: nil)
        #expect(namespace.close() == .justClose)
        namespace = self.makeConnecting()
        #expect(namespace.close() == .sendDisconnect(wasConnected: false))
        #expect(namespace.receivedPacket(self.granted) == .doNothing)
        namespace = self.makeConnected()
        #expect(namespace.close() == .sendDisconnect(wasConnected: true))
        #expect(namespace.close() == .doNothing)
        #expect(namespace.open(in: session) == .fetchAuth(attempt: 2))
    }
}

@Suite struct SocketIOClientBufferTests {
    private func item(_ text: String, attachment: Int? = nil, ackID: Int? = nil) -> SocketIOClientBuffer.Item {
        .init(
            packet: [.text(ByteBuffer(string: text))] + (attachment.map { [.binary(ByteBuffer(repeating: 0, count: $0))] } ?? []),
            ackID: ackID)
    }

    @Test func boundedInNumberAndBytes() {
        var buffer = SocketIOClientBuffer(maximumCount: 3, maximumBytes: 10)
        #expect(buffer.append(self.item("four", attachment: 4)) == .kept(dropped: []))
        #expect(buffer.append(self.item("abc")) == .refused)
        #expect(buffer.append(self.item("a")) == .kept(dropped: []))
        #expect(buffer.append(self.item("b")) == .kept(dropped: []))
        #expect(buffer.append(self.item("")) == .refused)
        #expect(buffer.takeAll().count == 3)
        #expect(buffer.bytes == 0)
        #expect(buffer.append(self.item("0123456789")) == .kept(dropped: []))
    }

    @Test func theOldestEventsAreDroppedOnOverflow() {
        var buffer = SocketIOClientBuffer(maximumCount: 3, maximumBytes: 10, overflow: .dropOldest)
        for text in ["aaa", "bbb", "cc"] { #expect(buffer.append(self.item(text)) == .kept(dropped: [])) }
        #expect(buffer.append(self.item("d")) == .kept(dropped: [self.item("aaa")]))
        #expect(buffer.append(self.item("123456789")) == .kept(dropped: [self.item("bbb"), self.item("cc")]))
        #expect(buffer.bytes == 10)
        // An item larger than the buffer does not evict the others.
        #expect(buffer.append(self.item("12345678901")) == .refused)
        #expect(buffer.takeAll() == [self.item("d"), self.item("123456789")])
        var none = SocketIOClientBuffer(maximumCount: 0, maximumBytes: 10, overflow: .dropOldest)
        #expect(none.append(self.item("a")) == .refused)
    }

    @Test func anEventWithoutAWaiterIsRemoved() {
        var buffer = SocketIOClientBuffer(maximumCount: 3, maximumBytes: 10)
        _ = buffer.append(self.item("a"))
        _ = buffer.append(self.item("b", ackID: 4))
        buffer.remove(ackID: 5)
        buffer.remove(ackID: 4)
        #expect(buffer.takeAll() == [self.item("a")])
    }
}
