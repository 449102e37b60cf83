/// How a client comes into `/`: a server of version 4 lets it in unasked, once a session; otherwise it asks.
package struct SocketIORootAdmission: Sendable {
    private enum State {
        /// Leaves to nothing: every entry is asked for.
        case mustAsk
        /// The server's word is on its way. Leaves to `granted`, or to `mustAsk` when somebody waited for it.
        case expected
        /// It came and nobody wanted it yet. Leaves to `mustAsk` (used).
        case granted
    }

    private var state: State

    /// A new session.
    package init(version: SocketIOVersion) {
        self.state = version.joinsRootUnasked ? .expected : .mustAsk
    }

    package enum RequestAction: Equatable {
        /// Send CONNECT.
        case ask
        /// The answer comes by itself.
        case wait
        /// The answer has come already.
        case enter
    }

    /// Somebody wants to be in `/`.
    package mutating func requested() -> RequestAction {
        switch self.state {
        case .mustAsk: return .ask
        case .expected: return .wait
        case .granted:
            self.state = .mustAsk
            return .enter
        }
    }

    /// The server let us in. `isAwaited`: somebody waits for it, and has it herewith.
    package mutating func received(isAwaited: Bool) {
        switch self.state {
        case .expected: self.state = isAwaited ? .mustAsk : .granted
        case .granted, .mustAsk: break  // doubled, or an answer to our question
        }
    }
}
