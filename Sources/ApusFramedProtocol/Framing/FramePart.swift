public import NIOCore

/// A part of a frame, in the order in which they come: one head, the pieces of the body, one end.
///
/// No body is gathered. Its pieces are what the network brought together, never empty, and sum up to the length in the head; a frame with an
/// empty body has none.
public enum FramePart<Head: Hashable & Sendable>: Hashable, Sendable {
    /// A frame begins.
    case head(Head)
    /// The next bytes of its body.
    case body(ByteBuffer)
    /// The frame has come whole.
    case end
}

/// What is left of the frame that is being read, when its head has come.
struct FrameRemainder {
    /// Bytes of the body that have not come.
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
