import ApusWebSocketProtocol
import NIOCore

/// Any bytes, whole and cut anywhere: no trap, no message above the bound, and the same outcome.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocket(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    guard let control = bytes.first else { return 0 }
    let input = ByteBuffer(bytes: bytes.dropFirst())
    let role: WebSocketRole = control & 1 == 0 ? .server : .client
    let step = Int(control >> 1 & 15) + 1
    precondition(outcome(of: input, role: role, step: .max) == outcome(of: input, role: role, step: step))
    return 0
}

private let bound = 1 << 10

private func outcome(of input: ByteBuffer, role: WebSocketRole, step: Int) -> [WebSocketConnectionStateMachine.FrameAction] {
    var limits = WebSocketLimits(maximumMessageBytes: bound)
    limits.maximumFragments = 8
    var decoder = WebSocketFrameDecoder(role: role, limits: limits)
    var machine = WebSocketConnectionStateMachine()
    var input = input
    var pending = ByteBuffer()
    var actions: [WebSocketConnectionStateMachine.FrameAction] = []
    while let piece = input.readSlice(length: min(step, input.readableBytes)), piece.readableBytes > 0 {
        pending.writeImmutableBuffer(piece)
        var frames: [WebSocketFrame] = []
        let failure = decoder.decode(&pending, into: &frames)
        for frame in frames {
            let action = machine.receivedFrame(frame)
            if case .deliver(let message) = action { precondition(message.payload.readableBytes <= bound) }
            actions.append(action)
        }
        if let failure { actions.append(machine.decoderFailed(failure)) }
        precondition(pending.readableBytes <= bound + 14)
    }
    _ = machine.transportClosed()
    return actions.filter { $0 != .doNothing }
}
