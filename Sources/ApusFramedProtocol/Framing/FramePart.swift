public import NIOCore

/// A part of a frame. A frame consists of one head, the pieces of its body, and one end, in this
/// order.
///
/// Bodies are not buffered. The pieces are passed on as they arrive, are never empty, and add up to
/// the length in the head. A frame with an empty body has no pieces.
public enum FramePart<Head: Hashable & Sendable>: Hashable, Sendable {
    /// A frame begins.
    case head(Head)
    /// The next bytes of the frame's body.
    case body(ByteBuffer)
    /// The frame is complete.
    case end
}

/// The rest of the frame that is being read, after its head.
struct FrameRemainder {
    /// The number of body bytes that have not arrived.
    private var missing: Int

    init(bodyLength: Int) {
        self.missing = bodyLength
    }

    enum Next {
        case piece(ByteBuffer)
        case end
        case needsMore
    }

    mutating func next(_ buffer: inout ByteBuffer) -> Next {
        guard self.missing > 0 else { return .end }
        guard buffer.readableBytes > 0, let piece = buffer.readSlice(length: min(self.missing, buffer.readableBytes)) else {
            return .needsMore
        }
        self.missing -= piece.readableBytes
        return .piece(piece)
    }
}
