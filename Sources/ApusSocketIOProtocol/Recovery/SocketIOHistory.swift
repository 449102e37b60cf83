import DequeModule

/// The most recent packets of one namespace with their targets, bounded in time, number and bytes.
///
/// Packets are numbered without gaps. A reconnecting client missed exactly the packets after its
/// offset, and an offset that precedes the history is detected.
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
    /// The number of the last packet that was appended.
    private var lastNumber: UInt64 = 0

    /// Creates an empty history.
    ///
    /// - Parameters:
    ///   - epoch: The unguessable, unique name of this history.
    ///   - lifetime: The time for which a packet is kept.
    ///   - maximumCount: The maximum number of packets kept.
    ///   - maximumBytes: The maximum number of bytes kept.
    package init(epoch: String, lifetime: Duration, maximumCount: Int, maximumBytes: Int) {
        self.epoch = epoch
        self.lifetime = lifetime
        self.maximumCount = max(0, maximumCount)
        self.maximumBytes = max(0, maximumBytes)
    }

    package var count: Int { self.entries.count }

    /// The offset after the last packet.
    package var end: SocketIOOffset { SocketIOOffset(epoch: self.epoch, number: self.lastNumber) }

    /// The offset after the packet that is appended next. That packet contains this offset.
    package var next: SocketIOOffset { SocketIOOffset(epoch: self.epoch, number: self.lastNumber &+ 1) }

    /// Appends the packet that contains ``next``.
    ///
    /// - Parameter now: The time since a fixed moment, as in every method of this type.
    package mutating func append(_ packet: Packet, for targets: SocketIOTargets, bytes: Int, at now: Duration) {
        self.expire(at: now)
        self.lastNumber &+= 1
        self.entries.append(Entry(packet: packet, targets: targets, bytes: bytes, expiry: now + self.lifetime))
        self.bytes += bytes
        while self.entries.count > self.maximumCount || self.bytes > self.maximumBytes { self.removeFirst() }
    }

    /// Returns whether the history contains every packet after `offset`.
    package func reaches(backTo offset: SocketIOOffset) -> Bool {
        guard offset.epoch == self.epoch, offset.number <= self.lastNumber else { return false }
        return self.lastNumber - offset.number <= UInt64(self.entries.count)
    }

    /// Returns the packets after `offset` for a socket in these rooms, in order; `nil` if some of
    /// them have expired.
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
