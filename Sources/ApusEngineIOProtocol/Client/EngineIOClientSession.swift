package import NIOCore

/// The client's side of one Engine.IO session: handshake, upgrade, choice of the transport, and
/// close.
///
/// Source: Engine.IO protocol v4 and v3, "Handshake", "Upgrade", "Heartbeat". The upgrade follows
/// engine.io-client 6: after `3probe`, the client starts no poll and sends no packet. When no
/// request is pending, the client sends `5`, and the WebSocket carries the session.
package struct EngineIOClientSession: Sendable {
    private enum Upgrade: Equatable {
        /// No transport is being probed. Final.
        case none
        /// The transport was opened, and `2probe` is sent once it is connected. Transitions to
        /// `pausing` (`3probe`) or `none` (failure).
        case probing(EngineIOTransport)
        /// `3probe` was received; the pending polling requests must end first. Transitions to the
        /// probed transport (no pending request) or `none` (failure).
        case pausing(EngineIOTransport)
    }

    private enum State: Equatable {
        /// The open packet has not arrived. Transitions to `open` or `closed`.
        case opening(EngineIOTransport)
        /// Transitions to `closed`.
        case open(EngineIOTransport, Upgrade)
        /// Final.
        case closed
    }

    private var state: State
    private let upgrades: [EngineIOTransport]

    /// - Parameters:
    ///   - transport: The transport of the handshake.
    ///   - upgrades: The transports to which the session upgrades when the server offers it. A
    ///     transport to which a session cannot upgrade from `transport` has no effect.
    package init(startingOn transport: EngineIOTransport, upgrades: Set<EngineIOTransport>) {
        self.state = .opening(transport)
        self.upgrades = transport.upgrades.filter(upgrades.contains)
    }

    /// The transport for the application's packets; `nil` while packets must stay queued.
    package var outboundTransport: EngineIOTransport? {
        switch self.state {
        case .open(_, .pausing), .opening, .closed: nil
        case .open(let transport, .none), .open(let transport, .probing): transport
        }
    }

    /// Whether a new poll starts when the current one ends.
    package var mayPoll: Bool {
        switch self.outboundTransport {
        case .polling: true
        case .webSocket, nil: false
        }
    }

    /// Whether a WebSocket carries the session. Text messages on the WebSocket bypass this state
    /// machine.
    package var isOnWebSocket: Bool {
        switch self.state {
        case .open(.webSocket, _): true
        case .opening, .open(.polling, _), .closed: false
        }
    }

    /// Whether the handshake is complete and the session is not closed.
    package var isOpen: Bool {
        if case .open = self.state { return true }
        return false
    }

    /// Whether the session is closed.
    package var isClosed: Bool { self.state == .closed }

    package enum ReceivedAction: Equatable {
        /// The session is open. Start the heartbeat, and open the transport to `probe`, if there
        /// is one.
        case opened(EngineIOHandshake, probe: EngineIOTransport?)
        /// A message for the application.
        case deliver(EngineIOMessage)
        /// The server's heartbeat. Answer with a pong of the same payload.
        case receivedPing(ByteBuffer)
        /// The answer to this side's ping.
        case receivedPong
        /// Start no new polling request, and call ``EngineIOClientSession/pollingIsSilent()`` when
        /// none is pending.
        case pausePolling
        /// The server closed the session or violated the protocol. Close all transports.
        case close(EngineIOError)
        /// Close this transport, which was being probed. The session continues without it.
        case abandonProbe(EngineIOTransport)
        case doNothing
    }

    /// Handles a received packet.
    package mutating func receivedPacket(_ packet: EngineIOPacket, over transport: EngineIOTransport) -> ReceivedAction {
        switch self.state {
        case .opening(let expected):
            guard transport == expected else { return .doNothing }
            return self.receivedFirst(packet, over: transport)
        case .open(let current, .probing(let probed)) where transport == probed:
            guard packet == .probePong else {
                self.state = .open(current, .none)
                return .abandonProbe(probed)
            }
            self.state = .open(current, .pausing(probed))
            return .pausePolling
        case .open:
            return self.receivedWhileOpen(packet)
        case .closed:
            return .doNothing  // sent before the server received this side's close
        }
    }

    private mutating func receivedFirst(_ packet: EngineIOPacket, over transport: EngineIOTransport) -> ReceivedAction {
        guard case .open(let handshake) = packet else {
            self.state = .closed
            return .close(EngineIOError(.malformedPacket, message: "the first packet of the server must be an open packet"))
        }
        let probe = self.upgrades.first { handshake.upgrades.contains($0.rawValue) }
        self.state = .open(transport, probe.map { .probing($0) } ?? .none)
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
            return .close(EngineIOError(.malformedPacket, message: "the server sent a second open packet"))
        }
    }

    package enum SilenceAction: Equatable {
        /// Send `5` on this transport, which carries the session now.
        case sendUpgrade(EngineIOTransport)
        case doNothing
    }

    /// Reports that no polling request is pending. Has an effect only during an upgrade.
    package mutating func pollingIsSilent() -> SilenceAction {
        guard case .open(_, .pausing(let probed)) = self.state else { return .doNothing }
        self.state = .open(probed, .none)
        return .sendUpgrade(probed)
    }

    package enum FailureAction: Equatable {
        case close(EngineIOError)
        /// Close this transport, which was being probed, and resume on the transport that carries
        /// the session.
        case abandonProbe(EngineIOTransport, EngineIOError)
        case doNothing
    }

    /// Handles the failure of a transport, a malformed packet on it, or its close by the server.
    package mutating func failed(_ transport: EngineIOTransport, _ error: EngineIOError) -> FailureAction {
        switch self.state {
        case .open(let current, .probing(let probed)) where transport == probed,
            .open(let current, .pausing(let probed)) where transport == probed:
            self.state = .open(current, .none)
            return .abandonProbe(probed, error)
        case .opening(let current), .open(let current, _):
            guard current == transport else { return .doNothing }  // polling ends after the upgrade
            self.state = .closed
            return .close(error)
        case .closed:
            return .doNothing
        }
    }

    package enum DeadlineAction: Equatable {
        /// Close this transport, which was being probed, and resume on the transport that carries
        /// the session.
        case abandonProbe(EngineIOTransport)
        case doNothing
    }

    /// Handles the expiry of the upgrade's time limit, which begins with the probe.
    package mutating func upgradeDeadlinePassed() -> DeadlineAction {
        switch self.state {
        case .open(let current, .probing(let probed)), .open(let current, .pausing(let probed)):
            self.state = .open(current, .none)
            return .abandonProbe(probed)
        case .opening, .open(_, .none), .closed:
            return .doNothing  // the upgrade has ended
        }
    }

    package enum CloseAction: Equatable { case sendClose(EngineIOTransport), abort, doNothing }

    /// Closes the session.
    package mutating func close() -> CloseAction {
        switch self.state {
        case .open(let transport, _):
            self.state = .closed
            return .sendClose(transport)
        case .opening:
            self.state = .closed
            return .abort
        case .closed:
            return .doNothing
        }
    }
}
