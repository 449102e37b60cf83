import ApusFramedProtocol
import NIOCore

private let bound = 1 << 10

/// Decodes any bytes with each framing: no trap, no frame above the bound, a bounded buffer, frames
/// that do not depend on the pieces, and no frame after an error. Decoded frames survive a round
/// trip.
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

/// Returns the decoded parts, and whether the decoder failed.
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
            precondition((try? decoder.decode(buffer: &pending)) == nil, "a part after an error")
            return (parts, true)
        }
        pending.discardReadBytes()
        precondition(pending.readableBytes <= keeps, "the buffer exceeds a frame")
    }
    return (parts, false)
}

/// Checks the order and sizes of the parts, and returns the frames with joined bodies.
private func frames<Head>(_ parts: [FramePart<Head>], length: (Head) -> Int) -> [(head: Head, body: ByteBuffer, isWhole: Bool)] {
    var frames: [(head: Head, body: ByteBuffer, isWhole: Bool)] = []
    for part in parts {
        switch part {
        case .head(let head):
            precondition(frames.last?.isWhole ?? true, "a frame within another")
            precondition(length(head) <= bound, "a body above the bound")
            frames.append((head, ByteBuffer(), false))
        case .body(let piece):
            precondition(piece.readableBytes > 0 && frames.last?.isWhole == false, "a piece outside a frame")
            frames[frames.count - 1].body.writeImmutableBuffer(piece)
        case .end:
            guard let last = frames.last else { preconditionFailure("an end outside a frame") }
            precondition(!last.isWhole && last.body.readableBytes == length(last.head), "a body differs from the announced length")
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
    precondition(hasFailed == whole.hasFailed && found.count == others.count, "the result depends on the pieces")
    for (frame, other) in zip(found, others) { precondition(frame.head == other.head && frame.body == other.body) }
    for frame in found {
        // The encoding may be longer than the input, for example because of escapes and numbers.
        guard let bytes = try? frame.head.encoded(headerLength: FramedLimits.highestHeaderBytes) else {
            preconditionFailure("a decoded frame cannot be encoded")
        }
        guard let decoder = try? FixedHeaderDecoder(headerLength: FramedLimits.highestHeaderBytes) else { preconditionFailure() }
        precondition(
            decode(bytes, decoder, step: .max, keeps: 0).parts.first == .head(frame.head), "the round trip changed a header")
    }
}

private func fuzzVersion2(_ input: ByteBuffer, step: Int) {
    var limits = FramedLimits(maximumBodyBytes: bound)
    limits.maximumHeaderBytes = 256
    let (parts, hasFailed) = decode(input, FrameDecoder(limits: limits), step: step, keeps: 256)
    let found = frames(parts, length: \.bodyLength)
    let whole = decode(input, FrameDecoder(limits: limits), step: .max, keeps: 256)
    let others = frames(whole.parts, length: \.bodyLength)
    precondition(hasFailed == whole.hasFailed && found.count == others.count, "the result depends on the pieces")
    for (frame, other) in zip(found, others) { precondition(frame.head == other.head && frame.body == other.body) }
    var again = ByteBuffer()
    let finished = found.filter(\.isWhole)
    for frame in finished {
        guard (try? frame.head.write(into: &again)) != nil else { preconditionFailure("a decoded frame cannot be encoded") }
        again.writeImmutableBuffer(frame.body)
    }
    let second = frames(decode(again, FrameDecoder(), step: .max, keeps: 0).parts, length: \.bodyLength)
    precondition(second.count == finished.count, "the round trip lost a frame")
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
    precondition(found.parts == whole.parts && found.hasFailed == whole.hasFailed, "the result depends on the pieces")
    var again = ByteBuffer()
    for frame in found.parts {
        precondition(frame.readableBytes <= bound, "a frame above the bound")
        guard (try? LengthPrefixedEncoder(prefix: prefixes[choice]).encode(data: frame, out: &again)) != nil else {
            preconditionFailure("a decoded frame cannot be encoded")
        }
    }
    precondition(decode(again, decoder, step: .max, keeps: 0).parts == found.parts, "the round trip changed a frame")
}

/// The first byte is the length of the delimiter that follows it.
private func fuzzDelimited(_ input: ByteBuffer, step: Int) {
    var input = input
    guard let length = input.readInteger(as: UInt8.self),
        let bytes = input.readBytes(length: min(Int(length & 7) + 1, input.readableBytes)),
        let delimiter = try? Delimiter(bytes)
    else { return }
    let decoder = DelimiterDecoder(delimiter: delimiter, maximumFrameBytes: bound)
    let found = decode(input, decoder, step: step, keeps: bound + 8)
    let whole = decode(input, decoder, step: .max, keeps: bound + 8)
    precondition(found.parts == whole.parts && found.hasFailed == whole.hasFailed, "the result depends on the pieces")
    var again = ByteBuffer()
    for frame in found.parts {
        precondition(frame.readableBytes <= bound, "a frame above the bound")
        guard (try? DelimiterEncoder(delimiter: delimiter).encode(data: frame, out: &again)) != nil else {
            preconditionFailure("a decoded frame cannot be encoded")
        }
    }
    precondition(decode(again, decoder, step: .max, keeps: 0).parts == found.parts, "the round trip changed a frame")
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
