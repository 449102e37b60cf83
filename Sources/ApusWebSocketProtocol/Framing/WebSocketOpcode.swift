/// The type of a frame. The other ten values are reserved (RFC 6455 section 5.2).
@usableFromInline
package enum WebSocketOpcode: UInt8, Hashable, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Whether the frame is a control frame, which may occur between the fragments of a message
    /// (RFC 6455 section 5.5).
    package var isControl: Bool { self.rawValue & 0x8 != 0 }
}
