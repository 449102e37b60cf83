import ApusWebSocketProtocol
import NIOCore

/// What is sent through the outbox.
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

/// A part of a message whose length nobody knows while it is sent.
struct WebSocketPiece: Hashable, Sendable {
    /// Which message it belongs to.
    var message: Int
    var bytes: ByteBuffer
    var kind: WebSocketMessage.Kind
    var isLast: Bool
    var compression: WebSocketCompression
}
