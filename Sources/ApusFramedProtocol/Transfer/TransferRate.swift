/// Limits the rate of a transfer. The caller passes the time in.
///
/// A token bucket that one chunk may overdraw, so the size of a chunk need not be known in advance.
/// Its capacity is an eighth of a second, so that a pause is not followed by a burst.
package struct TransferRate: Hashable, Sendable {
    /// The minimum rate. At a lower rate, sending a chunk would take longer than the peer's
    /// timeout. Unit: bytes per second.
    package static let minimumBytesPerSecond = 1 << 10

    private let bytesPerSecond: Double
    /// The number of bytes that may be sent now. Negative when overdrawn.
    private var level: Double
    private var filledAt: Duration?

    package init(bytesPerSecond: Int) {
        self.bytesPerSecond = Double(max(bytesPerSecond, Self.minimumBytesPerSecond))
        self.level = self.bytesPerSecond / 8
    }

    /// The size of chunks: the bytes of an eighth of a second, so that the rate is even and
    /// transfers alternate.
    package var chunkBytes: Int { min(TransferChunk.maximumBytes, max(1 << 10, Int(self.bytesPerSecond / 8))) }

    /// Returns the time to wait before the next chunk, or `nil` when it may be sent now.
    package mutating func pause(at now: Duration) -> Duration? {
        let passed = max(.zero, now - (self.filledAt ?? now)) / .seconds(1)
        self.filledAt = max(now, self.filledAt ?? now)
        self.level = min(self.level + passed * self.bytesPerSecond, self.bytesPerSecond / 8)
        guard self.level < 0 else { return nil }
        // Add a nanosecond, so that rounding does not shorten the wait.
        return .seconds(-self.level / self.bytesPerSecond) + .nanoseconds(1)
    }

    /// Records a sent chunk.
    package mutating func sent(_ count: Int) {
        self.level -= Double(count)
    }
}
