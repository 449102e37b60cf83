package import ApusJSON

/// One file on its way out.
///
/// Pure: frames and the shell's reports in, actions out. The shell asks ``next()`` whenever there is room for a chunk; several senders on one
/// connection are asked in turn. The shell keeps one SHA-256 of the file, fed in order: up to the offset of a resumption by ``Action/hashPrefix``,
/// then by every chunk that is read for the first time.
package struct TransferSender: Sendable {
    private enum State: Equatable {
        /// Leaves to `offered` (start).
        case idle
        /// Leaves to `hashing` or `sending` (accept), or ends.
        case offered
        /// The receiver wants to see the hash of a beginning. Leaves to `showing`, or ends.
        case hashing(offset: Int)
        /// The hash was shown. Leaves to `sending`: from there when it is the receiver's, else from 0.
        case showing(offset: Int)
        /// Leaves to `finishing` when all is sent.
        case sending
        /// All is sent; its hash as well. Leaves to `sending` (asked again), or ends.
        case finishing
        /// We gave up and wait for the answer. Ends.
        case cancelling
        /// Final.
        case ended
    }

    package enum Action: Hashable, Sendable {
        case send(FrameHead)
        /// Hash the first bytes of the file and call ``prefixHashed(_:at:)``.
        case hashPrefix(length: Int)
        /// So much is on the other side's disk.
        case progress(durable: Int)
        case end(TransferOutcome)
    }

    package enum Next: Hashable, Sendable {
        /// Read and send these bytes.
        case chunk(offset: Int, count: Int)
        /// All bytes were sent: call ``hashed(_:at:)`` with the hash of the whole file.
        case hash
        /// Nothing now; an event will change that.
        case wait
    }

    package private(set) var offer: TransferOffer
    package let stream: UInt16
    private let settings: TransferSettings
    private var state = State.idle
    /// The next byte to be sent.
    private var position = 0
    /// The furthest byte that was ever sent.
    private var furthest = 0
    private var durable = 0
    /// How often it was asked to send something again. What was read before the last time is not to be sent after it.
    package private(set) var resends = 0
    /// Since when nothing has been heard that is progress.
    private var waitingSince: Duration = .zero

    package init(_ offer: TransferOffer, stream: UInt16, settings: TransferSettings = .init()) {
        self.offer = offer
        self.stream = stream
        self.settings = settings
    }

    package var hasEnded: Bool { self.state == .ended }

    /// Whether all bytes were sent and their hash was not: ``Next/hash``.
    package var awaitsHash: Bool { self.state == .sending && self.position == self.offer.size }

    // MARK: Our side

    package mutating func start(at now: Duration) -> [Action] {
        guard self.state == .idle else { return [] }
        self.state = .offered
        self.waitingSince = now
        return [.send(self.offer.head(stream: self.stream))]
    }

    /// As ``start(at:)``, when the shell sends the offer itself, with the file behind it.
    package mutating func startWhole(at now: Duration) {
        guard self.state == .idle else { return }
        self.state = .offered
        self.waitingSince = now
    }

    /// What to send, when there is room.
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

    /// The hash of the beginning, in hexadecimal digits.
    package mutating func prefixHashed(_ hash: String, at now: Duration) -> [Action] {
        guard case .hashing(let offset) = self.state else { return [] }
        self.waitingSince = now
        self.state = .showing(offset: offset)
        var offer = self.offer
        offer.shown = ShownBeginning(bytes: offset, sha256: hash)
        return [.send(offer.head(stream: self.stream))]
    }

    /// The hash of the whole file, in hexadecimal digits.
    package mutating func hashed(_ hash: String, at now: Duration) -> [Action] {
        guard self.awaitsHash else { return [] }
        self.state = .finishing
        self.waitingSince = now
        return [.send(FrameHead(.done, stream: self.stream, header: ["sha256": .string(hash)]))]
    }

    /// The file cannot be read on.
    package mutating func sourceFailed(_ error: TransferError) -> [Action] { self.fail(error, tells: true) }

    /// The user gives up.
    package mutating func cancel(at now: Duration) -> [Action] {
        switch self.state {
        case .idle: return self.end(.failed(TransferError(.cancelled, message: "given up before it began")))
        case .offered, .hashing, .showing, .sending, .finishing:
            self.state = .cancelling
            self.waitingSince = now
            return [.send(FrameHead(.cancel, stream: self.stream))]
        case .cancelling, .ended: return []
        }
    }

    /// Time has passed.
    package mutating func ticked(at now: Duration) -> [Action] {
        let waited = now - self.waitingSince
        switch self.state {
        case .idle, .hashing, .ended: return []
        case .cancelling:
            guard waited >= self.settings.cancelTimeout else { return [] }
            return self.end(.failed(TransferError(.cancelled, message: "given up; the other side did not answer")))
        case .sending where self.position == self.durable:
            self.waitingSince = now  // it is our turn
            return []
        // The receiver hashes this file's beginning, or another sender's file before it looks at this one.
        case .showing(let offset): return self.timedOut(waited, of: self.settings.timeout(hashing: offset))
        case .offered: return self.timedOut(waited, of: self.settings.timeout(hashing: self.offer.size))
        case .sending, .finishing: return self.timedOut(waited, of: self.settings.timeout)
        }
    }

    private mutating func timedOut(_ waited: Duration, of patience: Duration) -> [Action] {
        guard waited >= patience else { return [] }
        return self.fail(TransferError(.timeout, message: "the receiver got nowhere for \(patience)"), tells: true)
    }

    // MARK: The receiver

    /// A frame of this transfer.
    package mutating func received(_ head: FrameHead, at now: Duration) -> [Action] {
        switch (head.type, self.state) {
        case (_, .ended), (_, .idle): return []  // it crossed our end
        case (.error, _): return self.fail(TransferError(receiving: head.header), tells: false)
        case (.cancel, _):
            let outcome = TransferOutcome.failed(TransferError(.cancelled, message: "the receiver gave up"))
            return [.send(FrameHead(.cancelled, stream: self.stream))] + self.end(outcome)
        case (.complete, .cancelling): return [.progress(durable: self.offer.size)] + self.end(.completed)  // too late
        case (.cancelled, .cancelling): return self.end(.failed(TransferError(.cancelled, message: "given up")))
        case (_, .cancelling): return []  // it crossed our giving up
        case (.accept, .offered), (.accept, .showing): return self.accepted(head.header, at: now)
        case (.ack, .sending), (.ack, .finishing): return self.acknowledged(head.header, at: now)
        case (.complete, .finishing): return [.progress(durable: self.offer.size)] + self.end(.completed)
        case (.complete, .offered) where self.offer.wholeHash != nil: return self.completedWhole(head.header)
        default: return self.fail(TransferError(.protocolViolation, message: "\(head.type) at the wrong time"), tells: true)
        }
    }

    private mutating func completedWhole(_ header: JSONObject) -> [Action] {
        // What it had before is told for those who watch.
        var had = 0
        if case .integer(let number)? = header["offset"] { had = min(max(0, Int(clamping: number)), self.offer.size) }
        return [.progress(durable: had), .progress(durable: self.offer.size)] + self.end(.completed)
    }

    private mutating func accepted(_ header: JSONObject, at now: Duration) -> [Action] {
        self.waitingSince = now
        self.offer.wholeHash = nil  // it did not take it whole
        guard case .integer(let number)? = header["offset"], let offset = Int(exactly: number), (0...self.offer.size).contains(offset)
        else { return self.fail(TransferError(.protocolViolation, message: "accepted at no offset that can be"), tells: true) }
        guard offset > 0 else { return self.begin(at: 0) }
        guard case .showing(let shown) = self.state else {
            self.state = .hashing(offset: offset)
            return [.hashPrefix(length: offset)]
        }
        guard offset == shown else {
            return self.fail(
                TransferError(.protocolViolation, message: "accepted at \(offset) after the hash of \(shown) bytes"), tells: true)
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
        else { return self.fail(TransferError(.protocolViolation, message: "an offset acknowledged that was not sent"), tells: true) }
        var actions: [Action] = []
        if offset > self.durable {
            self.durable = offset
            self.waitingSince = now
            actions.append(.progress(durable: offset))
        }
        guard let value = header["again"] else { return actions }
        guard case .integer(let number) = value, let again = Int(exactly: number), (offset...self.furthest).contains(again),
            again < self.offer.size
        else { return self.fail(TransferError(.protocolViolation, message: "bytes asked for again that were not sent"), tells: true) }
        self.resends += 1
        guard self.resends <= self.settings.maximumResends else {
            return self.fail(TransferError(.corrupted, message: "asked for bytes again \(self.resends) times"), tells: true)
        }
        self.position = again
        self.state = .sending
        self.waitingSince = now
        // What is under way is worthless; from this frame on it counts again.
        return actions + [.send(FrameHead(.data, stream: self.stream, header: ["from": JSONValue(again)]))]
    }

    // MARK: The end

    private mutating func fail(_ error: TransferError, tells: Bool) -> [Action] {
        guard self.state != .ended else { return [] }
        return (tells ? [.send(error.head(stream: self.stream))] : []) + self.end(.failed(error))
    }

    /// The connection has gone. The next one resumes.
    package mutating func connectionEnded() -> [Action] {
        guard self.state != .ended else { return [] }
        return self.end(.failed(TransferError(.interrupted, message: "the connection ended; it can be resumed")))
    }

    private mutating func end(_ outcome: TransferOutcome) -> [Action] {
        self.state = .ended
        return [.end(outcome)]
    }
}

extension TransferError {
    /// The frame that tells of it.
    package func head(stream: UInt16) -> FrameHead {
        FrameHead(.error, stream: stream, header: ["code": .string(self.code.rawValue), "message": .string(self.message)])
    }

    /// The other side's error. Its words are short and on one line.
    package init(receiving header: JSONObject) {
        let code = header["code"]?.stringValue ?? ""
        let isName = !code.isEmpty && code.utf8.count <= 64 && code.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }
        self.init(
            isName ? Code(rawValue: code) : .protocolViolation,
            message: "the other side: \(PeerText.clean(header["message"]?.stringValue ?? "no message"))")
    }
}
