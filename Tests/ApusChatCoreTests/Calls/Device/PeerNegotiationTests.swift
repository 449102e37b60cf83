import ApusChatCore
import Testing

@Suite struct PeerNegotiationTests {
    @Test func anOfferIsAnswered() {
        var negotiation = PeerNegotiation(isPolite: false)
        #expect(negotiation.needed() == .offer)
        #expect(negotiation.receivedCandidate() == .addCandidate)
        #expect(negotiation.receivedAnswer() == .applyAnswer)
        #expect(negotiation.settled() == .doNothing)
        #expect(negotiation.receivedAnswer() == .doNothing, "a repeated answer")
        #expect(negotiation.receivedOffer() == .answer(rollsBack: false))
    }

    @Test func theOfferOfTheImpoliteSideCountsWhenTwoCross() {
        var polite = PeerNegotiation(isPolite: true)
        var impolite = PeerNegotiation(isPolite: false)
        #expect(polite.needed() == .offer && impolite.needed() == .offer)
        #expect(impolite.receivedOffer() == .doNothing)
        #expect(impolite.receivedCandidate() == .tryCandidate, "it belongs to the ignored offer")
        #expect(polite.receivedOffer() == .answer(rollsBack: true))
        #expect(polite.receivedCandidate() == .addCandidate)
        #expect(polite.settled() == .doNothing)
        #expect(impolite.receivedAnswer() == .applyAnswer)
        #expect(impolite.receivedCandidate() == .addCandidate)
        #expect(polite.receivedAnswer() == .doNothing, "an answer to the offer that was rolled back")
    }

    @Test func aNegotiationThatIsNeededMeanwhileFollows() {
        var negotiation = PeerNegotiation(isPolite: false)
        #expect(negotiation.needed() == .offer)
        #expect(negotiation.needed() == .doNothing)
        #expect(negotiation.needed() == .doNothing)
        #expect(negotiation.receivedAnswer() == .applyAnswer)
        #expect(negotiation.settled() == .offer)
        #expect(negotiation.receivedAnswer() == .applyAnswer)
        #expect(negotiation.settled() == .doNothing)
    }

    @Test func anOfferThatFailsCanBeRepeated() {
        var negotiation = PeerNegotiation(isPolite: true)
        #expect(negotiation.needed() == .offer)
        negotiation.offerFailed()
        #expect(negotiation.needed() == .offer)
    }

    @Test func aReconnectionRepeatsAnUnansweredOffer() {
        var negotiation = PeerNegotiation(isPolite: false)
        #expect(negotiation.resumed(isConnected: false) == .announce)
        #expect(negotiation.networkChanged() == .doNothing)
        #expect(negotiation.needed() == .offer)
        #expect(negotiation.resumed(isConnected: false) == .repeatOffer)
        _ = negotiation.receivedAnswer()
        _ = negotiation.settled()
        #expect(negotiation.resumed(isConnected: true) == .doNothing)
        #expect(negotiation.resumed(isConnected: false) == .restartICE)
        #expect(negotiation.networkChanged() == .restartICE)
    }
}

@Suite struct PeerPatienceTests {
    @Test func aConnectionThatRecoversIsNotChanged() {
        var patience = PeerPatience()
        #expect(patience.began(at: 0) == .startTimer(.seconds(8)))
        #expect(patience.changed(to: .connecting, at: 10) == .doNothing)
        #expect(patience.changed(to: .connected, at: 20) == .cancelTimer)
        #expect(patience.timerFired(at: 8_000, isChatOnline: true) == .doNothing, "the timer raced with the connection")
        #expect(patience.changed(to: .disconnected, at: 9_000) == .startTimer(.milliseconds(2_500)))
        #expect(patience.changed(to: .connected, at: 10_000) == .cancelTimer)
    }

    @Test func aFailedConnectionIsRepairedAndAbandonedAfterHalfAMinute() {
        var patience = PeerPatience()
        _ = patience.began(at: 0)
        _ = patience.changed(to: .connected, at: 0)
        #expect(patience.changed(to: .failed, at: 1_000) == .startTimer(.zero))
        #expect(patience.timerFired(at: 1_000, isChatOnline: true) == .repair(thenTimerAfter: .seconds(8)))
        #expect(patience.changed(to: .disconnected, at: 5_000) == .startTimer(.milliseconds(2_500)))
        #expect(patience.timerFired(at: 30_999, isChatOnline: true) == .repair(thenTimerAfter: .seconds(8)))
        var offline = patience
        #expect(patience.timerFired(at: 31_000, isChatOnline: true) == .giveUp)
        #expect(offline.timerFired(at: 31_000, isChatOnline: false) == .startTimer(.seconds(8)), "the chat may return")
        #expect(offline.timerFired(at: 60_999, isChatOnline: true) == .repair(thenTimerAfter: .seconds(8)))
        #expect(offline.timerFired(at: 61_000, isChatOnline: true) == .giveUp)
    }
}
