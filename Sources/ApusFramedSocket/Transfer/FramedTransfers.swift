import ApusFramedProtocol
import NIOConcurrencyHelpers
import NIOCore

/// The transfers of one connection, either way. Confined to its event loop.
final class FramedTransfers {
    private weak var connection: FramedConnection?
    private let eventLoop: any EventLoop
    private let receiving: FileReceiving?
    private let settings: TransferSettings
    private let isClient: Bool
    private let session: UInt64
    private let disk: DiskQueue
    private var outgoing: [UInt16: OutgoingTransfer] = [:]
    private var incoming: [UInt16: IncomingTransfer] = [:]
    /// How many of each are files that came, or went, with their offers.
    private var outgoingWholes = 0
    private var incomingWholes = 0
    /// The offers of whole files that were not written yet.
    private var frames: [ByteBuffer] = []
    /// The large ones of those that come.
    private var large: Set<UInt16> = [] {
        didSet { if oldValue.isEmpty != self.large.isEmpty { self.connection?.handler?.setReadsMuch(!self.large.isEmpty) } }
    }
    /// Bytes of them that have come and are not written.
    private var unwritten = 0
    private static let maximumUnwritten = 24 << 20
    /// So many files may each be read ahead; of more the memory adds up, and each is read while what it had before is sent.
    private static let fewFiles = 4
    private var lastStream: UInt16
    /// Why all of them end.
    private(set) var ending: FramedError?
    /// The transfer whose frame is being read.
    private var dataStream: UInt16?
    /// What all files together may take of the line.
    private let rate: OutgoingRate?

    init(connection: FramedConnection, receiving: FileReceiving?, settings: TransferSettings, bytesPerSecond: Int?, isClient: Bool) {
        self.settings = settings
        self.rate = bytesPerSecond.map(OutgoingRate.init)
        self.connection = connection
        self.receiving = receiving
        self.isClient = isClient
        self.eventLoop = connection.eventLoop
        self.disk = DiskQueue(eventLoop: connection.eventLoop)
        self.session = UInt64(UInt(bitPattern: ObjectIdentifier(connection)))
        // The client's streams are odd, the server's even: neither takes one of the other's.
        self.lastStream = isClient ? .max : 0
    }

    private var now: Duration { Duration(self.eventLoop.now - NIODeadline.uptimeNanoseconds(0)) }

    // MARK: Sending

    /// Whether small files go with their offers. Where a rate is kept to they do not: they would not go evenly.
    var sendsWholeFiles: Bool { self.rate == nil && self.connection?.peerTakesWholeFiles == true }

    /// Opens a file, together with others that are wanted at the time.
    func open(_ source: OutgoingSource, then: @escaping (Result<OpenedFile, any Error>) -> Void) {
        self.disk.submit([.open(source, whole: self.sendsWholeFiles)]) { outcome in
            if let ending = self.ending { return then(.failure(ending)) }
            guard case .opened(let opened)? = outcome.reports.first else {
                return then(.failure(outcome.failure ?? TransferError(.source, message: "the file cannot be opened")))
            }
            then(.success(opened))
        }
    }

    /// Offers a file. When it goes whole, ``writeWholeFiles()`` must follow.
    ///
    /// - Throws: When no stream is free.
    func send(
        _ opened: OpenedFile, progress: ((FramedProgress) -> Void)?, ended: @escaping (Result<Void, any Error>) -> Void
    ) throws(TransferError) -> UInt16 {
        var stream = self.lastStream
        repeat {
            stream &+= 2
            if stream == 0 { stream = 2 }
            guard stream != self.lastStream else { throw TransferError(.quota, message: "too many files are being sent") }
        } while self.outgoing[stream] != nil
        self.lastStream = stream
        var settings = self.settings
        if let rate = self.rate { settings.chunkBytes = rate.limit.chunkBytes }
        let connection = self.connection
        var offer = opened.offer
        let frame = self.outgoingWholes < WholeFile.maximumUnderWay ? opened.frame?.take(for: stream) : nil
        if frame == nil { offer.wholeHash = nil } else { self.outgoingWholes += 1 }
        let isWhole = frame != nil
        let transfer = OutgoingTransfer(
            file: opened.file, machine: TransferSender(offer, stream: stream, settings: settings), rate: self.rate,
            eventLoop: self.eventLoop, readsAhead: { [weak self] in self.map { $0.outgoing.count <= Self.fewFiles } ?? false },
            write: { [weak connection] in connection?.handler?.write($0, flushesAtOnce: false) }, progress: progress
        ) { [weak self] outcome in
            self?.outgoing[stream] = nil
            if isWhole { self?.outgoingWholes -= 1 }
            switch outcome {
            case .completed: ended(.success(()))
            case .failed(let error): ended(.failure(self?.ending ?? error))
            }
        }
        self.outgoing[stream] = transfer
        guard let frame else {
            transfer.start(at: self.now)
            return stream
        }
        self.frames.append(frame)
        transfer.startWhole(at: self.now)
        return stream
    }

