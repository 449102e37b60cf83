/// The negotiation with one other device of a call: perfect negotiation (W3C WebRTC 1.0, section
/// 10.7) with the states of RFC 8829 section 3.2.
///
/// The shell carries out one action completely before it passes the next event, so that no offer is
/// incomplete when an offer of the other side arrives.
package struct PeerNegotiation: Sendable, Equatable {
    package enum Action: Sendable, Equatable {
        /// Create an offer, set it as the local description, and send it.
        case offer
        /// Roll the own offer back if `rollsBack`, set the received offer as the remote
        /// description, create an answer, set it as the local description, send it, and call
        /// `settled`.
        case answer(rollsBack: Bool)
        /// Set the received answer as the remote description, and call `settled`.
        case applyAnswer
        /// Send the own offer again.
        case repeatOffer
        /// Announce the device again, because no signal of the other device has arrived.
        case announce
        case restartICE
        case addCandidate
        /// Add the candidate, and ignore a failure: it may belong to an ignored offer.
        case tryCandidate
        case doNothing
    }

    private enum State: Equatable {
        case stable
        /// The own offer is set and sent. Left by an answer, or by an offer of the other side if
        /// this side is polite.
        case haveLocalOffer
    }

    /// Whether this side withdraws its offer if both sides make an offer at the same time.
    package let isPolite: Bool
    private var state = State.stable
    private var isIgnoringOffer = false
    /// Whether another negotiation is needed after the current one.
    private var isNeeded = false
    private var hasRemoteDescription = false

    package init(isPolite: Bool) { self.isPolite = isPolite }

    /// Handles a change that needs a negotiation: another track, or an ICE restart.
    package mutating func needed() -> Action {
        switch self.state {
        case .stable:
            self.state = .haveLocalOffer
            return .offer
        case .haveLocalOffer:
            self.isNeeded = true
            return .doNothing
        }
    }

    package mutating func receivedOffer() -> Action {
        switch self.state {
        case .stable:
            self.isIgnoringOffer = false
            return .answer(rollsBack: false)
        case .haveLocalOffer:
            self.isIgnoringOffer = !self.isPolite
            guard self.isPolite else { return .doNothing }
            self.state = .stable
            return .answer(rollsBack: true)
        }
    }

    package mutating func receivedAnswer() -> Action {
        switch self.state {
        case .haveLocalOffer:
            self.isIgnoringOffer = false
            self.state = .stable
            return .applyAnswer
        case .stable: return .doNothing  // the offer was rolled back, or the answer was repeated
        }
    }

    package func receivedCandidate() -> Action { self.isIgnoringOffer ? .tryCandidate : .addCandidate }

    /// Handles the success of an `answer` or `applyAnswer` action.
    package mutating func settled() -> Action {
        self.hasRemoteDescription = true
        guard self.isNeeded, self.state == .stable else { return .doNothing }
        self.isNeeded = false
        return self.needed()
    }

    /// Handles the failure to create or set an offer.
    package mutating func offerFailed() { self.state = .stable }

    /// Handles a reconnection of the chat, and a connection that does not recover by itself.
    /// Repeats signals that may have been lost.
    package mutating func resumed(isConnected: Bool) -> Action {
        if self.state == .haveLocalOffer { return .repeatOffer }
        guard self.hasRemoteDescription else { return .announce }
        return isConnected ? .doNothing : .restartICE
    }

    /// Handles a change of the device's network.
    package func networkChanged() -> Action { self.hasRemoteDescription ? .restartICE : .doNothing }
}
