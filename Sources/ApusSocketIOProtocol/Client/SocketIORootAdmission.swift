/// How a client comes into `/`: a server of version 4 lets it in unasked, once a session; otherwise it asks.
package struct SocketIORootAdmission: Sendable {
    private enum State {
        /// Every entry is asked for. Final.
        case mustAsk
        /// The server's word is on its way. Leaves to `granted`, `mustAsk` (somebody waited for it, or it was a no) or `unwanted` (left).
        case expected
        /// It came and nobody wanted it yet. Leaves to `mustAsk` (used, or the server put us out).
        case granted
        /// The server's word is on its way and finds us gone: it is not the answer to what we ask next. Leaves to `mustAsk`.
        case unwanted
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
        case .mustAsk, .unwanted: return .ask
        case .expected: return .wait
        case .granted:
            self.state = .mustAsk
            return .enter
        }
    }

    package enum ReceivedAction: Equatable {
        /// Hand it to the namespace.
        case pass
        /// It belongs to a stay that is over.
        case ignore
    }

    /// A packet for `/` came. `isAwaited`: somebody waits for the answer to CONNECT.
    package mutating func received(_ content: UndecodedPacket.Content, isAwaited: Bool) -> ReceivedAction {
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

    /// We left `/`, and told the server.
    package mutating func left() {
        switch self.state {
        case .expected: self.state = .unwanted
        case .granted: self.state = .mustAsk
        case .mustAsk, .unwanted: break
        }
    }
}
