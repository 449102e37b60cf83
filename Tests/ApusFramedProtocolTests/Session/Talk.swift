import ApusFramedProtocol
import ApusJSON
import NIOCore

/// Returns the wire form of a frame.
func frame(
    _ type: FrameType, flags: FrameFlags = [], stream: UInt16 = 0, _ header: JSONObject = [:], body: [UInt8] = []
) throws -> ByteBuffer {
    var buffer = ByteBuffer()
    try FrameHead(type, flags: flags, stream: stream, header: header, bodyLength: body.count).write(into: &buffer)
    buffer.writeBytes(body)
    return buffer
}

extension FramedSession {
    /// Returns the actions for bytes that arrive `step` at a time, with the pieces of each body
    /// joined.
    mutating func receive(_ bytes: ByteBuffer, step: Int = .max) -> [Action] {
        var actions: [Action] = []
        var input = bytes
        var pending = ByteBuffer()
        while let piece = input.readSlice(length: min(step, input.readableBytes)), piece.readableBytes > 0 {
            pending.writeImmutableBuffer(piece)
            for action in self.receivedBytes(&pending) {
                if case .messageBody(let more) = action, case .messageBody(var bytes)? = actions.last {
                    bytes.writeImmutableBuffer(more)
                    actions[actions.count - 1] = .messageBody(bytes)
                } else {
                    actions.append(action)
                }
            }
        }
        return actions
    }

    /// Returns a session of version 2 after both hellos.
    static func open(isClient: Bool = true, limits: FramedLimits = .init(), peer: FramedHello = .init()) throws -> FramedSession {
        var session = try FramedSession(isClient: isClient, framing: .version2, limits: limits)
        _ = session.connected()
        var bytes = isClient ? ByteBuffer() : ByteBuffer(bytes: FramePreface.bytes)
        try peer.head.write(into: &bytes)
        guard session.receivedBytes(&bytes).last == .opened(peer) else { throw FramedError(.invalidUse, message: "not open") }
        return session
    }
}

extension FramedSession.Action {
    /// The code of a failure.
    var failure: FramedError.Code? { if case .fail(let error) = self { error.code } else { nil } }
}
