package import ApusChatStorage

// The handling of connections that do not read, and the routing of the digest of positions.
extension PushRouter {
    package enum StallAction: Sendable, Equatable {
        /// Call `stallTimerFired` after this time.
        case schedule(after: Duration)
        /// Close the connection with the reason `slow`.
        case close
        case doNothing
    }

    /// The time after which a connection that does not read is closed, in milliseconds.
    package static let stallLimit: Int64 = 30_000

    /// Handles an outgoing queue of a connection that exceeds its bound.
    ///
    /// Until `drained`, the connection receives nudges instead of events. The shell keeps them in
    /// its `CoalescedHeads` and writes nothing, so that the memory of the connection is bounded by
    /// the number of its conversations.
    ///
    /// - Parameter time: Milliseconds of a monotonic clock.
    package mutating func stalled(_ socket: SocketKey, at time: Int64) -> StallAction {
        guard self.isConnected(socket), self.stalledAt(socket) == nil else { return .doNothing }
        self.setStalled(socket, at: time)
        return .schedule(after: .milliseconds(Self.stallLimit))
    }

    /// Handles a connection whose outgoing queue is empty again.
    package mutating func drained(_ socket: SocketKey) { self.setStalled(socket, at: nil) }

    /// Returns whether the connection currently receives heads and nudges only.
    package func isStalled(_ socket: SocketKey) -> Bool { self.stalledAt(socket) != nil }

    /// Handles the end of the delay of `schedule`. Late and repeated calls are permitted.
    package func stallTimerFired(_ socket: SocketKey, at time: Int64) -> StallAction {
        guard let since = self.stalledAt(socket) else { return .doNothing }
        let left = Self.stallLimit - time.elapsed(since: since)
        return left > 0 ? .schedule(after: .milliseconds(left)) : .close
    }

    /// Routes the newest positions of a `HeadDigest` to all connections of the members.
    package func digest(_ conversations: [ConversationKey]) -> [Delivery] {
        conversations.compactMap { key in
            let sockets = self.sockets(ofMembersOf: key)
            return sockets.isEmpty ? nil : .nudge(key, to: sockets)
        }
    }
}
