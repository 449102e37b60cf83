package import NIOCore

/// Packets that wait for a transport, bounded in bytes.
///
/// A packet leaves only whole; a group (a text and its attachments) enters whole or not at all.
package struct EngineIOClientOutbox: Sendable {
    /// A packet that waits.
    package struct Item: Sendable, Equatable {
        package var packet: EngineIOPacket
        /// Whether a WebSocket may compress it.
        package var compresses: Bool

        package init(packet: EngineIOPacket, compresses: Bool = true) {
            self.packet = packet
            self.compresses = compresses
        }
    }

    private var packets: [Item] = []
    /// The first that has not left: taking from the front costs nothing until half of the storage is spent.
    private var head = 0
    private let maximumBytes: Int
    private let codec: EngineIOPacketCodec

    /// Bytes that wait, as text.
    package private(set) var bytes = 0

    /// - Parameters:
    ///   - maximumBytes: The bound on what may wait. One group is always taken when nothing waits.
    ///   - codec: What knows the length of a packet.
    package init(maximumBytes: Int, codec: EngineIOPacketCodec) {
        self.maximumBytes = maximumBytes
        self.codec = codec
    }

    /// Whether nothing waits.
    package var isEmpty: Bool { self.head == self.packets.count }

    /// The number of packets that wait.
    package var count: Int { self.packets.count - self.head }

    /// Adds a group of packets; false when it does not fit.
    package mutating func append(_ group: [EngineIOPacket], compresses: Bool = true) -> Bool {
        let size = group.reduce(0) { $0 + self.codec.encodedLengthEstimate(of: $1) }
        guard self.isEmpty || size <= self.maximumBytes - self.bytes else { return false }
        for packet in group { self.packets.append(Item(packet: packet, compresses: compresses)) }
        self.bytes += size
        return true
    }

    /// Adds a packet of the protocol itself, which no bound holds back.
    package mutating func appendControl(_ packet: EngineIOPacket) {
        self.packets.append(Item(packet: packet))
        self.bytes += self.codec.encodedLengthEstimate(of: packet)
    }

    /// Adds the answer to a ping in place of one that waits still: the newest answers them all, and pings cannot fill the queue.
    package mutating func replacePong(_ payload: ByteBuffer) {
        let waiting = self.packets[self.head...].firstIndex { if case .pong = $0.packet { true } else { false } }
        guard let waiting else { return self.appendControl(.pong(payload)) }
        self.bytes -= self.codec.encodedLengthEstimate(of: self.packets[waiting].packet)
        self.packets[waiting].packet = .pong(payload)
        self.bytes += self.codec.encodedLengthEstimate(of: .pong(payload))
    }

    /// Takes the first packet.
    package mutating func popFirst() -> Item? {
        guard self.head < self.packets.count else { return nil }
        let item = self.packets[self.head]
        // Drop the reference now; the slot goes later.
        self.packets[self.head].packet = .noop
        self.head += 1
        self.bytes -= self.codec.encodedLengthEstimate(of: item.packet)
        if self.head > 32, self.head * 2 > self.packets.count {
            self.packets.removeFirst(self.head)
            self.head = 0
        }
        return item
    }

    /// Takes as many as fit into one polling body.
    ///
    /// - Parameters:
    ///   - maximumBytes: What the server takes in a body (`maxPayload`). A packet above it goes alone: the server says no, not we.
    ///   - maximumPackets: Python's server refuses a body of more than 16.
    package mutating func takeBatch(maximumBytes: Int, maximumPackets: Int = 16) -> [EngineIOPacket] {
        var batch: [EngineIOPacket] = []
        var size = 0
        while batch.count < maximumPackets, self.head < self.packets.count {
            let next = self.codec.encodedLengthEstimate(of: self.packets[self.head].packet) + 1
            guard batch.isEmpty || next <= maximumBytes - size, let item = self.popFirst() else { break }
            size += next
            batch.append(item.packet)
        }
        return batch
    }
}
