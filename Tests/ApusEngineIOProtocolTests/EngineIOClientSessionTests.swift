import ApusEngineIOProtocol
import NIOCore
import Testing

@Suite struct EngineIOClientSessionTests {
    private static let handshake = EngineIOHandshake(
        sid: "s", upgrades: ["websocket"], pingInterval: .seconds(25), pingTimeout: .seconds(20), maxPayload: 1000)
    private let failure = EngineIOError(.transportError, message: "gone")
    private let text = EngineIOMessage.text(ByteBuffer(string: "hello"))

    private func makeOpenPolling() -> EngineIOClientSession {
        var session = EngineIOClientSession(startingOn: .polling, upgrades: [.webSocket])
        #expect(session.outboundTransport == nil)
        #expect(session.receivedPacket(.open(Self.handshake), over: .polling) == .opened(Self.handshake, probe: .webSocket))
        #expect(session.outboundTransport == .polling)
        return session
    }

    private func makePaused() -> EngineIOClientSession {
        var session = self.makeOpenPolling()
        #expect(session.receivedPacket(.probePong, over: .webSocket) == .pausePolling)
        return session
    }

    @Test func upgradesWhenPollingIsSilent() {
        var session = self.makePaused()
        // No packet is sent and no poll starts, but the packets of the last poll are delivered.
        #expect(session.outboundTransport == nil)
        #expect(!session.mayPoll)
        #expect(session.receivedPacket(.message(self.text), over: .polling) == .deliver(self.text))
        #expect(session.receivedPacket(.noop, over: .polling) == .doNothing)
        #expect(session.pollingIsSilent() == .sendUpgrade(.webSocket))
        #expect(session.outboundTransport == .webSocket)
        #expect(session.pollingIsSilent() == .doNothing)
        #expect(session.receivedPacket(.message(self.text), over: .webSocket) == .deliver(self.text))
        // The poll that the upgrade ended does not close the session.
        #expect(session.failed(.polling, self.failure) == .doNothing)
        #expect(session.failed(.webSocket, self.failure) == .close(self.failure))
        #expect(session.isClosed)
    }

    @Test func aFailedProbeLeavesThePolling() {
        var session = self.makeOpenPolling()
        #expect(session.failed(.webSocket, self.failure) == .abandonProbe(.webSocket, self.failure))
        #expect(session.mayPoll)
        #expect(session.pollingIsSilent() == .doNothing)
        session = self.makePaused()
        #expect(session.failed(.webSocket, self.failure) == .abandonProbe(.webSocket, self.failure))
        #expect(session.mayPoll)
        session = self.makeOpenPolling()
        #expect(session.receivedPacket(.pong, over: .webSocket) == .abandonProbe(.webSocket))
        #expect(session.mayPoll)
    }

    @Test func theDeadlineEndsAProbeThatIsNotComplete() {
        for var session in [self.makeOpenPolling(), self.makePaused()] {
            #expect(session.upgradeDeadlinePassed() == .abandonProbe(.webSocket))
            #expect(session.mayPoll)
            #expect(session.outboundTransport == .polling)
            #expect(session.upgradeDeadlinePassed() == .doNothing)
        }
    }

    @Test func theDeadlineHasNoEffectAfterTheUpgrade() {
        var session = EngineIOClientSession(startingOn: .polling, upgrades: [.webSocket])
        #expect(session.upgradeDeadlinePassed() == .doNothing)
        session = self.makePaused()
        #expect(session.pollingIsSilent() == .sendUpgrade(.webSocket))
        #expect(session.upgradeDeadlinePassed() == .doNothing)
        #expect(session.outboundTransport == .webSocket)
        #expect(session.close() == .sendClose(.webSocket))
        #expect(session.upgradeDeadlinePassed() == .doNothing)
        #expect(session.isClosed)
    }

    @Test func pollingThatFailsWhilePausedEndsTheSession() {
        var session = self.makePaused()
        #expect(session.failed(.polling, self.failure) == .close(self.failure))
        #expect(session.failed(.webSocket, self.failure) == .doNothing)
        #expect(session.pollingIsSilent() == .doNothing)
    }

    @Test func answersPingsOverBoth() {
        var session = self.makeOpenPolling()
        #expect(session.receivedPacket(.ping, over: .polling) == .receivedPing(ByteBuffer()))
        session = EngineIOClientSession(startingOn: .webSocket, upgrades: [.polling, .webSocket])
        // There is no transport to upgrade to.
        #expect(session.receivedPacket(.open(Self.handshake), over: .webSocket) == .opened(Self.handshake, probe: nil))
        #expect(session.receivedPacket(.probePing, over: .webSocket) == .receivedPing(ByteBuffer(string: "probe")))
        #expect(session.receivedPacket(.pong, over: .webSocket) == .receivedPong)
    }

    @Test func thePartInTheHeartbeatIsTheVersions() {
        var listening = Self.handshake.clientHeartbeat(.v4)
        #expect(listening.firstTimer == .seconds(45))
        #expect(listening.timerFired() == .closeSession(.pingTimeout))
        var pinging = Self.handshake.clientHeartbeat(.v3)
        #expect(pinging.firstTimer == .seconds(25))
        #expect(pinging.timerFired() == .sendPing(thenTimerAfter: .seconds(20)))
        var python = Self.handshake
        python.pingInterval = .zero
        #expect(python.clientHeartbeat(.v4).firstTimer == .seconds(21))
    }

