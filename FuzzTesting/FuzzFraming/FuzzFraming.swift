import ApusFramedProtocol
import NIOCore

private let bound = 1 << 10

/// Any bytes as frames of each framing: no trap, no frame above the bound, little kept, the same frames however the bytes are cut, nothing
/// after an error, and what is decoded is encoded and decoded again as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFraming(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    guard count >= 2 else { return 0 }
    let step = Int(bytes[1] & 31) + 1
    let input = ByteBuffer(bytes: bytes.dropFirst(2))
    switch bytes[0] % 5 {
    case 0: fuzzFixedHeader(input, headerLength: 16 + Int(bytes[1] >> 5) * 12, step: step)
    case 1: fuzzVersion2(input, step: step)
    case 2: fuzzPrefixed(input, choice: Int(bytes[1] >> 5), step: step)
    case 3: fuzzDelimited(input, step: step)
    default: fuzzPreface(input)
    }
    return 0
}

/// What comes out, and whether it ended in an error.
private func decode<Decoder: NIOSingleStepByteToMessageDecoder>(
    _ input: ByteBuffer, _ decoder: Decoder, step: Int, keeps: Int
) -> (parts: [Decoder.InboundOut], hasFailed: Bool) {
    var (decoder, input, pending) = (decoder, input, ByteBuffer())
    var parts: [Decoder.InboundOut] = []
    while let piece = input.readSlice(length: min(step, input.readableBytes)), piece.readableBytes > 0 {
        pending.writeImmutableBuffer(piece)
        do {
            while let part = try decoder.decode(buffer: &pending) { parts.append(part) }
        } catch {
            pending = ByteBuffer(bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
            precondition((try? decoder.decode(buffer: &pending)) == nil, "something came after an error")
            return (parts, true)
        }
        pending.discardReadBytes()
        precondition(pending.readableBytes <= keeps, "more is kept than a frame can be")
    }
    return (parts, false)
}

/// The bodies of the frames, joined, after a look at their order and sizes.
private func frames<Head>(_ parts: [FramePart<Head>], length: (Head) -> Int) -> [(head: Head, body: ByteBuffer, isWhole: Bool)] {
    var frames: [(head: Head, body: ByteBuffer, isWhole: Bool)] = []
    for part in parts {
        switch part {
        case .head(let head):
            precondition(frames.last?.isWhole ?? true, "a frame within another")
            precondition(length(head) <= bound, "a body above the bound")
            frames.append((head, ByteBuffer(), false))
        case .body(let piece):
            precondition(piece.readableBytes > 0 && frames.last?.isWhole == false, "a piece of no frame")
            frames[frames.count - 1].body.writeImmutableBuffer(piece)
        case .end:
            guard let last = frames.last else { preconditionFailure("the end of no frame") }
            precondition(!last.isWhole && last.body.readableBytes == length(last.head), "a body of another length than announced")
            frames[frames.count - 1].isWhole = true
        }
    }
    return frames
}

private func fuzzFixedHeader(_ input: ByteBuffer, headerLength: Int, step: Int) {
    guard let decoder = try? FixedHeaderDecoder(headerLength: headerLength, limits: FramedLimits(maximumBodyBytes: bound)) else {
        preconditionFailure("\(headerLength)")
    }
    let (parts, hasFailed) = decode(input, decoder, step: step, keeps: headerLength)
    let whole = decode(input, decoder, step: .max, keeps: headerLength)
    let found = frames(parts, length: \.bodyLength)
    let others = frames(whole.parts, length: \.bodyLength)
    precondition(hasFailed == whole.hasFailed && found.count == others.count, "the cuts change what is decoded")
    for (frame, other) in zip(found, others) { precondition(frame.head == other.head && frame.body == other.body) }
    for frame in found {
        // It may take more room than before: an escape, a number.
        guard let bytes = try? frame.head.encoded(headerLength: FramedLimits.highestHeaderBytes) else {
            preconditionFailure("what was decoded cannot be encoded")
        }
        guard let decoder = try? FixedHeaderDecoder(headerLength: FramedLimits.highestHeaderBytes) else { preconditionFailure() }
        precondition(
            decode(bytes, decoder, step: .max, keeps: 0).parts.first == .head(frame.head), "a header changed on its way")
    }
}

private func fuzzVersion2(_ input: ByteBuffer, step: Int) {
    var limits = FramedLimits(maximumBodyBytes: bound)
    limits.maximumHeaderBytes = 256
    let (parts, hasFailed) = decode(input, FrameDecoder(limits: limits), step: step, keeps: 256)
    let found = frames(parts, length: \.bodyLength)
    let whole = decode(input, FrameDecoder(limits: limits), step: .max, keeps: 256)
    let others = frames(whole.parts, length: \.bodyLength)
    precondition(hasFailed == whole.hasFailed && found.count == others.count, "the cuts change what is decoded")
    for (frame, other) in zip(found, others) { precondition(frame.head == other.head && frame.body == other.body) }
    var again = ByteBuffer()
    let finished = found.filter(\.isWhole)
    for frame in finished {
        guard (try? frame.head.write(into: &again)) != nil else { preconditionFailure("what was decoded cannot be encoded") }
        again.writeImmutableBuffer(frame.body)
    }
    let second = frames(decode(again, FrameDecoder(), step: .max, keeps: 0).parts, length: \.bodyLength)
    precondition(second.count == finished.count, "a frame was lost on its way")
    for (frame, other) in zip(finished, second) { precondition(frame.head == other.head && frame.body == other.body, "a frame changed") }
}

private func fuzzPrefixed(_ input: ByteBuffer, choice: Int, step: Int) {
    let prefixes: [LengthPrefix] = [
        .uint8, .uint16(), .uint32(.little), .uint64(), .varint, .uint16(.little).countingItself(), .uint64(.little).countingItself(),
        .varint.countingItself(),
    ]
    let decoder = LengthPrefixedDecoder(prefix: prefixes[choice], maximumFrameBytes: bound)
    let found = decode(input, decoder, step: step, keeps: bound + 10)
    let whole = decode(input, decoder, step: .max, keeps: bound + 10)
    precondition(found.parts == whole.parts && found.hasFailed == whole.hasFailed, "the cuts change what is decoded")
    var again = ByteBuffer()
    for frame in found.parts {
        precondition(frame.readableBytes <= bound, "a frame above the bound")
        guard (try? LengthPrefixedEncoder(prefix: prefixes[choice]).encode(data: frame, out: &again)) != nil else {
            preconditionFailure("what was decoded cannot be encoded")
        }
    }
    precondition(decode(again, decoder, step: .max, keeps: 0).parts == found.parts, "a frame changed on its way")
}

/// The first byte says how long the delimiter is that follows it.
private func fuzzDelimited(_ input: ByteBuffer, step: Int) {
    var input = input
    guard let length = input.readInteger(as: UInt8.self),
        let bytes = input.readBytes(length: min(Int(length & 7) + 1, input.readableBytes)),
        let delimiter = try? Delimiter(bytes)
    else { return }
    let decoder = DelimiterDecoder(delimiter: delimiter, maximumFrameBytes: bound)
    let found = decode(input, decoder, step: step, keeps: bound + 8)
    let whole = decode(input, decoder, step: .max, keeps: bound + 8)
    precondition(found.parts == whole.parts && found.hasFailed == whole.hasFailed, "the cuts change what is decoded")
    var again = ByteBuffer()
    for frame in found.parts {
        precondition(frame.readableBytes <= bound, "a frame above the bound")
        guard (try? DelimiterEncoder(delimiter: delimiter).encode(data: frame, out: &again)) != nil else {
            preconditionFailure("what was decoded cannot be encoded")
        }
    }
    precondition(decode(again, decoder, step: .max, keeps: 0).parts == found.parts, "a frame changed on its way")
}

private func fuzzPreface(_ input: ByteBuffer) {
    for allowsFixedHeader in [false, true] {
        var buffer = input
        guard let verdict = try? FramePreface.read(&buffer, allowsFixedHeader: allowsFixedHeader) else { continue }
        switch verdict {
        case .needsMore: precondition(buffer == input && input.readableBytes < 8)
        case .version2: precondition(input.readableBytes - buffer.readableBytes == 8)
        case .fixedHeader: precondition(allowsFixedHeader && buffer == input)
        }
    }
}
