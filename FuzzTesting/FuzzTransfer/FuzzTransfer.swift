import ApusFramedProtocol
import ApusJSON
import NIOCore

/// Uses any bytes as names, chunks and messages of the other side of a transfer: no trap, no ack
/// for data that is not synced, no chunk beyond the window, no write beyond the end, and one end
/// per transfer with no action after it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTransfer(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard count >= 1, let start else { return 0 }
    var input = ByteBuffer(bytes: UnsafeBufferPointer(start: start, count: count).dropFirst())
    switch start[0] % 5 {
    case 0: fuzzName(input)
    case 1: fuzzChunk(input)
    case 2: fuzzReceiver(&input)
    case 3: fuzzSender(&input)
    default: fuzzLeases(&input)
    }
    return 0
}

// MARK: Names and chunks

private func fuzzName(_ input: ByteBuffer) {
    let text = String(buffer: input)
    guard let name = try? SafeFileName(text) else { return }
    precondition(!name.components.isEmpty && name.components.count <= SafeFileName.maximumComponents)
    for component in name.components {
        precondition(
            !component.isEmpty && component != "." && component != ".." && component.utf8.count <= SafeFileName.maximumComponentBytes)
        precondition(!component.utf8.contains { $0 == 0x2F || $0 == 0x5C || $0 < 0x20 || $0 == 0x7F }, "a separator or control character")
        precondition(!component.hasPrefix(".apus-"), "the name of an unfinished file")
    }
    guard let again = try? SafeFileName(name.description) else { preconditionFailure("a safe name is rejected") }
    precondition(again == name, "one file has two names")
}

private func fuzzChunk(_ input: ByteBuffer) {
    func gather(step: Int) -> (TransferChunk.Received?, hasFailed: Bool) {
        var (gatherer, rest) = (TransferChunk.Assembler(), input)
        do {
            while let piece = rest.readSlice(length: min(step, rest.readableBytes)), piece.readableBytes > 0 {
                try gatherer.receivedPiece(piece)
            }
            return (gatherer.isUsed ? try gatherer.ended() : nil, false)
        } catch {
            return (nil, true)
        }
    }
    func bytes(_ chunk: TransferChunk.Received?) -> [UInt8]? { chunk.map { $0.pieces.flatMap { Array(buffer: $0) } } }
    let (whole, hasFailed) = gather(step: .max)
    let (cut, cutHasFailed) = gather(step: 1 + input.readableBytes % 7)
    precondition(
        hasFailed == cutHasFailed && whole?.offset == cut?.offset && whole?.isIntact == cut?.isIntact && bytes(whole) == bytes(cut))
    precondition((whole?.count ?? 0) == (bytes(whole)?.count ?? 0) && (whole?.offset ?? 0) >= 0)
}

// MARK: Messages of the other side

/// Reads the head of a frame from the input: its type, and the length and text of its header.
private func head(_ input: inout ByteBuffer) -> FrameHead? {
    guard let type = input.readInteger(as: UInt8.self), let length = input.readInteger(as: UInt8.self),
        let text = input.readSlice(length: min(Int(length), input.readableBytes))
    else { return nil }
    var wire = ByteBuffer()
    wire.writeMultipleIntegers(type % 14, UInt8(0), UInt16(3), UInt32(text.readableBytes), UInt64(0))
    wire.writeImmutableBuffer(text)
    var decoder = FrameDecoder()
    guard case .head(let head)? = try? decoder.decode(buffer: &wire) else { return nil }
    _ = TransferError(receiving: head.header)
    if let offer = try? TransferOffer(head.header) {
        precondition(offer.size >= 0 && offer.head(stream: 3).header["id"]?.stringValue == offer.id)
        guard let again = try? TransferOffer(offer.head(stream: 3).header) else { preconditionFailure("an offer cannot be decoded") }
        precondition(again == offer)
    }
    return head
}

private func settings() -> TransferSettings {
    var settings = TransferSettings()
    settings.window = 1000
    settings.maximumResends = 3
    return settings
}

private func offer(_ size: Int, isWhole: Bool) -> TransferOffer {
    let hash = isWhole ? String(repeating: "a", count: 64) : nil
    guard let name = try? SafeFileName("a"), let offer = try? TransferOffer(id: "x", name: name, size: size, wholeHash: hash) else {
        preconditionFailure()
    }
    return offer
}

/// Reads a number: usually a small one, or one of the extremes of `Int`.
private func number(_ input: inout ByteBuffer) -> Int? {
    guard let byte = input.readInteger(as: UInt8.self) else { return nil }
    switch byte {
    case 255: return input.readInteger(as: Int.self)
    case 254: return .max
    case 253: return .min
    default: return Int(byte) * 16
    }
}

