import ApusEngineIOProtocol
import NIOCore
import Testing

@Suite struct EngineIOServerSessionTests {
    private let a = EngineIOPacket.message(.text(ByteBuffer(string: "a")))
    private let b = EngineIOPacket.message(.text(ByteBuffer(string: "b")))
    private let probe = ByteBuffer(string: "probe")

    private func makeSession(
        _ transport: EngineIOTransport = .polling, limit: Int = 1000, version: EngineIOVersion = .v4
    ) -> EngineIOServerSession {
        EngineIOServerSession(version: version, transport: transport, maximumQueuedBytes: limit, maximumPacketsPerAnswer: 3)
    }

    // MARK: Polling

    @Test func pollIsHeldUntilThereIsSomethingToSay() {
        var session = self.makeSession()
        #expect(session.receivedPoll() == .hold)
        #expect(session.send(self.a) == .answerHeldPoll([self.a]))
        #expect(session.send(self.b) == .queued)
        #expect(session.receivedPoll() == .respond([self.b]))
        #expect(session.receivedPoll() == .hold)
    }

    @Test func overlappingPollsCloseTheSession() {
        var session = self.makeSession()
        #expect(session.receivedPoll() == .hold)
        #expect(session.receivedPoll() == .refuse(close: .transportError, answerHeldPoll: [.close]))
        #expect(session.isClosed)
        #expect(session.receivedPoll() == .refuse(close: nil, answerHeldPoll: []))
        #expect(session.send(self.a) == .drop)
    }

    @Test func queueHasABound() {
        var session = self.makeSession(limit: 40)
        #expect(session.send(self.a) == .queued)
        #expect(session.send(self.b) == .queued)
        #expect(session.send(self.a) == .closeSession(.transportError))
        #expect(session.send(self.a) == .drop)
    }

    @Test func takenQueueFreesTheBound() {
        var session = self.makeSession(limit: 40)
        for _ in 0..<5 {
            #expect(session.send(self.a) == .queued)
            #expect(session.send(self.b) == .queued)
            #expect(session.takeQueue(after: 0) == [self.a, self.b])
        }
    }

    @Test func aLongQueueIsTakenInLinearTime() {
        // 30,000 packets in answers of three: quadratic work would take a minute.
        var session = self.makeSession(limit: 10_000_000)
        for _ in 0..<30_000 { _ = session.send(self.a) }
        var taken = 0
        while session.hasQueue {
            guard case .respond(let packets) = session.receivedPoll() else { break }
            taken += packets.count
        }
        #expect(taken == 30_000)
    }

    @Test func answerHasABoundInPackets() {
        var session = self.makeSession()
        for _ in 0..<2 {
            #expect(session.send(self.a) == .queued)
            #expect(session.send(self.b) == .queued)
        }
        #expect(session.takeQueue(after: 1) == [self.a, self.b])
        #expect(session.receivedPoll() == .respond([self.a, self.b]))
        #expect(session.takeQueue(after: 3) == [])
    }

    @Test func heldPollThatGoesAwayClosesTheSession() {
        var session = self.makeSession()
        #expect(session.heldPollClosed() == nil)
        #expect(session.receivedPoll() == .hold)
        #expect(session.heldPollClosed() == .transportClose)
        #expect(session.heldPollClosed() == nil)
    }

    @Test func clientsCloseAnswersThePollWithNoop() {
        var session = self.makeSession()
        #expect(session.receivedPoll() == .hold)
        #expect(session.received(.close) == .closeSession(.transportClose, answerHeldPoll: [.noop]))
        #expect(session.received(self.a) == .ignore)
    }

    @Test(arguments: [EngineIOPacket.ping(ByteBuffer()), .upgrade])
    func packetsOnlyAServerOrAProbeSendsAreAParseError(packet: EngineIOPacket) {
        var session = self.makeSession(.webSocket)
        #expect(session.received(packet) == .closeSession(.parseError, answerHeldPoll: []))
    }

