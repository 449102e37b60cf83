import ApusWebSocketProtocol
import NIOCore

/// An item of the outbox.
enum OutboundItem: Hashable, Sendable {
    case message(WebSocketMessage)
    case piece(WebSocketPiece)

    var byteCount: Int {
        switch self {
        case .message(let message): message.payload.readableBytes
        case .piece(let piece): piece.bytes.readableBytes
        }
    }
}

/// A part of a message whose length is not known while it is sent.
struct WebSocketPiece: Hashable, Sendable {
    /// The number of the message that the piece belongs to.
    var message: Int
    var bytes: ByteBuffer
    var kind: WebSocketMessage.Kind
    var isLast: Bool
    var compression: WebSocketCompression
}
