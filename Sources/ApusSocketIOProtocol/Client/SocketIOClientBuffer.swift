package import ApusEngineIOProtocol

/// Events emitted while there is no connection, bounded in number and bytes.
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

    private var items: [Item] = []
    private let maximumCount: Int
    private let maximumBytes: Int
    package private(set) var bytes = 0

    package init(maximumCount: Int, maximumBytes: Int) {
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
    }

    package var count: Int { self.items.count }

    /// Takes an event in; false when it does not fit.
    package mutating func append(_ item: Item) -> Bool {
        let bytes = item.bytes
        guard self.items.count < self.maximumCount, bytes <= self.maximumBytes - self.bytes else { return false }
        self.items.append(item)
        self.bytes += bytes
        return true
    }

    /// Takes an event out whose ack nobody waits for any more: it must not be sent after its caller was told that it failed.
    package mutating func remove(ackID: Int) {
        guard let index = self.items.firstIndex(where: { $0.ackID == ackID }) else { return }
        self.bytes -= self.items[index].bytes
        self.items.remove(at: index)
    }

    /// Takes all out, in order.
    package mutating func takeAll() -> [Item] {
        self.bytes = 0
        defer { self.items = [] }
        return self.items
    }
}
