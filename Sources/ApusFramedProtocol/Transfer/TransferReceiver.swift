import ApusJSON

/// The state machine of one incoming file.
///
/// It performs no I/O: the caller reports frames and finished work, and performs the returned
/// actions. An offset is acknowledged only after the caller has reported it as written and synced.
package struct TransferReceiver: Sendable {
    private enum State: Equatable {
        /// The file follows its offer. Transitions to `taking` (intact), `deciding` (damaged), or
        /// `ended`.
        case awaitingWhole
        /// The disk stores a whole file. Transitions to `deciding` (``declined(at:)``), or `ended`.
        /// With `isCancelled`, the sender no longer waits for the result.
        case taking(isCancelled: Bool)
        /// The caller determines the existing bytes. Transitions to `receiving`, `asking`
        /// (``prepared(upTo:at:)``), or `ended`.
        case deciding
        /// The sender must present the hash of the existing bytes. Transitions to `comparing`, or
        /// `ended`.
        case asking(offset: Int)
        /// The caller compares the hash. Transitions to `receiving` (``compared(isEqual:at:)``), or
        /// `ended`.
        case comparing(offset: Int)
        /// Transitions to `finishing` after all chunks and the sender's hash, or `ended`.
        case receiving
        /// The remaining bytes are written, everything is synced and compared, and the file
        /// receives its name. Transitions to `ended`.
        case finishing
        /// A cancellation was sent and awaits its answer. Transitions to `ended`.
        case cancelling
        /// Final.
        case ended
    }

    package enum Action: Hashable, Sendable {
        case send(FrameHead)
        /// Determine the existing bytes of the upload and call ``prepared(upTo:at:)``.
        case prepare(TransferOffer)
        /// Hash the existing bytes, compare them, delete them unless they are the same, and call
        /// ``compared(isEqual:at:)``.
        case compare(PrefixProof)
        /// Sync the written bytes and call ``synced(upTo:at:)``.
        case sync(upTo: Int)
        /// After all pending writes: sync the file, compare the hash of all bytes, rename the file,
        /// sync its folder; then call ``finished(isEqual:had:)``.
        case finish(sha256: String)
        /// Store the file in one step, with the same result as ``finish(sha256:)``. All bytes were
        /// received, and none is written yet. Then call ``finished(isEqual:had:)``, or
        /// ``declined(at:)``.
        case take(sha256: String)
        /// Delete the unfinished file: it differs from the sender's file.
        case discard
        case end(TransferOutcome)
    }

    /// The treatment of a chunk.
    package enum ChunkAction: Hashable, Sendable {
        /// Write the chunk at its offset and hash it, then call ``written(upTo:)``.
        case write
        /// The chunk is the whole file: see ``Action/take(sha256:)``.
        case take(sha256: String)
        /// Ignore the chunk and perform these actions.
        case drop([Action])
    }

    package private(set) var offer: TransferOffer
    package let stream: UInt16
    private let settings: TransferSettings
    private var state = State.deciding
    /// The offset of the next expected byte.
    private var expected = 0
    private var written = 0
    private var durable = 0
    private var syncedAt: Duration = .zero
    /// The offset up to which the last sync was requested.
    private var syncing = 0
    /// The offset of the marker that the sender must send before chunks are accepted again.
    private var awaitedMarker: Int?
    private var resends = 0
    private var waitingSince: Duration = .zero

    package init(_ offer: TransferOffer, stream: UInt16, settings: TransferSettings = .init()) {
        self.offer = offer
        self.stream = stream
        self.settings = settings
    }

    package var hasEnded: Bool { self.state == .ended }

    // MARK: Local events

    package mutating func start(at now: Duration) -> [Action] {
        self.waitingSince = now
        guard let hash = self.offer.wholeHash else { return [.prepare(self.offer)] }
        guard self.offer.size == 0 else {
            self.state = .awaitingWhole
            return []
        }
        self.state = .taking(isCancelled: false)
        return [.take(sha256: hash)]
    }

    /// Handles a file that cannot be stored in one step, because a part of it exists or the file
    /// system does not support unnamed files. The file is sent in chunks instead.
    package mutating func declined(at now: Duration) -> [Action] {
        guard case .taking(let isCancelled) = self.state else { return [] }
        guard !isCancelled else {
            let outcome = TransferOutcome.failed(TransferError(.cancelled, message: "the sender cancelled the transfer"))
            return [.send(FrameHead(.cancelled, stream: self.stream))] + self.end(outcome)
        }
        return self.decide(at: now)
    }

    private mutating func decide(at now: Duration) -> [Action] {
        self.offer.wholeHash = nil
        self.state = .deciding
        self.waitingSince = now
        return [.prepare(self.offer)]
    }

    /// Handles `offset` existing bytes that may be the beginning of the file. The sender must prove
    /// that it has the same bytes.
    ///
    /// - Parameter offset: The number of existing bytes; 0 for none.
    package mutating func prepared(upTo offset: Int, at now: Duration) -> [Action] {
        guard self.state == .deciding else { return [] }
        guard offset > 0, offset <= self.offer.size else { return self.accept(from: 0, at: now) }
        self.state = .asking(offset: offset)
        self.waitingSince = now
        return [self.accepted(offset)]
    }

    /// Handles the comparison of the hash. If `isEqual` is false, the bytes differed and are
    /// deleted.
    package mutating func compared(isEqual: Bool, at now: Duration) -> [Action] {
        guard case .comparing(let offset) = self.state else { return [] }
        return self.accept(from: isEqual ? offset : 0, at: now)
    }

    private func accepted(_ offset: Int) -> Action {
        .send(FrameHead(.accept, stream: self.stream, header: ["offset": JSONValue(offset)]))
    }

    private mutating func accept(from offset: Int, at now: Duration) -> [Action] {
        self.state = .receiving
        self.expected = offset
        self.written = offset
        self.durable = offset
        self.syncing = offset
        self.syncedAt = now
        self.awaitedMarker = nil
        self.waitingSince = now
        return [self.accepted(offset)]
    }

    /// Rejects or aborts the transfer because of an error of the disk, a quota, the name or a
    /// lease.
    package mutating func fail(_ error: TransferError) -> [Action] {
        guard self.state != .ended else { return [] }
        return [.send(error.head(stream: self.stream))] + self.end(.failed(error))
    }

    /// Handles a completed write: all bytes before `offset` are written, but not synced.
    package mutating func written(upTo offset: Int) -> [Action] {
        guard self.state == .receiving, offset > self.written, offset <= self.expected else { return [] }
        self.written = offset
        return self.syncIfDue()
    }

    /// Syncs after ``TransferSettings/syncBytes`` or a quarter of the window, whichever is less:
    /// the sender receives an acknowledgement before it has to wait, and the disk is not synced for
    /// each chunk. One sync runs at a time, so on a slow disk the next one covers all bytes that
    /// were written during it.
    private mutating func syncIfDue() -> [Action] {
        guard self.syncing == self.durable, self.written > self.syncing else { return [] }
        let due = min(self.settings.syncBytes, self.settings.window / 4)
        guard self.written - self.syncing >= due || self.written == self.offer.size else { return [] }
        self.syncing = self.written
        return [.sync(upTo: self.written)]
    }

    /// Handles a completed sync: all bytes before `offset` are durable.
    package mutating func synced(upTo offset: Int, at now: Duration) -> [Action] {
        guard self.state == .receiving, offset > self.durable, offset <= self.syncing else { return [] }
        self.durable = offset
        self.syncedAt = now
        self.waitingSince = now
        return [.send(FrameHead(.ack, stream: self.stream, header: ["offset": JSONValue(offset)]))] + self.syncIfDue()
    }

    /// Handles the end of the disk work: the file has its name and its folder is synced. If
    /// `isEqual` is false, the hash of the file differs from the sender's hash and the file has no
    /// name.
    ///
    /// - Parameter had: The number of bytes that existed before the transfer.
    package mutating func finished(isEqual: Bool, had: Int = 0) -> [Action] {
        switch self.state {
        case .finishing, .taking: break
        case .awaitingWhole, .deciding, .asking, .comparing, .receiving, .cancelling, .ended: return []
        }
        guard isEqual else {
            return [.discard]
                + self.fail(TransferError(.corrupted, message: "the SHA-256 of the received file differs from the sender's"))
        }
        var header: JSONObject = ["size": JSONValue(self.offer.size)]
        if had > 0 { header["offset"] = JSONValue(had) }
        return [.send(FrameHead(.complete, stream: self.stream, header: header))] + self.end(.completed)
    }

    /// Cancels the transfer locally. The received bytes are kept for a resumption.
    package mutating func cancel(at now: Duration) -> [Action] {
        switch self.state {
        case .awaitingWhole, .deciding, .asking, .comparing, .receiving:
            self.state = .cancelling
            self.waitingSince = now
            return [.send(FrameHead(.cancel, stream: self.stream))]
        case .taking, .finishing, .cancelling, .ended: return []  // the file is being completed, or the transfer has ended
        }
    }

    /// Checks the timeouts, and syncs when the sync interval has passed.
    package mutating func ticked(at now: Duration) -> [Action] {
        let waited = now - self.waitingSince
        switch self.state {
        case .taking, .deciding, .comparing, .finishing, .ended: return []  // the receiver's own work is pending
        case .asking(let offset): return self.timedOut(waited, of: self.settings.timeout(hashing: offset))  // the sender hashes
        case .cancelling:
            guard waited >= self.settings.cancelTimeout else { return [] }
            return self.end(.failed(TransferError(.cancelled, message: "the transfer was cancelled, and the sender did not confirm it")))
        case .receiving where self.expected > self.written || self.syncing > self.durable:
            self.waitingSince = now  // the disk's work is pending
            return []
        case .receiving where self.written > self.syncing && now - self.syncedAt >= self.settings.syncInterval:
            self.syncing = self.written
            return [.sync(upTo: self.written)]
        case .awaitingWhole, .receiving: return self.timedOut(waited, of: self.settings.timeout)
        }
    }

    private mutating func timedOut(_ waited: Duration, of timeout: Duration) -> [Action] {
        guard waited >= timeout else { return [] }
        return self.fail(TransferError(.timeout, message: "the sender made no progress for \(timeout)"))
    }

    // MARK: Frames

    /// Handles a frame of this transfer other than a chunk.
    package mutating func receivedHead(_ head: FrameHead, at now: Duration) -> [Action] {
        switch (head.type, self.state) {
        case (_, .ended): return []  // sent before the sender received the end of the transfer
        case (_, .finishing): return []  // the file is being completed, and the sender receives the result
        case (.cancel, .taking), (.error, .taking):
            self.state = .taking(isCancelled: true)  // the file is usually stored already
            return []
        case (.error, _): return self.end(.failed(TransferError(receiving: head.header)))
        case (.cancel, _):
            let outcome = TransferOutcome.failed(TransferError(.cancelled, message: "the sender cancelled the transfer"))
            return [.send(FrameHead(.cancelled, stream: self.stream))] + self.end(outcome)
        case (.cancelled, .cancelling): return self.end(.failed(TransferError(.cancelled, message: "the transfer was cancelled")))
        case (_, .cancelling): return []  // sent before the sender received the cancellation
        case (.offer, .asking(let offset)): return self.shown(head.header, of: offset)
        case (.data, .receiving): return self.marked(head.header, at: now)
        case (.done, .receiving): return self.done(head.header, at: now)
        default: return self.violation("the sender sent the frame \(head.type), which is not valid in this state")
        }
    }

    private mutating func violation(_ message: String) -> [Action] { self.fail(TransferError(.protocolViolation, message: message)) }

    private mutating func shown(_ header: JSONObject, of offset: Int) -> [Action] {
        do throws(TransferError) {
            let offer = try TransferOffer(header)
            guard let shown = offer.shown, offer.id == self.offer.id, offer.name == self.offer.name, offer.size == self.offer.size else {
                return self.violation("the sender repeated the offer with another id, name or size")
            }
            guard shown.bytes == offset else {
                return self.violation("the sender sent the hash of \(shown.bytes) bytes instead of \(offset)")
            }
            self.state = .comparing(offset: offset)
            return [.compare(shown)]
        } catch {
            return self.fail(error)
        }
    }

    private mutating func marked(_ header: JSONObject, at now: Duration) -> [Action] {
        guard case .integer(let number)? = header["from"], let from = Int(exactly: number), from == self.awaitedMarker else {
            return self.violation("the sender sent a data frame without a chunk or the expected `from`")
        }
        self.awaitedMarker = nil
        self.waitingSince = now
        return []
    }

    private mutating func done(_ header: JSONObject, at now: Duration) -> [Action] {
        guard self.awaitedMarker == nil else { return [] }  // the sender repeats the done frame after the resent chunks
        guard let hash = header["sha256"]?.stringValue, hash.utf8.count == 64, self.expected == self.offer.size else {
            return self.violation("the sender sent done without a `sha256`, or before all bytes of the file")
        }
        self.state = .finishing
        self.waitingSince = now
        return [.finish(sha256: hash)]
    }

    /// Handles a data frame without a valid chunk.
    package mutating func receivedNoChunk(_ error: TransferError) -> [Action] {
        switch self.state {
        case .finishing, .taking: []  // chunks are no longer expected
        case .awaitingWhole, .deciding, .asking, .comparing, .receiving, .cancelling, .ended: self.fail(error)
        }
    }

    /// Handles a received chunk.
    package mutating func receivedChunk(offset: Int, count: Int, isIntact: Bool, at now: Duration) -> ChunkAction {
        switch self.state {
        case .ended, .cancelling, .finishing: return .drop([])
        case .awaitingWhole: return self.receivedWhole(offset: offset, count: count, isIntact: isIntact, at: now)
        case .taking, .deciding, .asking, .comparing: return .drop(self.violation("the sender sent a chunk before its offer was accepted"))
        case .receiving: break
        }
        guard self.awaitedMarker == nil else { return .drop([]) }  // sent before the sender received the request
        guard isIntact else { return .drop(self.requestResend()) }
        guard offset == self.expected, count > 0, count <= self.offer.size - self.expected else {
            return .drop(
                self.violation(
                    "the sender sent \(count) bytes at offset \(offset), but the next expected offset is \(self.expected) of \(self.offer.size)"
                ))
        }
        // A sender that ignores the window could fill the memory while the disk is slow.
        guard self.expected - self.durable + count <= self.settings.window + TransferChunk.maximumBytes else {
            return .drop(self.violation("the sender exceeded the window of \(self.settings.window) unacknowledged bytes"))
        }
        self.expected += count
        self.waitingSince = now
        return .write
    }

    private mutating func receivedWhole(offset: Int, count: Int, isIntact: Bool, at now: Duration) -> ChunkAction {
        guard isIntact, let hash = self.offer.wholeHash else { return .drop(self.decide(at: now)) }
        guard offset == 0, count == self.offer.size else {
            return .drop(
                self.violation(
                    "the chunk in the offer must be the whole file of \(self.offer.size) bytes, not \(count) at offset \(offset)"))
        }
        self.state = .taking(isCancelled: false)
        return .take(sha256: hash)
    }

    private mutating func requestResend() -> [Action] {
        self.resends += 1
        guard self.resends <= self.settings.maximumResends else {
            return self.fail(TransferError(.corrupted, message: "\(self.resends) chunks of the file had wrong checksums"))
        }
        self.awaitedMarker = self.expected
        return [
            .send(
                FrameHead(
                    .ack, stream: self.stream, header: ["offset": JSONValue(self.durable), "again": JSONValue(self.expected)]))
        ]
    }

    // MARK: The end

    /// Handles the end of the connection. Durable bytes are kept for the next one.
    package mutating func connectionEnded() -> [Action] {
        switch self.state {
        case .ended, .finishing: return []  // the file gets its name regardless of the connection
        case .taking:
            self.state = .taking(isCancelled: true)
            return []
        case .awaitingWhole, .deciding, .asking, .comparing, .receiving, .cancelling: break
        }
        return self.end(.failed(TransferError(.interrupted, message: "the connection ended; the transfer can be resumed")))
    }

    private mutating func end(_ outcome: TransferOutcome) -> [Action] {
        self.state = .ended
        return [.end(outcome)]
    }
}