    @Test func messagesAndPongsAreHandedUp() {
        var session = self.makeSession(.webSocket)
        #expect(session.received(self.a) == .deliver(.text(ByteBuffer(string: "a"))))
        #expect(session.received(.pong(ByteBuffer())) == .receivedPong)
        #expect(session.received(.noop) == .ignore)
    }

    // MARK: Upgrade

    @Test func upgradeLosesNothing() {
        var session = self.makeSession()
        #expect(session.receivedPoll() == .hold)
        #expect(session.probeOpened() == true)
        #expect(session.receivedOnProbe(.ping(self.probe)) == .answerProbe(noopToHeldPoll: true))
        // The client polls once more before it pauses: the upgrade timer ends that poll.
        #expect(session.receivedPoll() == .hold)
        #expect(session.upgradeTimerFired() == .restart(noopToHeldPoll: true))
        #expect(session.upgradeTimerFired() == .restart(noopToHeldPoll: false))
        // Until `5`, packets are sent by polling.
        #expect(session.send(self.a) == .queued)
        #expect(session.receivedOnProbe(.upgrade) == .completeUpgrade(flush: [self.a], noopToHeldPoll: false))
        #expect(session.transport == .webSocket)
        #expect(session.send(self.b) == .write)
        #expect(session.receivedPoll() == .refuse(close: nil, answerHeldPoll: []))
        #expect(session.probeOpened() == false)
        #expect(session.upgradeTimerFired() == .doNothing)
        #expect(session.upgradeDeadlinePassed() == .doNothing)
        #expect(session.transport == .webSocket)
    }

    @Test func theDeadlineClosesAProbeThatIsNotComplete() {
        var session = self.makeSession()
        #expect(session.upgradeDeadlinePassed() == .doNothing)
        #expect(session.probeOpened() == true)
        #expect(session.upgradeTimerFired() == .doNothing)  // before `2probe`
        #expect(session.upgradeDeadlinePassed() == .closeProbe)
        #expect(session.upgradeDeadlinePassed() == .doNothing)
        #expect(session.probeOpened() == true)
        #expect(session.receivedOnProbe(.ping(self.probe)) == .answerProbe(noopToHeldPoll: false))
        #expect(session.upgradeDeadlinePassed() == .closeProbe)
        #expect(session.receivedOnProbe(.upgrade) == .closeProbe)
        #expect(session.transport == .polling)
        #expect(session.close() == false)
        #expect(session.upgradeDeadlinePassed() == .doNothing)
    }

    @Test func pollStillHeldAtTheUpgradeIsReleased() {
        var session = self.makeSession()
        #expect(session.probeOpened() == true)
        #expect(session.receivedOnProbe(.ping(self.probe)) == .answerProbe(noopToHeldPoll: false))
        #expect(session.receivedPoll() == .hold)
        #expect(session.receivedOnProbe(.upgrade) == .completeUpgrade(flush: [], noopToHeldPoll: true))
    }

    @Test(arguments: [EngineIOPacket.upgrade, .ping(ByteBuffer()), .ping(ByteBuffer(string: "Probe")), .noop, .close])
    func otherFirstPacketClosesTheProbeOnly(packet: EngineIOPacket) {
        var session = self.makeSession()
        #expect(session.probeOpened() == true)
        #expect(session.receivedOnProbe(packet) == .closeProbe)
        #expect(!session.isClosed)
        #expect(session.receivedPoll() == .hold)
        #expect(session.probeOpened() == true)
    }

    @Test func secondProbeIsRefused() {
        var session = self.makeSession()
        #expect(session.probeOpened() == true)
        #expect(session.probeOpened() == false)
        session.probeClosed()
        #expect(session.probeOpened() == true)
    }

    @Test func probeOfAClosedSessionIsRefused() {
        var session = self.makeSession()
        #expect(session.close() == false)
        #expect(session.probeOpened() == false)
        #expect(session.receivedOnProbe(.ping(self.probe)) == .closeProbe)
        #expect(session.transport == nil)
    }

    @Test func closeReturnsWhetherAPollIsHeld() {
        var session = self.makeSession()
        #expect(session.receivedPoll() == .hold)
        #expect(session.close() == true)
        #expect(session.close() == false)
    }