private func fuzzReceiver(_ input: inout ByteBuffer) {
    guard let size = number(&input), size >= 0 else { return }
    var wanted: [Int] = []
    let isWhole = size <= WholeFile.maximumBytes && input.readableBytes % 2 == 0
    var receiver = TransferReceiver(offer(size, isWhole: isWhole), stream: 3, settings: settings())
    var now = Duration.zero
    var (written, synced, acknowledged, ends) = (0, 0, 0, 0)

    func perform(_ actions: [TransferReceiver.Action]) {
        for action in actions {
            precondition(ends == 0, "an action after the end")
            switch action {
            case .send(let head):
                guard head.type == .ack, case .integer(let offset)? = head.header["offset"] else { continue }
                acknowledged = Int(offset)
                precondition(acknowledged <= synced, "acknowledged before the sync")
            case .sync(let offset):
                precondition(offset <= written, "synced before the write")
                wanted.append(offset)
            case .end: ends += 1
            default: break
            }
        }
    }

    perform(receiver.start(at: now))
    for _ in 0..<500 {
        guard let choice = input.readInteger(as: UInt8.self) else { break }
        switch choice % 8 {
        case 0, 1:
            guard let head = head(&input) else { return }
            perform(receiver.receivedHead(head, at: now))
        case 2, 3:
            guard let offset = choice & 64 == 0 ? written : number(&input), let count = number(&input) else { return }
            switch receiver.receivedChunk(offset: offset, count: count, isIntact: choice & 128 == 0, at: now) {
            case .write:
                precondition(offset == written && count > 0 && count <= size - written, "a write at another offset than the end")
                written += count
                perform(receiver.written(upTo: written))
            case .take:
                precondition(isWhole && offset == 0 && count == size, "an incomplete file was taken")
                perform(choice & 32 == 0 ? receiver.finished(isEqual: choice & 16 == 0) : receiver.declined(at: now))
            case .drop(let actions): perform(actions)
            }
        case 4:
            guard !wanted.isEmpty else { continue }
            synced = max(synced, wanted.removeFirst())
            perform(receiver.synced(upTo: synced, at: now))
        case 5:
            now += .seconds(Int(choice >> 3))
            perform(receiver.ticked(at: now))
        case 6:
            let actions: [TransferReceiver.Action]
            if choice & 64 == 0 {
                guard let offset = number(&input) else { return }
                actions = receiver.prepared(upTo: offset, at: now)
            } else {
                actions = receiver.compared(isEqual: choice & 128 == 0, at: now)
            }
            guard case .send(let head)? = actions.first, case .integer(let start)? = head.header["offset"] else { continue }
            precondition(start >= 0 && start <= size)
            precondition(head.header["sha256"] == nil, "the message contains a hash")
            (written, synced, acknowledged) = (Int(start), Int(start), Int(start))
            wanted = []
            perform(actions)
        default:
            switch choice >> 6 {
            case 0: perform(receiver.cancel(at: now))
            case 1: perform(receiver.connectionEnded())
            case 2: perform(receiver.fail(TransferError(.diskFull, message: "full")))
            default: perform(receiver.receivedNoChunk(TransferError(.protocolViolation, message: "none")))
            }
        }
        precondition(receiver.hasEnded == (ends == 1))
    }
}

private func fuzzSender(_ input: inout ByteBuffer) {
    guard let size = number(&input), size >= 0 else { return }
    let isWhole = size <= WholeFile.maximumBytes && input.readableBytes % 2 == 0
    var sender = TransferSender(offer(size, isWhole: isWhole), stream: 3, settings: settings())
    var now = Duration.zero
    var (durable, ends) = (0, 0)

    func perform(_ actions: [TransferSender.Action]) {
        for action in actions {
            precondition(ends == 0, "an action after the end")
            switch action {
            case .progress(let offset):
                precondition(offset >= 0 && offset <= size)
                durable = offset
            case .hashPrefix(let length): precondition(length > 0 && length <= size)
            case .send: break
            case .end: ends += 1
            }
        }
    }

    if isWhole { sender.startWhole(at: now) } else { perform(sender.start(at: now)) }
    for _ in 0..<500 {
        guard let choice = input.readInteger(as: UInt8.self) else { break }
        switch choice % 8 {
        case 0, 1, 2:
            guard let head = head(&input) else { return }
            perform(sender.receivedHead(head, at: now))
        case 3, 4:
            switch sender.next() {
            case .chunk(let offset, let count):
                precondition(
                    count > 0 && offset >= durable && offset - durable + count <= 1000 && count <= size - offset, "beyond the window")
            case .hash: perform(sender.hashed("ab", at: now))
            case .wait: break
            }
        case 5:
            now += .seconds(Int(choice >> 3))
            perform(sender.ticked(at: now))
        case 6: perform(sender.prefixHashed(String(repeating: "a", count: 64), at: now))
        default:
            switch choice >> 6 {
            case 0: perform(sender.cancel(at: now))
            case 1: perform(sender.connectionEnded())
            case 2: perform(sender.sourceFailed(TransferError(.source, message: "gone")))
            default: break
            }
        }
        precondition(sender.hasEnded == (ends == 1))
        if sender.hasEnded { precondition(sender.next() == .wait) }
    }
}

// MARK: Leases

private func fuzzLeases(_ input: inout ByteBuffer) {
    var limits = TransferLimits()
    limits.transfersOfSession = 3
    limits.sessionBytes = 10_000
    limits.totalBytes = 20_000
    limits.reservedBytes = 100
    var leases = FolderLeases(limits: limits)
    var held: Set<String> = []
    for _ in 0..<200 {
        guard let choice = input.readInteger(as: UInt8.self), let owner = input.readInteger(as: UInt8.self) else { return }
        let id = "\(owner & 7)"
        switch choice % 4 {
        case 0, 1:
            guard let size = number(&input), let existing = number(&input), let free = number(&input), size >= 0,
                let name = try? SafeFileName("a"), let offer = try? TransferOffer(id: id, name: name, size: size)
            else { return }
            guard (try? leases.admit(offer, session: UInt64(owner >> 6), existing: existing, stored: Int(choice), free: free)) != nil else {
                continue
            }
            precondition(held.insert(offer.partName).inserted, "two writers of one upload")
            precondition(size <= 10_000)
        case 2:
            guard let count = number(&input) else { return }
            leases.wrote(count, of: TransferOffer.partName(id: id))
        default:
            leases.released(TransferOffer.partName(id: id))
            held.remove(TransferOffer.partName(id: id))
            if choice & 4 == 4 { leases.sessionEnded(UInt64(owner >> 6)) }
        }
        precondition(leases.leaseCount == held.count && held.count <= 12)
    }
}
