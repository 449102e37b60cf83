package import NIOCore

/// Which Pings are on their way, and how long their answers took.
///
/// Each Ping carries a number. RFC 6455 5.5.3 lets a peer answer the latest of several Pings only, so a Pong settles its Ping
/// and those before it.
package struct WebSocketPingLedger: Sendable {
    /// Pings without an answer that are remembered; a peer that answers none must not make us remember more.
    package static let maximumOutstanding = 64

    private var outstanding: [(id: UInt64, sentAt: Duration)] = []
    private var nextID: UInt64 = 1
    /// The round trip of the last Ping that was answered.
    package private(set) var latency: Duration?

    package init() {}

    /// Pings that were not answered.
    package var count: Int { self.outstanding.count }

    /// A Ping goes out at `now`; `nil` when too many are on their way.
    package mutating func begin(at now: Duration) -> (id: UInt64, payload: ByteBuffer)? {
        guard self.outstanding.count < Self.maximumOutstanding else { return nil }
        let id = self.nextID
        self.nextID &+= 1
        self.outstanding.append((id, now))
        return (id, ByteBuffer(integer: id))
    }

    /// What a Pong settles.
    package struct Answer: Equatable, Sendable {
        /// Its Ping, and those before it, oldest first.
        package var ids: [UInt64]
        /// Of the Ping it names.
        package var roundTrip: Duration

        package init(ids: [UInt64], roundTrip: Duration) {
            self.ids = ids
            self.roundTrip = roundTrip
        }
    }

    /// A Pong came; `nil` when it answers none of ours (RFC 6455 allows unsolicited Pongs).
    package mutating func receivedPong(_ payload: ByteBuffer, at now: Duration) -> Answer? {
        guard payload.readableBytes == 8, let id = payload.getInteger(at: payload.readerIndex, as: UInt64.self),
            let index = self.outstanding.firstIndex(where: { $0.id == id })
        else { return nil }
        let roundTrip = now - self.outstanding[index].sentAt
        let ids = self.outstanding[...index].map(\.id)
        self.outstanding.removeSubrange(...index)
        self.latency = roundTrip
        return Answer(ids: ids, roundTrip: roundTrip)
    }
}
