package import NIOCore

/// Which Pings are on their way, who waits for each, and how long their answers took.
///
/// Each Ping carries a number. RFC 6455 5.5.3 lets a peer answer the latest of several Pings only, so a Pong settles its Ping
/// and those before it.
package struct PendingPings<Waiter> {
    /// A Ping without an answer.
    package struct Ping {
        package let id: UInt64
        package let sentAt: Duration
        package let waiter: Waiter
    }

    private var outstanding: [Ping] = []
    private var nextID: UInt64
    private let maximumOutstanding: Int

    /// - Parameters:
    ///   - firstID: The number of the first Ping. Two ledgers of one connection count in ranges of their own.
    ///   - maximumOutstanding: Pings without an answer that are remembered; a peer that answers none must not make us remember more.
    package init(firstID: UInt64 = 1, maximumOutstanding: Int = 64) {
        self.nextID = firstID
        self.maximumOutstanding = maximumOutstanding
    }

    /// Pings that were not answered.
    package var count: Int { self.outstanding.count }

    /// A Ping goes out at `now`; `nil` when too many are on their way.
    package mutating func begin(_ waiter: Waiter, at now: Duration) -> (id: UInt64, payload: ByteBuffer)? {
        guard self.outstanding.count < self.maximumOutstanding else { return nil }
        let id = self.nextID
        self.nextID &+= 1
        self.outstanding.append(Ping(id: id, sentAt: now, waiter: waiter))
        return (id, ByteBuffer(integer: id))
    }

    /// A Pong came. Answers the Pings it settles, the one it names last; none when it answers none of ours (RFC 6455 allows
    /// unsolicited Pongs).
    package mutating func receivedPong(_ payload: ByteBuffer) -> [Ping] {
        guard payload.readableBytes == 8, let id = payload.getInteger(at: payload.readerIndex, as: UInt64.self),
            let index = self.outstanding.firstIndex(where: { $0.id == id })
        else { return [] }
        let settled = Array(self.outstanding[...index])
        self.outstanding.removeSubrange(...index)
        return settled
    }

    /// Nobody waits for this Ping any more; `nil` when it was settled.
    package mutating func abandon(_ id: UInt64) -> Waiter? {
        guard let index = self.outstanding.firstIndex(where: { $0.id == id }) else { return nil }
        return self.outstanding.remove(at: index).waiter
    }

    /// The connection is over: all who wait.
    package mutating func takeAll() -> [Waiter] {
        defer { self.outstanding = [] }
        return self.outstanding.map(\.waiter)
    }
}

extension PendingPings.Ping: Sendable where Waiter: Sendable {}
extension PendingPings: Sendable where Waiter: Sendable {}
