/// A reusable buffer for text messages, shared by the sessions of one event loop. Confined to it.
final class TextBufferPool {
    /// The maximum capacity kept between messages. Each event loop keeps one buffer.
    private static let maximumSpareBytes = 256 << 10

    @exclusivity(unchecked) private var spare: [UInt8] = []

    /// Returns an empty array, usually with capacity. A nested call returns a new one.
    func take() -> [UInt8] {
        var bytes: [UInt8] = []
        swap(&bytes, &self.spare)
        return bytes
    }

    /// Empties `bytes` and keeps its storage for the next call.
    func giveBack(_ bytes: inout [UInt8]) {
        guard bytes.capacity <= Self.maximumSpareBytes else { return }
        bytes.removeAll(keepingCapacity: true)
        swap(&bytes, &self.spare)
    }
}

@available(*, unavailable)
extension TextBufferPool: Sendable {}