    /// Writes the offers of whole files that were begun since the last time, together.
    func writeWholeFiles() {
        guard !self.frames.isEmpty else { return }
        self.connection?.handler?.write(self.frames, flushesAtOnce: false)
        self.frames.removeAll(keepingCapacity: true)
    }

    func cancel(_ stream: UInt16) {
        self.outgoing[stream]?.cancel(at: self.now)
    }

    func cancelAll() {
        let now = self.now
        for transfer in self.outgoing.values { transfer.cancel(at: now) }
        for transfer in self.incoming.values { transfer.cancel(at: now) }
    }

    // MARK: Frames

    func received(_ part: FramePart<FrameHead>) {
        switch part {
        case .head(let head):
            self.dataStream = head.stream
            // A chunk is in the body; all other frames say everything in their heads.
            guard head.type != .data || head.bodyLength == 0 else { return }
            self.receivedHead(head)
        case .body(let bytes):
            guard let stream = self.dataStream else { return }
            self.incoming[stream]?.receivedPiece(bytes)
        case .end:
            guard let stream = self.dataStream.take() else { return }
            self.incoming[stream]?.receivedEnd(at: self.now)
        }
    }

    private func receivedHead(_ head: FrameHead) {
        if let transfer = self.outgoing[head.stream] { return transfer.received(head, at: self.now) }
        if let transfer = self.incoming[head.stream] { return transfer.received(head, at: self.now) }
        // What is not an offer crossed the end of its transfer.
        guard head.type == .offer else { return }
        guard let receiving = self.receiving else {
            return self.refuse(TransferError(.notSupported, message: "no files are taken here"), head.stream)
        }
        guard (head.stream & 1 == 1) != self.isClient else {
            return self.refuse(TransferError(.protocolViolation, message: "stream \(head.stream) is ours"), head.stream)
        }
        do throws(TransferError) {
            // The ledger counts as well, for all connections, but only when the disk has had a look.
            let isWhole = head.header["sha256"] != nil
            let count = isWhole ? self.incomingWholes : self.incoming.count - self.incomingWholes
            let most = isWhole ? WholeFile.maximumUnderWay : receiving.folder.limits.transfersOfSession
            guard count < most else {
                throw TransferError(.quota, message: "\(most) transfers are under way, no more are taken at a time")
            }
            let offer = try TransferOffer(head.header)
            guard head.bodyLength == offer.bodyLength else {
                throw TransferError(.protocolViolation, message: "an offer with more or less of its file than it says")
            }
            let stream = head.stream
            guard let connection = self.connection else { return }
            if let error = receiving.refuses(connection, offer.name, offer.size) { return self.refuse(error, stream) }
            guard receiving.allowsHiddenNames || !offer.name.isHidden else {
                throw TransferError(.nameRefused, message: "the name of a file is refused: a component begins with a dot")
            }
            let isLarge = offer.size >= IncomingTransfer.largeBytes
            let transfer = IncomingTransfer(
                machine: TransferReceiver(offer, stream: stream, settings: self.settings), receiving: receiving,
                connection: ObjectIdentifier(connection), session: self.session, eventLoop: self.eventLoop, disk: self.disk,
                backlog: isLarge
                    ? DiskBacklog(eventLoop: self.eventLoop) { [weak self] change in self?.waitsForDisk(change) } : nil,
                copies: isLarge && connection.handler?.isBehindTLS ?? false,
                answer: { [weak connection] in connection?.handler?.answer($0) }
            ) { [weak self] in
                self?.incoming[stream] = nil
                self?.large.remove(stream)
                if isWhole { self?.incomingWholes -= 1 }
            }
            self.incoming[stream] = transfer
            if isWhole { self.incomingWholes += 1 }
            if isLarge { self.large.insert(stream) }
            transfer.start(at: self.now)
        } catch {
            self.refuse(error, head.stream)
        }
    }

    /// The peer is slowed down when the disk lags behind the windows of several transfers.
    private func waitsForDisk(_ change: Int) {
        self.unwritten += change
        if self.unwritten > Self.maximumUnwritten {
            self.connection?.handler?.setReading(paused: true, .disk)
        } else if self.unwritten <= Self.maximumUnwritten / 2 {
            self.connection?.handler?.setReading(paused: false, .disk)
        }
    }

    private func refuse(_ error: TransferError, _ stream: UInt16) {
        self.connection?.handler?.answer(error.head(stream: stream))
    }

    // MARK: Time and the end

    func ticked() {
        let now = self.now
        for transfer in self.outgoing.values { transfer.ticked(at: now) }
        for transfer in self.incoming.values { transfer.ticked(at: now) }
    }

    func connectionEnded(because error: FramedError) {
        self.ending = error
        for transfer in self.outgoing.values { transfer.connectionEnded() }
        for transfer in self.incoming.values { transfer.connectionEnded() }
        self.receiving?.folder.leases.withLockedValue { $0.sessionEnded(self.session) }
    }
}

@available(*, unavailable)
extension FramedTransfers: Sendable {}

enum FrameBytes {
    /// Heads of our own making: small, and of nothing but text and numbers.
    static func of(_ head: FrameHead) -> [ByteBuffer] {
        var buffer = ByteBuffer()
        try? head.write(into: &buffer)
        return [buffer]
    }
}
