import DequeModule

/// The last packets of one namespace and who they were for, bounded in time, number and bytes.
///
/// Packets are numbered without a gap, so a client that was away missed exactly those after its offset; when some of them have left the
/// history already, that shows.
package struct SocketIOHistory<Packet: Sendable>: Sendable {
    private struct Entry {
        var packet: Packet
        var targets: SocketIOTargets
        var bytes: Int
        var expiry: Duration
    }

    private let epoch: String
    private let lifetime: Duration
    private let maximumCount: Int
    private let maximumBytes: Int
    private var entries: Deque<Entry> = []
    private var bytes = 0
    /// The number of the last packet ever taken in.
    private var lastNumber: UInt64 = 0

    /// - Parameters:
    ///   - epoch: A name nobody can guess another history to have.
    ///   - lifetime: How long a packet is kept.
    ///   - maximumCount: Packets kept at most.
    ///   - maximumBytes: Bytes of packets kept at most.
    package init(epoch: String, lifetime: Duration, maximumCount: Int, maximumBytes: Int) {
        self.epoch = epoch
        self.lifetime = lifetime
        self.maximumCount = max(0, maximumCount)
        self.maximumBytes = max(0, maximumBytes)
    }

    package var count: Int { self.entries.count }

    /// The place behind everything there was so far.
    package var end: SocketIOOffset { SocketIOOffset(epoch: self.epoch, number: self.lastNumber) }

    /// The place behind the packet that is taken in next, which carries it.
    package var next: SocketIOOffset { SocketIOOffset(epoch: self.epoch, number: self.lastNumber &+ 1) }

    /// Takes in the packet that carries ``next``.
    ///
    /// - Parameter now: The time since any fixed moment, as everywhere here.
    package mutating func append(_ packet: Packet, for targets: SocketIOTargets, bytes: Int, at now: Duration) {
        self.expire(at: now)
        self.lastNumber &+= 1
        self.entries.append(Entry(packet: packet, targets: targets, bytes: bytes, expiry: now + self.lifetime))
        self.bytes += bytes
        while self.entries.count > self.maximumCount || self.bytes > self.maximumBytes { self.removeFirst() }
    }

    /// Whether all that came after `offset` is still here.
    package func reaches(backTo offset: SocketIOOffset) -> Bool {
        guard offset.epoch == self.epoch, offset.number <= self.lastNumber else { return false }
        return self.lastNumber - offset.number <= UInt64(self.entries.count)
    }

    /// The packets after `offset` for a socket in these rooms, in order; nil when some have left the history.
    package func missed(after offset: SocketIOOffset, memberOf rooms: SocketIORoomNames) -> [Packet]? {
        guard self.reaches(backTo: offset) else { return nil }
        let count = Int(self.lastNumber - offset.number)
        return self.entries.suffix(count).compactMap { $0.targets.include(memberOf: rooms) ? $0.packet : nil }
    }

    package mutating func expire(at now: Duration) {
        while let first = self.entries.first, first.expiry <= now { self.removeFirst() }
    }

    private mutating func removeFirst() {
        guard let first = self.entries.popFirst() else { return }
        self.bytes -= first.bytes
    }
}
