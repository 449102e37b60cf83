/// What both sides of a transfer go by.
package struct TransferSettings: Hashable, Sendable {
    /// The most bytes that are sent and not known to be on the other side's disk. This is the back-pressure, and the memory.
    package var window = 8 << 20
    /// The most bytes of one chunk; smaller where a rate is kept to.
    package var chunkBytes = TransferChunk.maximumBytes
    /// How often a transfer may be asked to send something again.
    package var maximumResends = 16
    /// The time the other side may take to get on: to answer an offer, to acknowledge something, to finish.
    package var timeout: Duration = .seconds(30)
    /// The time it may take to answer a cancellation.
    package var cancelTimeout: Duration = .seconds(5)

    /// So many written bytes are synced, and acknowledged: the granularity of progress, and of what a broken transfer repeats.
    package var syncBytes = 1 << 20

    /// How long the receiver leaves written bytes unsynced when too few come to fill ``syncBytes``: a slow sender is to hear of
    /// progress before its ``timeout``.
    package var syncInterval: Duration = .seconds(2)

    package init() {}

    /// The time the other side may take when it has to hash so many bytes first, at 16 MiB a second at least.
    func timeout(hashing bytes: Int) -> Duration { self.timeout + .seconds(bytes >> 24) }
}

/// How a transfer ended.
package enum TransferOutcome: Hashable, Sendable {
    /// The file stands under its name, on the disk.
    case completed
    case failed(TransferError)
}
