package import NIOCore

/// A queue of packets for a transport, bounded in bytes.
///
/// A packet is removed as a whole. A group (a text and its attachments) is added as a whole or not
/// at all.
package struct EngineIOClientOutbox: Sendable {
    /// A queued packet.
    package struct Item: Sendable, Equatable {
        package var packet: EngineIOPacket
        /// Whether a WebSocket may compress the packet.
        package var compresses: Bool

        package init(packet: EngineIOPacket, compresses: Bool = true) {
            self.packet = packet
            self.compresses = compresses
        }
    }

    private var packets: [Item] = []
    /// The index of the first queued packet. ``popFirst()`` advances it; storage is released in
    /// batches.
    private var head = 0
    private let maximumBytes: Int
    private let codec: EngineIOPacketCodec

    /// The size of all queued packets in their text form, in bytes.
    package private(set) var bytes = 0

    /// - Parameters:
    ///   - maximumBytes: The maximum size of the queue. An empty queue accepts one group of any
    ///     size.
    ///   - codec: The codec that computes the length of a packet.
    package init(maximumBytes: Int, codec: EngineIOPacketCodec) {
        self.maximumBytes = maximumBytes
        self.codec = codec
    }

    /// Whether the queue is empty.
    package var isEmpty: Bool { self.head == self.packets.count }

    /// The number of queued packets.
    package var count: Int { self.packets.count - self.head }

    /// Adds a group of packets. Returns `false` if the group does not fit.
    package mutating func append(_ group: [EngineIOPacket], compresses: Bool = true) -> Bool {
        let size = group.reduce(0) { $0 + self.codec.encodedLengthEstimate(of: $1) }
        guard self.isEmpty || size <= self.maximumBytes - self.bytes else { return false }
        for packet in group { self.packets.append(Item(packet: packet, compresses: compresses)) }
        self.bytes += size
        return true
    }

    /// Adds a protocol packet, regardless of the bound.
    package mutating func appendControl(_ packet: EngineIOPacket) {
        self.packets.append(Item(packet: packet))
        self.bytes += self.codec.encodedLengthEstimate(of: packet)
    }

    /// Adds the answer to a ping, or replaces a queued one. Only the newest answer matters. Pings
    /// therefore cannot fill the queue.
    package mutating func replacePong(_ payload: ByteBuffer) {
        let waiting = self.packets[self.head...].firstIndex { if case .pong = $0.packet { true } else { false } }
        guard let waiting else { return self.appendControl(.pong(payload)) }
        self.bytes -= self.codec.encodedLengthEstimate(of: self.packets[waiting].packet)
        self.packets[waiting].packet = .pong(payload)
        self.bytes += self.codec.encodedLengthEstimate(of: .pong(payload))
    }

    /// Removes and returns the first packet.
    package mutating func popFirst() -> Item? {
        guard self.head < self.packets.count else { return nil }
        let item = self.packets[self.head]
        // Release the buffer now; the slot is removed later.
        self.packets[self.head].packet = .noop
        self.head += 1
        self.bytes -= self.codec.encodedLengthEstimate(of: item.packet)
        if self.head > 32, self.head * 2 > self.packets.count {
            self.packets.removeFirst(self.head)
            self.head = 0
        }
        return item
    }

    /// Removes and returns as many packets as fit in one polling body.
    ///
    /// - Parameters:
    ///   - maximumBytes: The maximum size of a body for the server (`maxPayload`). A larger packet
    ///     is sent alone, and the server refuses it.
    ///   - maximumPackets: The maximum number of packets. python-engineio refuses a body of more
    ///     than 16.
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
