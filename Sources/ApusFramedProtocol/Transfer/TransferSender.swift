import ApusBytes
package import ApusJSON

/// The state machine of one outgoing file.
///
/// It performs no I/O: the caller reports frames and finished work, and performs the returned
/// actions. The caller calls ``next()`` whenever the transport can accept a chunk, alternating
/// between the senders of a connection. The caller keeps one SHA-256 of the file, updated in order:
/// first with the bytes of ``Action/hashPrefix(length:)``, then with each chunk that is read for
/// the first time.
package struct TransferSender: Sendable {
    private enum State: Equatable {
        /// Transitions to `offered` (start).
        case idle
        /// Transitions to `hashing` or `sending` (accept), or `ended`.
        case offered
        /// The receiver requires the hash of the beginning. Transitions to `showing`, or `ended`.
        case hashing(offset: Int)
        /// The hash was sent. Transitions to `sending`: from `offset` when the hash matches, else
        /// from 0.
        case showing(offset: Int)
        /// Transitions to `finishing` when all data is sent.
        case sending
        /// All data and its hash are sent. Transitions to `sending` when a resend is requested, or
        /// `ended`.
        case finishing
        /// A cancellation was sent and awaits its answer. Transitions to `ended`.
        case cancelling
        /// Final.
        case ended
    }

    package enum Action: Hashable, Sendable {
        case send(FrameHead)
        /// Hash the first bytes of the file and call ``prefixHashed(_:at:)``.
        case hashPrefix(length: Int)
        /// Report this number of bytes as durable at the receiver.
        case progress(durable: Int)
        case end(TransferOutcome)
    }

    package enum Next: Hashable, Sendable {
        /// Read and send these bytes.
        case chunk(offset: Int, count: Int)
        /// All bytes were sent: call ``hashed(_:at:)`` with the hash of the whole file.
        case hash
        /// Do nothing until the next event.
        case wait
    }

    package private(set) var offer: TransferOffer
    package let stream: UInt16
    private let settings: TransferSettings
    private var state = State.idle
    /// The offset of the next byte to send.
    private var position = 0
    /// The offset after the last byte that was ever sent.
    private var furthest = 0
    private var durable = 0
    /// The number of requested resends. Bytes that were read before the last request must not be
    /// sent after it.
    package private(set) var resends = 0
    /// The time of the last progress.
    private var waitingSince: Duration = .zero

    package init(_ offer: TransferOffer, stream: UInt16, settings: TransferSettings = .init()) {
        self.offer = offer
        self.stream = stream
        self.settings = settings
    }

    package var hasEnded: Bool { self.state == .ended }

    /// Whether all bytes were sent, but their hash was not (``Next/hash``).
    package var awaitsHash: Bool { self.state == .sending && self.position == self.offer.size }

    // MARK: Local events

    package mutating func start(at now: Duration) -> [Action] {
        guard self.state == .idle else { return [] }
        self.state = .offered
        self.waitingSince = now
        return [.send(self.offer.head(stream: self.stream))]
    }

    /// Starts like ``start(at:)``, but the caller sends the offer together with the file.
    package mutating func startWhole(at now: Duration) {
        guard self.state == .idle else { return }
        self.state = .offered
        self.waitingSince = now
    }

    /// Returns the next chunk to send. Call it when the transport can accept a chunk.
    package mutating func next() -> Next {
        guard self.state == .sending else { return .wait }
        guard self.position < self.offer.size else { return .hash }
        let room = self.settings.window - (self.position - self.durable)
        guard room > 0 else { return .wait }
        let count = min(room, self.settings.chunkBytes, self.offer.size - self.position)
        defer {
            self.position += count
            self.furthest = max(self.furthest, self.position)
        }
        return .chunk(offset: self.position, count: count)
    }

    /// Handles the hash of the beginning, in hexadecimal digits.
    package mutating func prefixHashed(_ hash: String, at now: Duration) -> [Action] {
        guard case .hashing(let offset) = self.state else { return [] }
        self.waitingSince = now
        self.state = .showing(offset: offset)
        var offer = self.offer
        offer.shown = PrefixProof(bytes: offset, sha256: hash)
        return [.send(offer.head(stream: self.stream))]
    }

    /// Handles the hash of the whole file, in hexadecimal digits.
    package mutating func hashed(_ hash: String, at now: Duration) -> [Action] {
        guard self.awaitsHash else { return [] }
        self.state = .finishing
        self.waitingSince = now
        return [.send(FrameHead(.done, stream: self.stream, header: ["sha256": .string(hash)]))]
    }

    /// Handles a file that cannot be read.
    package mutating func sourceFailed(_ error: TransferError) -> [Action] { self.fail(error, notifies: true) }

    /// Cancels the transfer locally.
    package mutating func cancel(at now: Duration) -> [Action] {
        switch self.state {
        case .idle: return self.end(.failed(TransferError(.cancelled, message: "the transfer was cancelled before it began")))
        case .offered, .hashing, .showing, .sending, .finishing:
            self.state = .cancelling
            self.waitingSince = now
            return [.send(FrameHead(.cancel, stream: self.stream))]
        case .cancelling, .ended: return []
        }
    }

    /// Checks the timeouts.
    package mutating func ticked(at now: Duration) -> [Action] {
        let waited = now - self.waitingSince
        switch self.state {
        case .idle, .hashing, .ended: return []
        case .cancelling:
            guard waited >= self.settings.cancelTimeout else { return [] }
            return self.end(.failed(TransferError(.cancelled, message: "the transfer was cancelled, and the receiver did not confirm it")))
        case .sending where self.position == self.durable:
            self.waitingSince = now  // the sender's own work is pending
            return []
        // The receiver may hash the beginning of the file, or first check another sender's file.
        case .showing(let offset): return self.timedOut(waited, of: self.settings.timeout(hashing: offset))
        case .offered: return self.timedOut(waited, of: self.settings.timeout(hashing: self.offer.size))
        case .sending, .finishing: return self.timedOut(waited, of: self.settings.timeout)
        }
    }

    private mutating func timedOut(_ waited: Duration, of timeout: Duration) -> [Action] {
        guard waited >= timeout else { return [] }
        return self.fail(TransferError(.timeout, message: "the receiver made no progress for \(timeout)"), notifies: true)
    }

    // MARK: Frames

    /// Handles a frame of this transfer.
    package mutating func receivedHead(_ head: FrameHead, at now: Duration) -> [Action] {
        switch (head.type, self.state) {
        case (_, .ended), (_, .idle): return []  // sent before the receiver received the end of the transfer
        case (.error, _): return self.fail(TransferError(receiving: head.header), notifies: false)
        case (.cancel, _):
            let outcome = TransferOutcome.failed(TransferError(.cancelled, message: "the receiver cancelled the transfer"))
            return [.send(FrameHead(.cancelled, stream: self.stream))] + self.end(outcome)
        case (.complete, .cancelling): return [.progress(durable: self.offer.size)] + self.end(.completed)  // too late to cancel
        case (.cancelled, .cancelling): return self.end(.failed(TransferError(.cancelled, message: "the transfer was cancelled")))
        case (_, .cancelling): return []  // sent before the receiver received the cancellation
        case (.accept, .offered), (.accept, .showing): return self.accepted(head.header, at: now)
        case (.ack, .sending), (.ack, .finishing): return self.acknowledged(head.header, at: now)
        case (.complete, .finishing): return [.progress(durable: self.offer.size)] + self.end(.completed)
        case (.complete, .offered) where self.offer.wholeHash != nil: return self.completedWhole(head.header)
        default:
            return self.fail(
                TransferError(.protocolViolation, message: "the receiver sent the frame \(head.type), which is not valid in this state"),
                notifies: true)
        }
    }

    private mutating func completedWhole(_ header: JSONObject) -> [Action] {
        // Report the bytes that the receiver already had as progress.
        var had = 0
        if case .integer(let number)? = header["offset"] { had = min(max(0, Int(clamping: number)), self.offer.size) }
        return [.progress(durable: had), .progress(durable: self.offer.size)] + self.end(.completed)
    }

    private mutating func accepted(_ header: JSONObject, at now: Duration) -> [Action] {
        self.waitingSince = now
        self.offer.wholeHash = nil  // the receiver did not accept the file in its offer
        guard case .integer(let number)? = header["offset"], let offset = Int(exactly: number), (0...self.offer.size).contains(offset)
        else {
            return self.fail(
                TransferError(
                    .protocolViolation, message: "the receiver accepted the file without an `offset` from 0 to \(self.offer.size)"),
                notifies: true)
        }
        guard offset > 0 else { return self.begin(at: 0) }
        guard case .showing(let shown) = self.state else {
            self.state = .hashing(offset: offset)
            return [.hashPrefix(length: offset)]
        }
        guard offset == shown else {
            return self.fail(
                TransferError(
                    .protocolViolation,
                    message: "the receiver accepted the file at offset \(offset), but requested the hash of \(shown) bytes"), notifies: true
            )
        }
        return self.begin(at: offset)
    }

    private mutating func begin(at offset: Int) -> [Action] {
        self.state = .sending
        self.position = offset
        self.furthest = offset
        self.durable = offset
        return [.progress(durable: offset)]
    }

    private mutating func acknowledged(_ header: JSONObject, at now: Duration) -> [Action] {
        guard case .integer(let number)? = header["offset"], let offset = Int(exactly: number),
            (self.durable...self.furthest).contains(offset)
        else {
            return self.fail(
                TransferError(
                    .protocolViolation,
                    message: "the receiver acknowledged an `offset` that is not from \(self.durable) to \(self.furthest), the bytes sent"),
                notifies: true)
        }
        var actions: [Action] = []
        if offset > self.durable {
            self.durable = offset
            self.waitingSince = now
            actions.append(.progress(durable: offset))
        }
        guard let value = header["again"] else { return actions }
        guard case .integer(let number) = value, let again = Int(exactly: number), (offset...self.furthest).contains(again),
            again < self.offer.size
        else {
            return self.fail(
                TransferError(
                    .protocolViolation,
                    message:
                        "the receiver requested a resend from an offset (`again`) that is not from \(offset) to \(self.furthest), the bytes sent"
                ), notifies: true)
        }
        self.resends += 1
        guard self.resends <= self.settings.maximumResends else {
            return self.fail(
                TransferError(
                    .corrupted, message: "the receiver requested \(self.resends) resends; the maximum is \(self.settings.maximumResends)"),
                notifies: true)
        }
        self.position = again
        self.state = .sending
        self.waitingSince = now
        // The receiver ignores all chunks until this frame.
        return actions + [.send(FrameHead(.data, stream: self.stream, header: ["from": JSONValue(again)]))]
    }

    // MARK: The end

    private mutating func fail(_ error: TransferError, notifies: Bool) -> [Action] {
        guard self.state != .ended else { return [] }
        return (notifies ? [.send(error.head(stream: self.stream))] : []) + self.end(.failed(error))
    }

    /// Handles the end of the connection. The next connection can resume the transfer.
    package mutating func connectionEnded() -> [Action] {
        guard self.state != .ended else { return [] }
        return self.end(.failed(TransferError(.interrupted, message: "the connection ended; the transfer can be resumed")))
    }

    private mutating func end(_ outcome: TransferOutcome) -> [Action] {
        self.state = .ended
        return [.end(outcome)]
    }
}

extension TransferError {
    /// Returns the error frame of a transfer.
    package func head(stream: UInt16) -> FrameHead {
        FrameHead(.error, stream: stream, header: ["code": .string(self.code.rawValue), "message": .string(self.message)])
    }

    /// Reads the error of the other side. Its text is truncated and kept on one line.
    package init(receiving header: JSONObject) {
        let code = header["code"]?.stringValue ?? ""
        let isName = !code.isEmpty && code.utf8.count <= 64 && code.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }
        self.init(
            isName ? Code(rawValue: code) : .protocolViolation,
            message: "the other side reported: \(PeerText.clean(header["message"]?.stringValue ?? "no message"))")
    }
}
