import ApusWebSocketProtocol
import NIOCore

private let bound = 1 << 16

/// Inflates any bytes: no trap, no output above the bound, and a result that does not depend on the
/// pieces. Also checks that deflated bytes inflate to the same bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDeflate(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    guard bytes.count >= 2 else { return 0 }
    let ours = agreement(windowBits: 8 + Int(bytes[0] & 7), level: Int(bytes[0] >> 4) % 10)
    let step = Int(bytes[1] & 63) + 1
    let input = ByteBuffer(bytes: bytes.dropFirst(2))
    // The largest window only: whether zlib detects a reference beyond a smaller window depends on
    // the pieces.
    let largest = agreement(windowBits: 15, level: 6)
    precondition(inflated(input, largest, step: .max) == inflated(input, largest, step: step), "the result depends on the pieces")
    checkRoundTrip(input, ours, step: step)
    return 0
}

private func agreement(windowBits: Int, level: Int) -> WebSocketDeflateAgreement {
    var parameters = WebSocketDeflateParameters()
    parameters.serverMaximumWindowBits = windowBits
    parameters.clientMaximumWindowBits = .atMost(windowBits)
    var configuration = WebSocketDeflateConfiguration()
    configuration.compressionLevel = level
    return WebSocketDeflateAgreement(role: .server, parameters: parameters, configuration: configuration)
}

/// Inflates the data twice, as two messages of one context; `nil` for an error.
private func inflated(_ input: ByteBuffer, _ agreement: WebSocketDeflateAgreement, step: Int) -> [ByteBuffer]? {
    guard let inflater = try? WebSocketInflater(agreement) else { preconditionFailure("no inflater") }
    var outputs: [ByteBuffer] = []
    for _ in 0..<2 {
        var output = ByteBuffer()
        var rest = input
        do {
            while rest.readableBytes > step, let piece = rest.readSlice(length: step) {
                try inflater.inflate(piece, isLast: false, into: &output, maximumBytes: bound)
                precondition(output.readableBytes <= bound, "above the bound")
            }
            try inflater.inflate(rest, isLast: true, into: &output, maximumBytes: bound)
        } catch {
            precondition(output.readableBytes <= bound, "above the bound")
            return nil
        }
        outputs.append(output)
    }
    return outputs
}

private func checkRoundTrip(_ input: ByteBuffer, _ agreement: WebSocketDeflateAgreement, step: Int) {
    guard let deflater = try? WebSocketDeflater(agreement), let inflater = try? WebSocketInflater(agreement) else {
        preconditionFailure("no compression")
    }
    for _ in 0..<2 {
        var compressed = ByteBuffer()
        var output = ByteBuffer()
        var rest = input
        do {
            while rest.readableBytes > step &* 16, let piece = rest.readSlice(length: step &* 16) {
                try deflater.deflate(piece, isLast: false, into: &compressed)
            }
            try deflater.deflate(rest, isLast: true, into: &compressed)
            while compressed.readableBytes > step, let piece = compressed.readSlice(length: step) {
                try inflater.inflate(piece, isLast: false, into: &output, maximumBytes: input.readableBytes)
            }
            try inflater.inflate(compressed, isLast: true, into: &output, maximumBytes: input.readableBytes)
        } catch {
            preconditionFailure("deflated data cannot be inflated: \(error)")
        }
        precondition(output == input, "the round trip changed the bytes")
    }
}
