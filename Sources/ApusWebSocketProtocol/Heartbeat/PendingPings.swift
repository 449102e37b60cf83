package import NIOCore

/// The unanswered Pings of a connection, with their waiters and send times.
///
/// The payload of each Ping is a number. RFC 6455 section 5.5.3 allows a peer to answer only the
/// latest of several Pings, so a Pong completes its Ping and all earlier Pings.
package struct PendingPings<Waiter> {
    /// An unanswered Ping.
    package struct Ping {
        package let id: UInt64
        package let sentAt: Duration
        package let waiter: Waiter
    }

    private var outstanding: [Ping] = []
    private var nextID: UInt64
    private let maximumOutstanding: Int

    /// Creates an empty list.
    ///
    /// - Parameters:
    ///   - firstID: The number of the first Ping. Two instances for one connection must use
    ///     separate ranges.
    ///   - maximumOutstanding: The maximum number of unanswered Pings.
    package init(firstID: UInt64 = 1, maximumOutstanding: Int = 64) {
        self.nextID = firstID
        self.maximumOutstanding = maximumOutstanding
    }

    /// The number of unanswered Pings.
    package var count: Int { self.outstanding.count }

    /// Registers a Ping sent at `now`. Returns `nil` if the maximum number of Pings is unanswered.
    package mutating func begin(_ waiter: Waiter, at now: Duration) -> (id: UInt64, payload: ByteBuffer)? {
        guard self.outstanding.count < self.maximumOutstanding else { return nil }
        return self.beginDroppingOldest(waiter, at: now)
    }

    /// Registers a Ping sent at `now`. Drops the oldest Ping if the maximum number is unanswered.
    package mutating func beginDroppingOldest(_ waiter: Waiter, at now: Duration) -> (id: UInt64, payload: ByteBuffer) {
        if self.outstanding.count >= self.maximumOutstanding { self.outstanding.removeFirst() }
        let id = self.nextID
        self.nextID &+= 1
        self.outstanding.append(Ping(id: id, sentAt: now, waiter: waiter))
        return (id, ByteBuffer(integer: id))
    }

    /// Removes and returns the Pings that a Pong completes. The last one is the Ping whose number
    /// the Pong contains. Returns an empty array for an unsolicited Pong (RFC 6455 section 5.5.3).
    package mutating func receivedPong(_ payload: ByteBuffer) -> [Ping] {
        guard payload.readableBytes == 8, let id = payload.getInteger(at: payload.readerIndex, as: UInt64.self),
            let index = self.outstanding.firstIndex(where: { $0.id == id })
        else { return [] }
        let settled = Array(self.outstanding[...index])
        self.outstanding.removeSubrange(...index)
        return settled
    }

    /// Removes a Ping and returns its waiter. Returns `nil` if the Ping was already completed.
    package mutating func abandon(_ id: UInt64) -> Waiter? {
        guard let index = self.outstanding.firstIndex(where: { $0.id == id }) else { return nil }
        return self.outstanding.remove(at: index).waiter
    }

    /// Removes all Pings at the end of the connection and returns their waiters.
    package mutating func takeAll() -> [Waiter] {
        defer { self.outstanding = [] }
        return self.outstanding.map(\.waiter)
    }
}

extension PendingPings.Ping: Sendable where Waiter: Sendable {}
extension PendingPings: Sendable where Waiter: Sendable {}
