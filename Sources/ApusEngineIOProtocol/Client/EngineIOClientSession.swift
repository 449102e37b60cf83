package import NIOCore

/// The client's side of one Engine.IO session: the handshake, the upgrade, who carries what, and the end.
///
/// Source: Engine.IO protocol v4 and v3, "Handshake", "Upgrade", "Heartbeat"; the order of the upgrade as the reference client does it:
/// after `3probe` no new poll is begun and no packet sent; when polling is silent `5` goes out, and the WebSocket carries the session.
package struct EngineIOClientSession: Sendable {
    /// A transport of the session.
    package enum Carrier: Hashable, Sendable { case polling, webSocket }

    private enum Upgrade: Equatable {
        /// No WebSocket beside the polling. Final, or leaves to `probing`.
        case none
        /// The WebSocket was opened; `2probe` goes out with its opening. Leaves to `pausing` (`3probe`) or `none` (failure).
        case probing
        /// `3probe` came; the requests on their way are waited for. Leaves to WebSocket (silence) or `none` (failure).
        case pausing
    }

    private enum State: Equatable {
        /// Waits for the open packet. Leaves to `open` or `closed`.
        case opening(Carrier)
        /// Leaves to `closed`.
        case open(Carrier, Upgrade)
        /// Final.
        case closed
    }

    private var state: State
    private let upgrades: Bool

    /// - Parameters:
    ///   - carrier: What the session begins on.
    ///   - upgrades: Whether a session that begins on polling may change to WebSocket when the server offers it.
    package init(startingOn carrier: Carrier, upgrades: Bool) {
        self.state = .opening(carrier)
        self.upgrades = upgrades && carrier == .polling
    }

    /// What carries packets of the application at the moment; nil: keep them.
    package var outboundCarrier: Carrier? {
        switch self.state {
        case .open(_, .pausing), .opening, .closed: nil
        case .open(let carrier, .none), .open(let carrier, .probing): carrier
        }
    }

    /// Whether another poll is to be begun when one ends.
    package var mayPoll: Bool { self.outboundCarrier == .polling }

    /// Whether a WebSocket is being tried beside the polling that carries the session.
    package var isProbing: Bool {
        switch self.state {
        case .open(.polling, .probing), .open(.polling, .pausing): true
        case .opening, .open, .closed: false
        }
    }

    /// Whether a WebSocket carries the session: its messages go straight to the layer above.
    package var isOnWebSocket: Bool {
        switch self.state {
        case .open(.webSocket, _): true
        case .opening, .open(.polling, _), .closed: false
        }
    }

    /// Whether the session is past its handshake and not over.
    package var isOpen: Bool {
        if case .open = self.state { return true }
        return false
    }

    /// Whether the session is over.
    package var isClosed: Bool { self.state == .closed }

    package enum ReceivedAction: Equatable {
        /// The session stands. Begin the heartbeat, and open a WebSocket to `probe` it if so told.
        case opened(EngineIOHandshake, probe: Bool)
        /// A message for the application.
        case deliver(EngineIOMessage)
        /// The server's heartbeat: answer with a pong of the same payload.
        case receivedPing(ByteBuffer)
        /// The answer to our ping.
        case receivedPong
        /// Begin no further request, and report the silence to ``EngineIOClientSession/pollingIsSilent()``.
        case pausePolling
        /// The peer ended the session, or broke the protocol. Close all transports.
        case close(EngineIOError)
        /// Close the WebSocket that was probed; the polling goes on.
        case abandonProbe
        case doNothing
    }

    /// A packet came in.
    package mutating func received(_ packet: EngineIOPacket, over carrier: Carrier) -> ReceivedAction {
        switch self.state {
        case .opening(let expected):
            guard carrier == expected else { return .doNothing }
            return self.receivedFirst(packet, over: carrier)
        case .open(.polling, .probing) where carrier == .webSocket:
            guard packet == .probePong else {
                self.state = .open(.polling, .none)
                return .abandonProbe
            }
            self.state = .open(.polling, .pausing)
            return .pausePolling
        case .open:
            return self.receivedWhileOpen(packet)
        case .closed:
            return .doNothing  // was on its way when we closed
        }
    }

    private mutating func receivedFirst(_ packet: EngineIOPacket, over carrier: Carrier) -> ReceivedAction {
        guard case .open(let handshake) = packet else {
            self.state = .closed
            return .close(EngineIOError(.malformedPacket, message: "the server's first packet is not an open packet"))
        }
        let probe = self.upgrades && handshake.upgrades.contains("websocket")
        self.state = .open(carrier, probe ? .probing : .none)
        return .opened(handshake, probe: probe)
    }

    private mutating func receivedWhileOpen(_ packet: EngineIOPacket) -> ReceivedAction {
        switch packet {
        case .message(let message):
            return .deliver(message)
        case .ping(let payload):
            return .receivedPing(payload)
        case .pong:
            return .receivedPong
        case .close:
            self.state = .closed
            return .close(EngineIOError(.closed, message: "the server closed the session"))
        case .noop, .upgrade:
            return .doNothing
        case .open:
            self.state = .closed
            return .close(EngineIOError(.malformedPacket, message: "a second open packet"))
        }
    }

    package enum SilenceAction: Equatable { case sendUpgrade, doNothing }

    /// No request is on its way. Report it whenever it is so: only a paused session cares.
    package mutating func pollingIsSilent() -> SilenceAction {
        guard case .open(.polling, .pausing) = self.state else { return .doNothing }
        self.state = .open(.webSocket, .none)
        return .sendUpgrade
    }

    package enum FailureAction: Equatable {
        case close(EngineIOError)
        /// The polling goes on, and may have to be taken up again.
        case resumePolling
        case doNothing
    }

    /// A transport failed or was closed by the other side.
    package mutating func failed(_ carrier: Carrier, _ error: EngineIOError) -> FailureAction {
        switch self.state {
        case .open(.polling, .probing) where carrier == .webSocket, .open(.polling, .pausing) where carrier == .webSocket:
            self.state = .open(.polling, .none)
            return .resumePolling
        case .opening(let current), .open(let current, _):
            guard current == carrier else { return .doNothing }  // polling that ends after the upgrade
            self.state = .closed
            return .close(error)
        case .closed:
            return .doNothing
        }
    }

    package enum CloseAction: Equatable { case sendClose(Carrier), abort, doNothing }

    /// We end the session.
    package mutating func close() -> CloseAction {
        switch self.state {
        case .open(let carrier, _):
            self.state = .closed
            return .sendClose(carrier)
        case .opening:
            self.state = .closed
            return .abort
        case .closed:
            return .doNothing
        }
    }
}
