import ApusFramedProtocol
import NIOCore

/// Decodes bytes that arrive `step` at a time, followed by the end of the stream.
func decodeAll<Decoder: NIOSingleStepByteToMessageDecoder>(
    _ bytes: [UInt8], with decoder: Decoder, step: Int = .max, ends: Bool = true
) -> (parts: [Decoder.InboundOut], error: FramedError?) {
    var decoder = decoder
    var input = ByteBuffer(bytes: bytes)
    var pending = ByteBuffer()
    var parts: [Decoder.InboundOut] = []
    do {
        while let piece = input.readSlice(length: min(step, input.readableBytes)), piece.readableBytes > 0 {
            pending.writeImmutableBuffer(piece)
            while let part = try decoder.decode(buffer: &pending) { parts.append(part) }
            pending.discardReadBytes()
        }
        while let part = try decoder.decodeLast(buffer: &pending, seenEOF: ends) { parts.append(part) }
        return (parts, nil)
    } catch {
        return (parts, error as? FramedError)
    }
}

/// Returns the same frames with the pieces of each body joined.
func joined<Head>(_ parts: [FramePart<Head>]) -> [FramePart<Head>] {
    var joined: [FramePart<Head>] = []
    for part in parts {
        if case .body(let more) = part, case .body(var bytes)? = joined.last {
            bytes.writeImmutableBuffer(more)
            joined[joined.count - 1] = .body(bytes)
        } else {
            joined.append(part)
        }
    }
    return joined
}

/// Returns the code of the thrown ``FramedError``, or `nil` for no error or another one.
func code(_ body: () throws -> Void) -> FramedError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? FramedError)?.code
    }
}

let steps = [1, 2, 3, 7, 64, Int.max]