    @Test func packetsSentBeforeTheCloseReachTheNextPoll() {
        var session = self.makeSession()
        for _ in 0..<3 { #expect(session.send(self.a) == .queued) }
        #expect(session.closeInOrder() == .waitForPoll)
        #expect(session.isClosed && session.hasClosingPackets)
        #expect(session.send(self.b) == .drop)
        #expect(session.received(.message(.text(ByteBuffer(string: "late")))) == .ignore)
        // Three packets in each answer.
        #expect(session.receivedPoll() == .respond([self.a, self.a, self.a]))
        #expect(session.hasClosingPackets)
        #expect(session.receivedPoll() == .respond([.close]))
        #expect(!session.hasClosingPackets)
        #expect(session.receivedPoll() == .refuse(close: nil, answerHeldPoll: []))
    }

    @Test func theCloseIsSentAlone() {
        var session = self.makeSession()
        #expect(session.send(self.a) == .queued)
        #expect(session.closeInOrder() == .waitForPoll)
        #expect(session.receivedPoll() == .respond([self.a]))
        #expect(session.receivedPoll() == .respond([.close]))
        #expect(!session.hasClosingPackets)
    }

    @Test func anAnswerInProgressTakesPacketsBeforeTheClose() {
        var session = self.makeSession()
        #expect(session.receivedPoll() == .hold)
        #expect(session.send(self.a) == .answerHeldPoll([self.a]))
        #expect(session.send(self.b) == .queued)
        #expect(session.closeInOrder() == .waitForPoll)
        #expect(session.takeQueue(after: 1) == [self.b])
        #expect(session.hasClosingPackets)
        #expect(session.receivedPoll() == .respond([.close]))
        #expect(!session.hasClosingPackets)
    }

    @Test func aHeldPollIsAnsweredWithTheCloseAtOnce() {
        var session = self.makeSession()
        #expect(session.receivedPoll() == .hold)
        #expect(session.closeInOrder() == .answerHeldPoll([.close]))
        #expect(!session.hasClosingPackets)
        var webSocket = self.makeSession(.webSocket)
        #expect(webSocket.closeInOrder() == .done)
        #expect(webSocket.closeInOrder() == .done)
    }

    private func probedSession() -> EngineIOServerSession {
        var session = self.makeSession()
        #expect(session.probeOpened() == true)
        #expect(session.receivedOnProbe(.ping(ByteBuffer(string: "probe"))) == .answerProbe(noopToHeldPoll: false))
        return session
    }

    @Test func aCloseDuringAnUpgradeWaitsForIt() {
        var session = self.probedSession()
        #expect(session.send(self.a) == .queued)
        #expect(session.closeInOrder() == .waitForPoll)
        #expect(session.awaitsUpgrade)
        #expect(session.receivedOnProbe(.upgrade) == .completeClosing(flush: [self.a]))
        #expect(session.isClosed && !session.hasClosingPackets && !session.awaitsUpgrade)
    }

    @Test func aClientThatPollsAgainBeforeItsUpgradeGetsTheLastPackets() {
        var session = self.probedSession()
        #expect(session.send(self.a) == .queued)
        #expect(session.closeInOrder() == .waitForPoll)
        #expect(session.receivedPoll() == .respond([self.a]))
        #expect(session.awaitsUpgrade)
        #expect(session.receivedOnProbe(.upgrade) == .completeClosing(flush: []))
    }

    @Test func aLostProbeLeavesTheLastPacketsToThePoll() {
        var session = self.probedSession()
        #expect(session.send(self.a) == .queued)
        #expect(session.closeInOrder() == .waitForPoll)
        session.probeClosed()
        #expect(!session.awaitsUpgrade)
        #expect(session.receivedOnProbe(.upgrade) == .closeProbe)
        #expect(session.receivedPoll() == .respond([self.a]))
    }

    @Test func aProbeThatWasNotAnsweredIsClosed() {
        var session = self.makeSession()
        #expect(session.probeOpened() == true)
        #expect(session.send(self.a) == .queued)
        #expect(session.closeInOrder() == .waitForPoll)
        #expect(!session.awaitsUpgrade)
    }
}
