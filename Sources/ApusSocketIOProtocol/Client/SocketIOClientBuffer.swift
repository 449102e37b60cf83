package import ApusEngineIOProtocol

/// The events emitted while disconnected, bounded in number and bytes.
package struct SocketIOClientBuffer: Sendable {
    /// An encoded event.
    package struct Item: Sendable, Equatable {
        package var packet: [EngineIOMessage]
        package var ackID: Int?

        package init(packet: [EngineIOMessage], ackID: Int?) {
            self.packet = packet
            self.ackID = ackID
        }

        var bytes: Int { self.packet.reduce(0) { $0 + $1.readableBytes } }
    }

    /// The policy for an event that exceeds the limits.
    package enum Overflow: Sendable { case refuse, dropOldest }

    private var items: [Item] = []
    private let maximumCount: Int
    private let maximumBytes: Int
    private let overflow: Overflow
    package private(set) var bytes = 0

    package init(maximumCount: Int, maximumBytes: Int, overflow: Overflow = .refuse) {
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
        self.overflow = overflow
    }

    package var count: Int { self.items.count }

    package enum AppendAction: Equatable {
        /// The event is buffered. The returned events were dropped to make space for it.
        case kept(dropped: [Item])
        case refused
    }

    /// Appends an event, if the limits permit.
    package mutating func append(_ item: Item) -> AppendAction {
        let bytes = item.bytes
        // An event larger than the whole buffer must not evict other events.
        guard bytes <= self.maximumBytes, self.maximumCount > 0 else { return .refused }
        var dropped: [Item] = []
        while self.items.count - dropped.count >= self.maximumCount || bytes > self.maximumBytes - self.bytes {
            guard self.overflow == .dropOldest else { return .refused }
            dropped.append(self.items[dropped.count])
            self.bytes -= self.items[dropped.count - 1].bytes
        }
        self.items.removeFirst(dropped.count)
        self.items.append(item)
        self.bytes += bytes
        return .kept(dropped: dropped)
    }

    /// Removes the event of an ack that is no longer pending. The caller received an error, so the
    /// event must not be sent.
    package mutating func remove(ackID: Int) {
        guard let index = self.items.firstIndex(where: { $0.ackID == ackID }) else { return }
        self.bytes -= self.items[index].bytes
        self.items.remove(at: index)
    }

    /// Removes and returns all events, in order.
    package mutating func takeAll() -> [Item] {
        self.bytes = 0
        defer { self.items = [] }
        return self.items
    }
}
