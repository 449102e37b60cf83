import ApusWebSocketProtocol
import NIOCore

private typealias Action = WebSocketConnectionStateMachine.FrameAction

private let bound = 1 << 10

/// Passes any bytes through decoder and state machine, with and without compression: no trap, no
/// message above the bound, valid UTF-8 in texts, no action after the end, and a result that does
/// not depend on the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocketMessage(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    guard let control = bytes.first else { return 0 }
    let input = ByteBuffer(bytes: bytes.dropFirst())
    let role: WebSocketRole = control & 1 == 0 ? .server : .client
    let deflate = control & 2 == 0 ? nil : agreement(takesContextOver: control & 4 == 0)
    let step = Int(control >> 3) + 1
    let whole = outcome(of: input, role: role, deflate: deflate, step: .max)
    let cut = outcome(of: input, role: role, deflate: deflate, step: step)
    precondition(whole == cut, "the result depends on the pieces")
    return 0
}

private func agreement(takesContextOver: Bool) -> WebSocketDeflateAgreement {
    var parameters = WebSocketDeflateParameters()
    parameters.clientNoContextTakeover = !takesContextOver
    parameters.serverNoContextTakeover = !takesContextOver
    return WebSocketDeflateAgreement(role: .server, parameters: parameters, configuration: WebSocketDeflateConfiguration())
}

private func outcome(of input: ByteBuffer, role: WebSocketRole, deflate: WebSocketDeflateAgreement?, step: Int) -> [Action] {
    var limits = WebSocketLimits(maximumMessageBytes: bound)
    limits.maximumFragments = 8
    var decoder = WebSocketFrameDecoder(role: role, limits: limits, allowedReservedBits: deflate == nil ? [] : .rsv1)
    var machine = WebSocketConnectionStateMachine(limits: limits, deflate: deflate)
    var input = input
    var pending = ByteBuffer()
    var actions: [Action] = []
    while let piece = input.readSlice(length: min(step, input.readableBytes)), piece.readableBytes > 0 {
        pending.writeImmutableBuffer(piece)
        var space = DecodeScratch()
        let failure = decoder.decode(&pending, using: &space)
        pending.discardReadBytes()
        var frames = space.takeBatch()
        while let frame = frames.next() {
            let wasFinished = machine.isFinished
            let action = machine.receivedFrame(frame, isASCII: frames.isASCII)
            precondition(!wasFinished || action == .doNothing, "an action after the end")
            actions.append(checked(action, isCompressed: deflate != nil))
        }
        if let failure { actions.append(checked(machine.decoderFailed(failure), isCompressed: deflate != nil)) }
    }
    _ = machine.transportClosed()
    return actions.filter { $0 != .doNothing }
}

private func checked(_ action: Action, isCompressed: Bool) -> Action {
    switch action {
    case .deliver(let message):
        precondition(message.payload.readableBytes <= bound, "a message above the bound")
        if message.kind == .text {
            precondition(String(validating: message.payload.readableBytesView, as: UTF8.self) != nil, "a text that is not UTF-8")
        }
        return action
    case .fail(_, let sendClose) where isCompressed:
        // The pieces determine which of two errors in a compressed message is found first.
        return .fail(WebSocketError(.invalidCompression, message: ""), sendClose: sendClose)
    default:
        return action
    }
}
