/// The rules by which a client joins `/`. A server of protocol version 4 sends one CONNECT per
/// session without a request. Any other join requires a CONNECT from the client.
package struct SocketIORootAdmission: Sendable {
    private enum State {
        /// Each join requires a CONNECT from the client. Final.
        case mustAsk
        /// The server's CONNECT is outstanding. Transitions to `mustAsk` (the awaited CONNECT or a
        /// refusal arrived), `granted` or `unwanted` (left).
        case expected
        /// The CONNECT arrived before the application opened `/`. Transitions to `mustAsk` (used,
        /// left, or disconnected by the server).
        case granted
        /// The client left before the server's CONNECT arrived. That CONNECT does not answer a
        /// later CONNECT of the client. Transitions to `mustAsk`.
        case unwanted
    }

    private var state: State

    /// Creates the state of a new session.
    package init(version: SocketIOVersion) {
        self.state = version.joinsRootImplicitly ? .expected : .mustAsk
    }

    package enum RequestAction: Equatable {
        /// Send CONNECT.
        case ask
        /// Wait: the server sends CONNECT without a request.
        case wait
        /// Join: the server's CONNECT has arrived already.
        case enter
    }

    /// Returns how to join `/`.
    package mutating func requested() -> RequestAction {
        switch self.state {
        case .mustAsk, .unwanted: return .ask
        case .expected: return .wait
        case .granted:
            self.state = .mustAsk
            return .enter
        }
    }

    package enum ReceivedAction: Equatable {
        /// Pass the packet to the namespace.
        case pass
        /// The packet belongs to an earlier membership.
        case ignore
    }

    /// Handles a packet for `/`.
    ///
    /// - Parameter isAwaited: Whether the namespace awaits the answer to CONNECT.
    package mutating func receivedPacket(_ content: SocketIOPacket.Content, isAwaited: Bool) -> ReceivedAction {
        switch (self.state, content) {
        case (.expected, .connect):
            self.state = isAwaited ? .mustAsk : .granted
        case (.unwanted, .connect), (.unwanted, .connectError):
            self.state = .mustAsk
            return .ignore
        case (.expected, .connectError), (.expected, .disconnect), (.granted, .disconnect):
            self.state = .mustAsk
        case (.mustAsk, _), (.granted, _), (.expected, _), (.unwanted, _):
            break
        }
        return .pass
    }

    /// Records that the client left `/` and informed the server.
    package mutating func left() {
        switch self.state {
        case .expected: self.state = .unwanted
        case .granted: self.state = .mustAsk
        case .mustAsk, .unwanted: break
        }
    }
}
