/// A place to write messages in, which the sessions of one event loop share. Confined to it.
final class TextBufferPool {
    /// More than this is not kept between messages. One is kept for a whole event loop.
    private static let maximumSpareBytes = 256 << 10

    @exclusivity(unchecked) private var spare: [UInt8] = []

    /// An empty array, mostly with room. A caller within a caller gets one of its own.
    func take() -> [UInt8] {
        var bytes: [UInt8] = []
        swap(&bytes, &self.spare)
        return bytes
    }

    /// Empties `bytes` and keeps its room.
    func giveBack(_ bytes: inout [UInt8]) {
        guard bytes.capacity <= Self.maximumSpareBytes else { return }
        bytes.removeAll(keepingCapacity: true)
        swap(&bytes, &self.spare)
    }
}

@available(*, unavailable)
extension TextBufferPool: Sendable {}
