import ApusFramedProtocol
import Testing

@Suite struct FramedWatchTests {
    private static let settings = LivenessMonitor.Settings(
        handshakeTimeout: .seconds(10), headTimeout: .seconds(5), stallTimeout: .seconds(30), pingInterval: .seconds(20),
        pingTimeout: .seconds(8))

    private func opened() -> LivenessMonitor {
        var watch = LivenessMonitor(settings: Self.settings, at: .zero)
        watch.opened()
        return watch
    }

    private func code(_ action: LivenessMonitor.TickAction) -> FramedError.Code? {
        if case .fail(let error) = action { error.code } else { nil }
    }

    @Test func theHandshakeHasOneDeadline() {
        var watch = LivenessMonitor(settings: Self.settings, at: .seconds(100))
        for second in 101..<110 {
            // One byte per second does not extend the deadline (docs/hazards.md, 14).
            watch.received(isWithinHead: true, isAnotherHead: true, at: .seconds(second))
            #expect(watch.ticked(canPing: true, at: .seconds(second)) == .doNothing)
        }
        #expect(self.code(watch.ticked(canPing: true, at: .seconds(110))) == .timeout)
    }

    @Test func aHeadHasOneDeadlineThatNoByteProlongs() {
        var watch = self.opened()
        for second in 1...5 {
            watch.received(isWithinHead: true, isAnotherHead: false, at: .seconds(second))
            #expect(watch.ticked(canPing: true, at: .seconds(second)) == .doNothing)
        }
        #expect(self.code(watch.ticked(canPing: true, at: .seconds(6))) == .timeout)
    }

    @Test func theNextHeadHasADeadlineOfItsOwn() {
        var watch = self.opened()
        watch.received(isWithinHead: true, isAnotherHead: false, at: .seconds(1))
        watch.received(isWithinHead: true, isAnotherHead: true, at: .seconds(5))
        #expect(watch.ticked(canPing: true, at: .seconds(9)) == .doNothing)
        watch.received(isWithinHead: false, isAnotherHead: true, at: .seconds(9))
        #expect(watch.ticked(canPing: true, at: .seconds(20)) == .doNothing)
    }

    @Test func aSilentPeerIsPingedAndThenClosed() {
        var watch = self.opened()
        #expect(watch.ticked(canPing: true, at: .seconds(19)) == .doNothing)
        #expect(watch.ticked(canPing: true, at: .seconds(20)) == .sendPing)
        #expect(watch.ticked(canPing: true, at: .seconds(27)) == .doNothing)
        #expect(self.code(watch.ticked(canPing: true, at: .seconds(28))) == .timeout)
    }

    @Test func anyBytesAnswerAPing() {
        var watch = self.opened()
        #expect(watch.ticked(canPing: true, at: .seconds(20)) == .sendPing)
        watch.received(isWithinHead: false, isAnotherHead: false, at: .seconds(27))
        #expect(watch.ticked(canPing: true, at: .seconds(46)) == .doNothing)
        #expect(watch.ticked(canPing: true, at: .seconds(47)) == .sendPing)
    }

    @Test func aPeerWithoutPingsIsNotPinged() {
        var watch = self.opened()
        #expect(watch.ticked(canPing: false, at: .seconds(1000)) == .doNothing)
        var settings = Self.settings
        settings.pingInterval = nil
        var silent = LivenessMonitor(settings: settings, at: .zero)
        silent.opened()
        #expect(silent.ticked(canPing: true, at: .seconds(1000)) == .doNothing)
    }

    @Test func aPeerThatReadsNothingIsClosed() {
        var watch = self.opened()
        watch.wrote(at: .seconds(1))
        watch.received(isWithinHead: false, isAnotherHead: false, at: .seconds(29))
        #expect(watch.ticked(canPing: true, at: .seconds(30)) == .doNothing)
        watch.took(isWaiting: true, at: .seconds(30))
        watch.received(isWithinHead: false, isAnotherHead: false, at: .seconds(59))
        #expect(watch.ticked(canPing: true, at: .seconds(59)) == .doNothing)
        #expect(self.code(watch.ticked(canPing: true, at: .seconds(60))) == .timeout)
        watch.took(isWaiting: false, at: .seconds(61))
        #expect(watch.ticked(canPing: false, at: .seconds(1000)) == .doNothing)
    }

    @Test func laterWritesDoNotPostponeTheStallTimeout() {
        var watch = self.opened()
        for second in 1...30 {
            watch.wrote(at: .seconds(second))
            watch.received(isWithinHead: false, isAnotherHead: false, at: .seconds(second))
            #expect(watch.ticked(canPing: true, at: .seconds(second)) == .doNothing)
        }
        #expect(self.code(watch.ticked(canPing: true, at: .seconds(31))) == .timeout)
    }

    /// A connection that takes minutes to write its queue is slow, but its peer is alive.
    @Test func thePingTimeoutBeginsWhenEarlierBytesAreWritten() {
        var watch = self.opened()
        #expect(watch.ticked(canPing: true, at: .seconds(20)) == .sendPing)
        watch.wrote(at: .seconds(20))
        for second in 21...100 {
            #expect(watch.ticked(canPing: true, at: .seconds(second)) == .doNothing)
            watch.took(isWaiting: second < 100, at: .seconds(second))
        }
        #expect(watch.ticked(canPing: true, at: .seconds(107)) == .doNothing)
        #expect(self.code(watch.ticked(canPing: true, at: .seconds(108))) == .timeout)
    }

    @Test func pausedReadingIsNotThePeersSilence() {
        var watch = self.opened()
        watch.received(isWithinHead: true, isAnotherHead: false, at: .seconds(1))
        watch.reading(isPaused: true, at: .seconds(2))
        #expect(watch.ticked(canPing: true, at: .seconds(1000)) == .doNothing)
        watch.reading(isPaused: false, at: .seconds(1000))
        #expect(watch.ticked(canPing: true, at: .seconds(1004)) == .doNothing)
        #expect(self.code(watch.ticked(canPing: true, at: .seconds(1005))) == .timeout)
    }

    @Test func ticksAreAsOftenAsTheShortestDeadlineNeeds() {
        #expect(Self.settings.tick == .milliseconds(1250))
        var short = Self.settings
        short.pingTimeout = .milliseconds(1)
        #expect(short.tick == .milliseconds(5))
        var long = Self.settings
        long.handshakeTimeout = .seconds(1000)
        long.headTimeout = .seconds(1000)
        long.pingTimeout = .seconds(1000)
        #expect(long.tick == .seconds(5))
    }
}
