import ApusChatProtocol

/// Decides when somebody comes and goes. A struct without a clock: times are milliseconds passed in.
///
/// Source: rule 6 of the chat (debounced). The first connection says "online" at once; the last one gone says "offline" only after a grace,
/// so that a telephone that changes its network is not announced twice. A user who flaps within the grace is not announced at all.
struct PresenceMachine: Sendable {
    private enum State {
        /// So many connections. Leaves to `leaving` when the last is gone.
        case online(connections: Int, since: Int64)
        /// No connection since. Leaves to `online` (a connection) or is forgotten (the tick after the grace).
        case leaving(at: Int64, since: Int64)
    }

    private let grace: Int64
    private var states: [UserID: State] = [:]

    init(grace: Int64) { self.grace = grace }

    /// Whether a user counts as online; true during the grace.
    func isOnline(_ user: UserID) -> Bool { self.states[user] != nil }

    /// The connections of a user.
    func connections(of user: UserID) -> Int {
        if case .online(let connections, _) = self.states[user] { connections } else { 0 }
    }

    /// A device of the user is connected.
    mutating func connected(_ user: UserID, at now: Int64) -> ChatPresence? {
        switch self.states[user] {
        case nil:
            self.states[user] = .online(connections: 1, since: now)
            return ChatPresence(user: user, online: true, at: now)
        case .online(let connections, let since):
            self.states[user] = .online(connections: connections + 1, since: since)
            return nil
        case .leaving(_, let since):
            self.states[user] = .online(connections: 1, since: since)
            return nil
        }
    }

    /// A device of the user is gone.
    mutating func disconnected(_ user: UserID, at now: Int64) {
        switch self.states[user] {
        case .online(let connections, let since):
            self.states[user] = connections > 1 ? .online(connections: connections - 1, since: since) : .leaving(at: now, since: since)
        case .leaving, nil:
            break  // said twice; nothing to take away
        }
    }

    /// Time has passed: who is gone for good?
    mutating func tick(at now: Int64) -> [ChatPresence] {
        var gone: [ChatPresence] = []
        for (user, state) in self.states {
            guard case .leaving(let at, _) = state, now - at >= self.grace else { continue }
            gone.append(ChatPresence(user: user, online: false, at: at))
        }
        for presence in gone { self.states[presence.user] = nil }
        return gone.sorted { $0.user < $1.user }
    }
}
