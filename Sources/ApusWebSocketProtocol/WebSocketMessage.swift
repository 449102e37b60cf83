package import NIOCore

/// One whole message, its fragments joined.
package enum WebSocketMessage: Equatable, Sendable {
    /// Text; the bytes are known to be UTF-8.
    case text(ByteBuffer)
    /// Any bytes.
    case binary(ByteBuffer)
}

extension WebSocketMessage {
    package var opcode: WebSocketOpcode {
        switch self {
        case .text: .text
        case .binary: .binary
        }
    }

    package var payload: ByteBuffer {
        switch self {
        case .text(let payload), .binary(let payload): payload
        }
    }
}
