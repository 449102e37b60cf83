import ApusWebSocketProtocol
import NIOCore

private let bound = 1 << 10

/// Decodes any bytes as frames in both roles: no trap, no payload above the bound, and a bounded
/// buffer between two reads. Decoded frames survive a round trip.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocket(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    guard let control = bytes.first else { return 0 }
    let role: WebSocketRole = control & 1 == 0 ? .server : .client
    let step = control & 2 == 0 ? Int.max : Int(control >> 2 & 15) + 1
    let (frames, failure) = decode(ByteBuffer(bytes: bytes.dropFirst()), role: role, step: step)

    // A piece of a frame is encoded as a complete frame.
    let whole = frames.map { WebSocketFrame(isFinal: $0.isFinal, reserved: $0.reserved, opcode: $0.opcode, payload: $0.payload) }
    var again = ByteBuffer()
    for frame in whole {
        let key = role == .server ? WebSocketMaskingKey(word: UInt32(control) &* 0x0101_0305) : nil
        WebSocketFrameEncoder.write(frame, maskingKey: key, into: &again)
    }
    let second = decode(again, role: role, step: .max)
    if failure == nil, frames.count < 8 { precondition(second.failure == nil, "a decoded frame cannot be decoded again") }
    precondition(failure != nil || frames.count >= 8 || second.frames == whole, "the round trip changed a frame")
    return 0
}

private func decode(_ input: ByteBuffer, role: WebSocketRole, step: Int) -> (frames: [WebSocketFrame], failure: WebSocketError?) {
    var limits = WebSocketLimits(maximumMessageBytes: bound)
    limits.maximumFragments = 8
    var decoder = WebSocketFrameDecoder(role: role, limits: limits, allowedReservedBits: .rsv1)
    var frames: [WebSocketFrame] = []
    var failure: WebSocketError?
    var input = input
    var pending = ByteBuffer()
    while let piece = input.readSlice(length: min(step, input.readableBytes)), piece.readableBytes > 0 {
        pending.writeImmutableBuffer(piece)
        let before = frames.count
        let result = decoder.decode(&pending, into: &frames)
        pending.discardReadBytes()
        precondition(failure == nil || (result == nil && frames.count == before), "a frame after an error")
        failure = failure ?? result
        precondition(pending.readableBytes <= 130, "the buffer exceeds a header or control frame")
    }
    for frame in frames { precondition(frame.payload.readableBytes <= bound, "a payload above the bound") }
    return (frames, failure)
}
