import ApusFramedProtocol
import ApusJSON
import NIOConcurrencyHelpers
import NIOCore

/// The outgoing and incoming transfers of one connection. Confined to its event loop.
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
    /// The numbers of outgoing and of incoming transfers whose files are sent with their offers.
    private var outgoingWholes = 0
    private var incomingWholes = 0
    /// The offer frames of whole files that are not written yet.
    private var frames: [ByteBuffer] = []
    /// The streams of large incoming files.
    private var large: Set<UInt16> = [] {
        didSet { if oldValue.isEmpty != self.large.isEmpty { self.connection?.handler?.setUsesManyReadBuffers(!self.large.isEmpty) } }
    }
    /// The number of received bytes of large files that are not written yet.
    private var unwritten = 0
    private static let maximumUnwritten = 24 << 20
    /// The maximum number of concurrent files for which each file is read ahead. With more files,
    /// reading ahead would use too much memory, and reading one file overlaps with sending another.
    private static let maximumReadAhead = 4
    private var lastStream: UInt16
    /// The error that ends all transfers.
    private(set) var ending: FramedError?
    /// The stream of the frame that is being read.
    private var dataStream: UInt16?
    /// The rate limit for all files together.
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
        // The client uses odd streams and the server even ones, so they never collide.
        self.lastStream = isClient ? .max : 0
    }

    private var now: Duration { Duration(self.eventLoop.now - NIODeadline.uptimeNanoseconds(0)) }

    // MARK: Sending

    /// Whether small files are sent with their offers. False with a rate limit, which needs equal
    /// chunks.
    var sendsWholeFiles: Bool { self.rate == nil && self.connection?.peerAcceptsWholeFiles == true }

    /// Opens a file, in one job with other files that are opened at the same time.
    func open(_ source: OutgoingSource, then: @escaping (Result<OpenedFile, any Error>) -> Void) {
        self.disk.submit([.open(source, whole: self.sendsWholeFiles)]) { outcome in
            if let ending = self.ending { return then(.failure(ending)) }
            guard case .opened(let opened)? = outcome.reports.first else {
                return then(.failure(outcome.failure ?? TransferError(.source, message: "the file cannot be opened")))
            }
            then(.success(opened))
        }
    }

    /// Offers a file. If it is sent whole, call ``writeWholeFiles()`` afterwards.
    ///
    /// - Throws: `TransferError` when no stream is free.
    func send(
        _ opened: OpenedFile, progress: ((FramedProgress) -> Void)?, ended: @escaping (Result<Void, any Error>) -> Void
    ) throws(TransferError) -> UInt16 {
        var stream = self.lastStream
        repeat {
            stream &+= 2
            if stream == 0 { stream = 2 }
            guard stream != self.lastStream else {
                throw TransferError(.quota, message: "the connection has reached the maximum number of files in progress")
            }
        } while self.outgoing[stream] != nil
        self.lastStream = stream
        var settings = self.settings
        if let rate = self.rate { settings.chunkBytes = rate.limit.chunkBytes }
        let connection = self.connection
        var offer = opened.offer
        let frame = self.outgoingWholes < WholeFile.maximumConcurrent ? opened.frame?.take(for: stream) : nil
        if frame == nil { offer.wholeHash = nil } else { self.outgoingWholes += 1 }
        let isWhole = frame != nil
        let transfer = OutgoingTransfer(
            file: opened.file, machine: TransferSender(offer, stream: stream, settings: settings), rate: self.rate,
            eventLoop: self.eventLoop, readsAhead: { [weak self] in self.map { $0.outgoing.count <= Self.maximumReadAhead } ?? false },
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

    /// Writes the pending offers of whole files together.
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

    func receivedPart(_ part: FramePart<FrameHead>) {
        switch part {
        case .head(let head):
            self.dataStream = head.stream
            // A data frame with a body contains a chunk, which is handled at the end of the frame.
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
        if let transfer = self.outgoing[head.stream] { return transfer.receivedHead(head, at: self.now) }
        if let transfer = self.incoming[head.stream] { return transfer.receivedHead(head, at: self.now) }
        // Other frames belong to a transfer that has already ended.
        guard head.type == .offer else { return }
        guard let receiving = self.receiving else {
            return self.refuse(TransferError(.notSupported, message: "this peer does not accept files"), head.stream)
        }
        guard (head.stream & 1 == 1) != self.isClient else {
            let message = "the peer opened stream \(head.stream), whose number is reserved for this side"
            return self.refuse(TransferError(.protocolViolation, message: message), head.stream)
        }
        do throws(TransferError) {
            // The leases also count transfers, for all connections, but only after an access to the
            // disk.
            let isWhole = head.header["sha256"] != nil
            let count = isWhole ? self.incomingWholes : self.incoming.count - self.incomingWholes
            let maximum = isWhole ? WholeFile.maximumConcurrent : receiving.folder.limits.transfersOfSession
            guard count < maximum else {
                throw TransferError(.quota, message: "the connection has reached the maximum of \(maximum) transfers in progress")
            }
            let offer = try TransferOffer(head.header)
            guard head.bodyLength == offer.bodyLength else {
                throw TransferError(
                    .protocolViolation, message: "the body of an offer must contain the file if the offer has a `sha256`, else be empty")
            }
            let stream = head.stream
            guard let connection = self.connection else { return }
            if let error = receiving.refuses(connection, offer.name, offer.size) { return self.refuse(error, stream) }
            guard receiving.allowsHiddenNames || !offer.name.isHidden else {
                throw TransferError(.nameRefused, message: "the file name is refused: a component begins with a dot")
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

    /// Pauses reading when the disk is slower than the windows of several transfers.
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

    // MARK: Time and closing

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
    /// Encodes a head created by this side. It is small and contains only text and numbers, so that
    /// encoding never fails.
    static func of(_ head: FrameHead) -> [ByteBuffer] {
        var buffer = ByteBuffer()
        try? head.write(into: &buffer)
        return [buffer]
    }
}
