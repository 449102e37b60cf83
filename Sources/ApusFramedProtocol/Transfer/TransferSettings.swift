/// The protocol parameters of a transfer.
package struct TransferSettings: Hashable, Sendable {
    /// The maximum number of bytes that are sent and not yet durable at the receiver. It provides
    /// back-pressure and bounds the memory.
    package var window = 8 << 20
    /// The maximum size of a chunk, in bytes. A rate limit reduces it.
    package var chunkBytes = TransferChunk.maximumBytes
    /// The maximum number of resends per transfer.
    package var maximumResends = 16
    /// The time within which the other side must answer an offer, acknowledge data, or finish.
    package var timeout: Duration = .seconds(30)
    /// The time within which the other side must answer a cancellation.
    package var cancelTimeout: Duration = .seconds(5)

    /// The number of written bytes after which the receiver syncs and acknowledges. It is the
    /// granularity of progress, and the amount that an interrupted transfer repeats.
    package var syncBytes = 1 << 20

    /// The maximum time before written bytes are synced when fewer than ``syncBytes`` arrive. It
    /// lets a slow sender receive an acknowledgement before its ``timeout``.
    package var syncInterval: Duration = .seconds(2)

    package init() {}

    /// Returns the timeout for a step that first hashes `bytes`, at a rate of at least 16 MiB per
    /// second.
    func timeout(hashing bytes: Int) -> Duration { self.timeout + .seconds(bytes >> 24) }
}

/// The outcome of a transfer.
package enum TransferOutcome: Hashable, Sendable {
    /// The file is durable under its final name.
    case completed
    case failed(TransferError)
}
