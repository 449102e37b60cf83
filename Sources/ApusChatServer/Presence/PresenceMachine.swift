import ApusChatProtocol

/// Decides when to announce that a user is online or offline. Times are passed in, in milliseconds.
///
/// The first connection announces the user as online. The user is offline when no connection has
/// existed for the grace period (docs/chat-rules.md, 6). A short reconnect, for example after a
/// change of network, is not announced.
struct PresenceMachine: Sendable {
    private enum State {
        /// At least one connection. Leaves to `leaving` when the last one closes.
        case online(connections: Int)
        /// No connection. Leaves to `online` (a connection), or is removed (the tick after the
        /// grace period).
        case leaving(at: Int64)
    }

    private let grace: Int64
    private var states: [UserID: State] = [:]

    init(grace: Int64) { self.grace = grace }

    /// Whether a user counts as online, which includes the grace period.
    func isOnline(_ user: UserID) -> Bool { self.states[user] != nil }

    /// Returns the number of connections of a user.
    func connections(of user: UserID) -> Int {
        if case .online(let connections) = self.states[user] { connections } else { 0 }
    }

    /// A device of the user connected. Returns the presence to announce, if any.
    mutating func connected(_ user: UserID, at now: Int64) -> ChatPresence? {
        switch self.states[user] {
        case nil:
            self.states[user] = .online(connections: 1)
            return ChatPresence(user: user, online: true, at: now)
        case .online(let connections):
            self.states[user] = .online(connections: connections + 1)
            return nil
        case .leaving:
            self.states[user] = .online(connections: 1)
            return nil
        }
    }

    /// A device of the user disconnected.
    mutating func disconnected(_ user: UserID, at now: Int64) {
        switch self.states[user] {
        case .online(let connections):
            self.states[user] = connections > 1 ? .online(connections: connections - 1) : .leaving(at: now)
        case .leaving, nil:
            break  // a duplicate call
        }
    }

    /// Returns the presences of users whose grace period has elapsed.
    mutating func tick(at now: Int64) -> [ChatPresence] {
        var gone: [ChatPresence] = []
        for (user, state) in self.states {
            guard case .leaving(let at) = state, now - at >= self.grace else { continue }
            gone.append(ChatPresence(user: user, online: false, at: at))
        }
        for presence in gone { self.states[presence.user] = nil }
        return gone.sorted { $0.user < $1.user }
    }
}
