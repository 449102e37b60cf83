/// When the next chunk may go, so that no more than so many bytes go in a second. Pure: the time is passed in.
///
/// A bucket of tokens that may be overdrawn by one chunk: nothing has to be known of a chunk before it is made. What was not used for more than
/// an eighth of a second is lost, so that a pause is not followed by a burst.
package struct TransferRate: Hashable, Sendable {
    /// Slower than this, a chunk a transfer takes longer than the other side waits. Unit: bytes a second.
    package static let minimumBytesPerSecond = 1 << 10

    private let bytesPerSecond: Double
    /// Bytes that may go now; below zero, that went too soon.
    private var level: Double
    private var filledAt: Duration?

    package init(bytesPerSecond: Int) {
        self.bytesPerSecond = Double(max(bytesPerSecond, Self.minimumBytesPerSecond))
        self.level = self.bytesPerSecond / 8
    }

    /// The size of chunks: an eighth of a second's bytes, so that they go evenly and several transfers take turns.
    package var chunkBytes: Int { min(TransferChunk.maximumBytes, max(1 << 10, Int(self.bytesPerSecond / 8))) }

    /// How long to wait before the next chunk; `nil`: it may go now.
    package mutating func pause(at now: Duration) -> Duration? {
        let passed = max(.zero, now - (self.filledAt ?? now)) / .seconds(1)
        self.filledAt = max(now, self.filledAt ?? now)
        self.level = min(self.level + passed * self.bytesPerSecond, self.bytesPerSecond / 8)
        guard self.level < 0 else { return nil }
        // A nanosecond more than it takes, so that it is over then whatever was rounded.
        return .seconds(-self.level / self.bytesPerSecond) + .nanoseconds(1)
    }

    /// A chunk goes.
    package mutating func sent(_ count: Int) {
        self.level -= Double(count)
    }
}