    @Test func theServersFirstPacketIsTheOpenPacketAndTheOnlyOne() {
        var session = EngineIOClientSession(startingOn: .polling, upgrades: [.polling, .webSocket])
        guard case .close(let error) = session.receivedPacket(.noop, over: .polling) else {
            Issue.record("accepted")
            return
        }
        #expect(error.code == .malformedPacket)
        session = self.makeOpenPolling()
        guard case .close = session.receivedPacket(.open(Self.handshake), over: .polling) else {
            Issue.record("accepted")
            return
        }
    }

    @Test func afterTheEndNothingHappens() {
        var session = self.makeOpenPolling()
        #expect(session.close() == .sendClose(.polling))
        #expect(session.close() == .doNothing)
        #expect(session.receivedPacket(.message(self.text), over: .polling) == .doNothing)
        #expect(session.receivedPacket(.probePong, over: .webSocket) == .doNothing)
        #expect(session.failed(.polling, self.failure) == .doNothing)
        #expect(session.pollingIsSilent() == .doNothing)
        #expect(session.outboundTransport == nil)
        var opening = EngineIOClientSession(startingOn: .webSocket, upgrades: [])
        #expect(opening.close() == .abort)
        var ended = self.makeOpenPolling()
        guard case .close(let error) = ended.receivedPacket(.close, over: .polling) else {
            Issue.record("stayed")
            return
        }
        #expect(error.code == .closed)
    }
}

@Suite struct EngineIOClientOutboxTests {
    private func message(_ count: Int) -> EngineIOPacket { .message(.text(ByteBuffer(repeating: 0x61, count: count))) }

    @Test func aGroupEntersWholeOrNotAtAll() {
        var outbox = EngineIOClientOutbox(maximumBytes: 10, codec: EngineIOPacketCodec(version: .v4))
        #expect(outbox.append([self.message(4)]) == true)
        #expect(outbox.append([self.message(1), self.message(3)]) == false)
        #expect(outbox.append([self.message(4)]) == true)
        #expect(outbox.bytes == 10)
        outbox.appendControl(.pong)
        #expect(outbox.count == 3)
    }

    @Test func oneLargeGroupIsTakenWhenNothingWaits() {
        var outbox = EngineIOClientOutbox(maximumBytes: 10, codec: EngineIOPacketCodec(version: .v4))
        #expect(outbox.append([self.message(100)]) == true)
        #expect(outbox.append([self.message(1)]) == false)
        #expect(outbox.popFirst()?.packet == self.message(100))
        #expect(outbox.bytes == 0)
        #expect(outbox.append([self.message(1)]) == true)
    }

    @Test func aBatchFitsTheServer() {
        var outbox = EngineIOClientOutbox(maximumBytes: 1 << 20, codec: EngineIOPacketCodec(version: .v4))
        for _ in 0..<40 { #expect(outbox.append([self.message(8)]) == true) }
        #expect(outbox.takeBatch(maximumBytes: 1000).count == 16)
        // Each packet takes 9 bytes and a separator.
        #expect(outbox.takeBatch(maximumBytes: 29).count == 2)
        #expect(outbox.takeBatch(maximumBytes: 1).count == 1)
        while !outbox.takeBatch(maximumBytes: 1000).isEmpty {}
        #expect(outbox.isEmpty)
        #expect(outbox.bytes == 0)
    }

    @Test func onlyTheNewestPongWaits() {
        var outbox = EngineIOClientOutbox(maximumBytes: 1000, codec: EngineIOPacketCodec(version: .v4))
        #expect(outbox.append([self.message(4)]) == true)
        outbox.replacePong(ByteBuffer(string: "a long one"))
        outbox.replacePong(ByteBuffer(string: "b"))
        #expect(outbox.count == 2)
        #expect(outbox.bytes == 7)
        #expect(outbox.popFirst()?.packet == self.message(4))
        #expect(outbox.popFirst()?.packet == .pong(ByteBuffer(string: "b")))
        #expect(outbox.bytes == 0)
    }

    @Test func orderIsKeptOverManyTurns() {
        var outbox = EngineIOClientOutbox(maximumBytes: 1 << 20, codec: EngineIOPacketCodec(version: .v4))
        var taken: [EngineIOPacket] = []
        for number in 1...300 {
            _ = outbox.append([self.message(number)])
            if number % 3 == 0, let packet = outbox.popFirst()?.packet { taken.append(packet) }
        }
        while let packet = outbox.popFirst()?.packet { taken.append(packet) }
        #expect(taken == (1...300).map { self.message($0) })
    }
}

@Suite struct EngineIOHTTPRefusalTests {
    @Test(arguments: [
        (400, #"{"code":1,"message":"Session ID unknown"}"#, EngineIOError.Code.sessionUnknown, "Session ID unknown"),
        (403, #"{"code":4,"message":"no"}"#, .forbidden, "no"),
        (400, #""Invalid session""#, .badRequest, "Invalid session"),
        (413, "", .payloadTooLarge, ""),
        (502, "<html>", .connectionRefused, "<html>"),
        (502, " \r\n<html>\n<p>a page</p>\n", .connectionRefused, "<html>"),
        (403, #"{"message":"a\u001b[31m\nb"}"#, .forbidden, "a [31m b"),
        (502, String(repeating: "x", count: 10_000), .connectionRefused, String(repeating: "x", count: 200)),
    ])
    func theMessageHasOneLineOfTheBody(status: Int, body: String, code: EngineIOError.Code, text: String) {
        let error = EngineIOHTTPRefusal.error(status: status, body: Array(body.utf8))
        #expect(error == EngineIOError(code, message: "the server answered HTTP \(status)\(text.isEmpty ? "" : ": \(text)")"))
    }
}
