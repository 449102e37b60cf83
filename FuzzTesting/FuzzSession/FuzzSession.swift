import ApusFramedProtocol
import ApusJSON
import NIOCore

private let bound = 1 << 12

/// Passes any bytes to a client and a server of every framing: no trap, messages in order and of
/// the announced length, no action after the end, a bounded buffer, and a result that does not
/// depend on the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSession(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    guard count >= 2 else { return 0 }
    let step = Int(bytes[1]) + 1
    let isClient = bytes[0] & 1 == 1
    let framings: [Framing] = [.version2, .fixedHeader(length: 40), isClient ? .version2 : .either(headerLength: 40)]
    var input = ByteBuffer(bytes: bytes.dropFirst(2))
    // Half of the runs start after the hello.
    if bytes[0] & 2 == 2 { input = ByteBuffer(beginning(isClient: isClient), input) }
    let framing = framings[Int(bytes[0] >> 2) % 3]
    let cut = run(input, isClient: isClient, framing: framing, step: step)
    let whole = run(input, isClient: isClient, framing: framing, step: .max)
    precondition(cut == whole, "the result depends on the pieces")
    return 0
}

private func beginning(isClient: Bool) -> ByteBuffer {
    var buffer = isClient ? ByteBuffer() : ByteBuffer(bytes: FramePreface.bytes)
    try? FramedHello().head.write(into: &buffer)
    return buffer
}

extension ByteBuffer {
    fileprivate init(_ first: ByteBuffer, _ second: ByteBuffer) {
        self = first
        self.writeImmutableBuffer(second)
    }
}

/// Returns the actions for the input, with the pieces of bodies joined.
private func run(_ input: ByteBuffer, isClient: Bool, framing: Framing, step: Int) -> [FramedSession.Action] {
    var limits = FramedLimits(maximumBodyBytes: bound)
    limits.maximumHeaderBytes = 512
    guard var session = try? FramedSession(isClient: isClient, framing: framing, limits: limits) else { preconditionFailure() }
    var (input, pending) = (input, ByteBuffer())
    var actions = session.connected()
    while let piece = input.readSlice(length: min(step, input.readableBytes)), piece.readableBytes > 0 {
        pending.writeImmutableBuffer(piece)
        actions += session.receivedBytes(&pending)
        pending.discardReadBytes()
        precondition(pending.readableBytes <= 512 + 16, "the buffer exceeds a head")
        _ = session.isWithinHead(pending)
        // Sending must not trap in any state.
        _ = session.ping(id: 1)
        if var message = try? session.message(header: ["a": 1], bodyLength: 3) {
            precondition((try? message.next(ByteBuffer(bytes: [1, 2, 3]))) != nil && message.isComplete)
        }
    }
    actions += session.transportEnded(pending)
    precondition(session.transportEnded(pending).isEmpty && session.receivedBytes(&pending).isEmpty, "an action after the end")
    judge(actions)
    return joined(actions)
}

private func judge(_ actions: [FramedSession.Action]) {
    var missing: Int?
    var isOpen = false
    for (index, action) in actions.enumerated() {
        switch action {
        case .opened:
            precondition(!isOpen, "opened twice")
            isOpen = true
        case .messageBegan(_, let length):
            precondition(isOpen && missing == nil && length >= 0 && length <= bound, "a message within another, or above the bound")
            missing = length
        case .messageBody(let bytes):
            guard let left = missing, bytes.readableBytes > 0, bytes.readableBytes <= left else {
                preconditionFailure("a body outside a message")
            }
            missing = left - bytes.readableBytes
        case .messageEnded:
            precondition(missing == 0, "a message differs from the announced length")
            missing = nil
        case .transfer(.head(let head)):
            precondition(isOpen && head.stream != 0 && head.bodyLength <= TransferChunk.maximumBodyBytes)
        case .fail: precondition(index == actions.count - 1, "an action after the failure")
        case .write, .writePong, .transfer, .pong, .receivedBye: break
        }
    }
}

private func joined(_ actions: [FramedSession.Action]) -> [FramedSession.Action] {
    var joined: [FramedSession.Action] = []
    for action in actions {
        switch (joined.last, action) {
        case (.messageBody(var before)?, .messageBody(let more)):
            before.writeImmutableBuffer(more)
            joined[joined.count - 1] = .messageBody(before)
        case (.transfer(.body(var before))?, .transfer(.body(let more))):
            before.writeImmutableBuffer(more)
            joined[joined.count - 1] = .transfer(.body(before))
        default: joined.append(action)
        }
    }
    return joined
}
