import ApusJSON

/// One file on its way in.
///
/// Pure: frames and the shell's reports in, actions out. An offset is acknowledged when the shell has said that everything before it is written
/// and synced, never sooner.
package struct TransferReceiver: Sendable {
    private enum State: Equatable {
        /// The file comes with its offer. Leaves to `taking` (all of it), `deciding` (damaged), or ends.
        case awaitingWhole
        /// The disk takes a whole file. Leaves to `deciding` (``declined(at:)``), or ends. `isGivenUp`: the sender does not wait for more than that.
        case taking(isGivenUp: Bool)
        /// The shell looks what it has of the file. Leaves to `receiving`, `asking` (``prepared(upTo:at:)``), or ends.
        case deciding
        /// The sender is to show the hash of what we have. Leaves to `comparing`, or ends.
        case asking(offset: Int)
        /// The shell compares. Leaves to `receiving` (``compared(isEqual:at:)``), or ends.
        case comparing(offset: Int)
        /// Leaves to `finishing` when all has come and the sender has said so, or ends.
        case receiving
        /// What is not written yet is written, all is synced and compared, and the file gets its name. Ends.
        case finishing
        /// We gave up and wait for the answer. Ends.
        case cancelling
        /// Final.
        case ended
    }

    package enum Action: Hashable, Sendable {
        case send(FrameHead)
        /// Look what is there of this upload and call ``prepared(upTo:at:)``.
        case prepare(TransferOffer)
        /// Hash what is there, compare it, throw it away if it is not the same, and call ``compared(isEqual:at:)``.
        case compare(ShownBeginning)
        /// Sync what was written and call ``synced(upTo:at:)``.
        case sync(upTo: Int)
        /// After everything that is being written: sync it, compare the hash of all bytes, give the file its name, sync its folder; then call
        /// ``finished(isEqual:)``.
        case finish(sha256: String)
        /// Take the file, of which everything has come and nothing is written, as ``finish(sha256:)`` would; then call ``finished(isEqual:had:)``,
        /// or ``declined(at:)``.
        case take(sha256: String)
        /// Throw away what is there: it is not what the sender has.
        case discard
        case end(TransferOutcome)
    }

    /// What becomes of a chunk.
    package enum ChunkAction: Hashable, Sendable {
        /// Write it at its offset and hash it, then call ``written(upTo:)``.
        case write
        /// It is the whole file: ``Action/take(sha256:)``.
        case take(sha256: String)
        /// It is worthless; perform these.
        case drop([Action])
    }

    package private(set) var offer: TransferOffer
    package let stream: UInt16
    private let settings: TransferSettings
    private var state = State.deciding
    /// The next byte that is expected.
    private var expected = 0
    private var written = 0
    private var durable = 0
    private var syncedAt: Duration = .zero
    /// The end of the last sync that was asked for.
    private var syncing = 0
    /// Chunks count again from the sender's marker at this offset on.
    private var awaitedMarker: Int?
    private var resends = 0
    private var waitingSince: Duration = .zero

    package init(_ offer: TransferOffer, stream: UInt16, settings: TransferSettings = .init()) {
        self.offer = offer
        self.stream = stream
        self.settings = settings
    }

    package var hasEnded: Bool { self.state == .ended }

    // MARK: Our side

    package mutating func start(at now: Duration) -> [Action] {
        self.waitingSince = now
        guard let hash = self.offer.wholeHash else { return [.prepare(self.offer)] }
        guard self.offer.size == 0 else {
            self.state = .awaitingWhole
            return []
        }
        self.state = .taking(isGivenUp: false)
        return [.take(sha256: hash)]
    }

    /// The disk does not take the file in one go: there is something of it, or it cannot do such a thing. It is sent as any other.
    package mutating func declined(at now: Duration) -> [Action] {
        guard case .taking(let isGivenUp) = self.state else { return [] }
        guard !isGivenUp else {
            let outcome = TransferOutcome.failed(TransferError(.cancelled, message: "the sender gave up"))
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

    /// The shell has so much of what may be the file's beginning. The sender is asked to show that it has the same.
    ///
    /// - Parameter offset: How much; 0 for nothing.
    package mutating func prepared(upTo offset: Int, at now: Duration) -> [Action] {
        guard self.state == .deciding else { return [] }
        guard offset > 0, offset <= self.offer.size else { return self.accept(from: 0, at: now) }
        self.state = .asking(offset: offset)
        self.waitingSince = now
        return [self.accepted(offset)]
    }

    /// The shell has what the sender has shown; or (`isEqual` is false) it has something else, and has thrown that away.
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

    /// The transfer cannot be taken, or not gone on with: the disk, a quota, a name, somebody else's lease.
    package mutating func fail(_ error: TransferError) -> [Action] {
        guard self.state != .ended else { return [] }
        return [.send(error.head(stream: self.stream))] + self.end(.failed(error))
    }

    /// Everything before this offset is written, not synced.
    package mutating func written(upTo offset: Int) -> [Action] {
        guard self.state == .receiving, offset > self.written, offset <= self.expected else { return [] }
        self.written = offset
        return self.syncIfDue()
    }

    /// A MiB, or a quarter of a small window: the sender is told before it has to wait, and the disk is not synced for every chunk. One sync at a
    /// time: on a disk that takes its time for one, the next is for all that was written meanwhile.
    private mutating func syncIfDue() -> [Action] {
        guard self.syncing == self.durable, self.written > self.syncing else { return [] }
        let due = min(self.settings.syncBytes, self.settings.window / 4)
        guard self.written - self.syncing >= due || self.written == self.offer.size else { return [] }
        self.syncing = self.written
        return [.sync(upTo: self.written)]
    }

    /// Everything before this offset is on the disk.
    package mutating func synced(upTo offset: Int, at now: Duration) -> [Action] {
        guard self.state == .receiving, offset > self.durable, offset <= self.syncing else { return [] }
        self.durable = offset
        self.syncedAt = now
        self.waitingSince = now
        return [.send(FrameHead(.ack, stream: self.stream, header: ["offset": JSONValue(offset)]))] + self.syncIfDue()
    }

    /// The file stands under its name and its folder is synced; or (`isEqual` is false) its hash is not the sender's and it has no name.
    ///
    /// - Parameter had: How much of it was there before it was sent.
    package mutating func finished(isEqual: Bool, had: Int = 0) -> [Action] {
        switch self.state {
        case .finishing, .taking: break
        case .awaitingWhole, .deciding, .asking, .comparing, .receiving, .cancelling, .ended: return []
        }
        guard isEqual else {
            return [.discard]
                + self.fail(TransferError(.corrupted, message: "the file that arrived has another hash than the one that was sent"))
        }
        var header: JSONObject = ["size": JSONValue(self.offer.size)]
        if had > 0 { header["offset"] = JSONValue(had) }
        return [.send(FrameHead(.complete, stream: self.stream, header: header))] + self.end(.completed)
    }

    /// The user gives up. What is there stays for a resumption.
    package mutating func cancel(at now: Duration) -> [Action] {
        switch self.state {
        case .awaitingWhole, .deciding, .asking, .comparing, .receiving:
            self.state = .cancelling
            self.waitingSince = now
            return [.send(FrameHead(.cancel, stream: self.stream))]
        case .taking, .finishing, .cancelling, .ended: return []  // too late, or done already
        }
    }

    /// Time has passed.
    package mutating func ticked(at now: Duration) -> [Action] {
        let waited = now - self.waitingSince
        switch self.state {
        case .taking, .deciding, .comparing, .finishing, .ended: return []  // it is our turn
        case .asking(let offset): return self.timedOut(waited, of: self.settings.timeout(hashing: offset))  // the sender hashes
        case .cancelling:
            guard waited >= self.settings.cancelTimeout else { return [] }
            return self.end(.failed(TransferError(.cancelled, message: "given up; the other side did not answer")))
        case .receiving where self.expected > self.written || self.syncing > self.durable:
            self.waitingSince = now  // our disk is at work
            return []
        case .receiving where self.written > self.syncing && now - self.syncedAt >= self.settings.syncInterval:
            self.syncing = self.written
            return [.sync(upTo: self.written)]
        case .awaitingWhole, .receiving: return self.timedOut(waited, of: self.settings.timeout)
        }
    }

    private mutating func timedOut(_ waited: Duration, of patience: Duration) -> [Action] {
        guard waited >= patience else { return [] }
        return self.fail(TransferError(.timeout, message: "the sender got nowhere for \(patience)"))
    }

    // MARK: The sender

    /// A frame of this transfer, chunks excepted.
    package mutating func received(_ head: FrameHead, at now: Duration) -> [Action] {
        switch (head.type, self.state) {
        case (_, .ended): return []  // it crossed our end
        case (_, .finishing): return []  // too late: the sender hears that it is complete
        case (.cancel, .taking), (.error, .taking):
            self.state = .taking(isGivenUp: true)  // too late, most likely
            return []
        case (.error, _): return self.end(.failed(TransferError(receiving: head.header)))
        case (.cancel, _):
            let outcome = TransferOutcome.failed(TransferError(.cancelled, message: "the sender gave up"))
            return [.send(FrameHead(.cancelled, stream: self.stream))] + self.end(outcome)
        case (.cancelled, .cancelling): return self.end(.failed(TransferError(.cancelled, message: "given up")))
        case (_, .cancelling): return []  // it crossed our giving up
        case (.offer, .asking(let offset)): return self.shown(head.header, of: offset)
        case (.data, .receiving): return self.marked(head.header, at: now)
        case (.done, .receiving): return self.done(head.header, at: now)
        default: return self.violation("\(head.type) at the wrong time")
        }
    }

    private mutating func violation(_ message: String) -> [Action] { self.fail(TransferError(.protocolViolation, message: message)) }

    private mutating func shown(_ header: JSONObject, of offset: Int) -> [Action] {
        do throws(TransferError) {
            let offer = try TransferOffer(header)
            guard let shown = offer.shown, offer.id == self.offer.id, offer.name == self.offer.name, offer.size == self.offer.size else {
                return self.violation("another offer within a transfer")
            }
            guard shown.bytes == offset else {
                return self.violation("the hash of \(shown.bytes) bytes where that of \(offset) was asked for")
            }
            self.state = .comparing(offset: offset)
            return [.compare(shown)]
        } catch {
            return self.fail(error)
        }
    }

    private mutating func marked(_ header: JSONObject, at now: Duration) -> [Action] {
        guard case .integer(let number)? = header["from"], let from = Int(exactly: number), from == self.awaitedMarker else {
            return self.violation("data without a chunk")
        }
        self.awaitedMarker = nil
        self.waitingSince = now
        return []
    }

    private mutating func done(_ header: JSONObject, at now: Duration) -> [Action] {
        guard self.awaitedMarker == nil else { return [] }  // it will be said again, after what was asked for again
        guard let hash = header["sha256"]?.stringValue, hash.utf8.count == 64, self.expected == self.offer.size else {
            return self.violation("done without a hash, or before all was sent")
        }
        self.state = .finishing
        self.waitingSince = now
        return [.finish(sha256: hash)]
    }

    /// A frame has come that should hold a chunk and does not.
    package mutating func receivedNoChunk(_ error: TransferError) -> [Action] {
        switch self.state {
        case .finishing, .taking: []  // nobody waits for chunks any more
        case .awaitingWhole, .deciding, .asking, .comparing, .receiving, .cancelling, .ended: self.fail(error)
        }
    }

    /// A chunk has come.
    package mutating func receivedChunk(offset: Int, count: Int, isIntact: Bool, at now: Duration) -> ChunkAction {
        switch self.state {
        case .ended, .cancelling, .finishing: return .drop([])
        case .awaitingWhole: return self.receivedWhole(offset: offset, count: count, isIntact: isIntact, at: now)
        case .taking, .deciding, .asking, .comparing: return .drop(self.violation("a chunk at the wrong time"))
        case .receiving: break
        }
        guard self.awaitedMarker == nil else { return .drop([]) }  // sent before the sender heard of it
        guard isIntact else { return .drop(self.askAgain()) }
        guard offset == self.expected, count > 0, count <= self.offer.size - self.expected else {
            return .drop(self.violation("a chunk at another offset than expected, or beyond the end"))
        }
        // Whoever sends more than the window would fill our memory while the disk lags.
        guard self.expected - self.durable + count <= self.settings.window + TransferChunk.maximumBytes else {
            return .drop(self.violation("more than \(self.settings.window) bytes before they were acknowledged"))
        }
        self.expected += count
        self.waitingSince = now
        return .write
    }

    private mutating func receivedWhole(offset: Int, count: Int, isIntact: Bool, at now: Duration) -> ChunkAction {
        guard isIntact, let hash = self.offer.wholeHash else { return .drop(self.decide(at: now)) }
        guard offset == 0, count == self.offer.size else {
            return .drop(self.violation("a whole file that is another than the offered one"))
        }
        self.state = .taking(isGivenUp: false)
        return .take(sha256: hash)
    }

    private mutating func askAgain() -> [Action] {
        self.resends += 1
        guard self.resends <= self.settings.maximumResends else {
            return self.fail(TransferError(.corrupted, message: "\(self.resends) chunks had wrong checksums"))
        }
        self.awaitedMarker = self.expected
        return [
            .send(
                FrameHead(
                    .ack, stream: self.stream, header: ["offset": JSONValue(self.durable), "again": JSONValue(self.expected)]))
        ]
    }

    // MARK: The end

    /// The connection has gone. What is durable stays for the next one.
    package mutating func connectionEnded() -> [Action] {
        switch self.state {
        case .ended, .finishing: return []  // a file that gets its name gets it, heard or not
        case .taking:
            self.state = .taking(isGivenUp: true)
            return []
        case .awaitingWhole, .deciding, .asking, .comparing, .receiving, .cancelling: break
        }
        return self.end(.failed(TransferError(.interrupted, message: "the connection ended; it can be resumed")))
    }

    private mutating func end(_ outcome: TransferOutcome) -> [Action] {
        self.state = .ended
        return [.end(outcome)]
    }
}
