public import NIOCore

/// A message of the application, as Engine.IO carries it.
public enum EngineIOMessage: Equatable, Sendable {
    /// UTF-8.
    case text(ByteBuffer)
    /// Any bytes.
    case binary(ByteBuffer)

    /// Bytes of the message itself, without what the wire adds.
    package var readableBytes: Int {
        switch self {
        case .text(let bytes), .binary(let bytes): return bytes.readableBytes
        }
    }
}

/// A packet of the Engine.IO protocol.
///
/// Source: Engine.IO protocol v4, "Packet types".
package enum EngineIOPacket: Equatable, Sendable {
    /// `0`: the server's first packet, the terms of the session.
    case open(EngineIOHandshake)
    /// `1`: the sender is closing the session.
    case close
    /// `2`: the heartbeat, or `2probe` on a WebSocket that wants to take a session over.
    case ping(ByteBuffer)
    /// `3`: the answer to a ping, with the ping's payload.
    case pong(ByteBuffer)
    /// `4`, or `b` and base64, or a binary frame.
    case message(EngineIOMessage)
    /// `5`: the client's word that the WebSocket carries the session from now on.
    case upgrade
    /// `6`: nothing, to end a poll.
    case noop

    /// A ping without a payload, as in the heartbeat.
    package static var ping: Self { .ping(ByteBuffer()) }
    /// A pong without a payload, as in the heartbeat.
    package static var pong: Self { .pong(ByteBuffer()) }
    /// `2probe`.
    package static var probePing: Self { .ping(ByteBuffer(staticString: "probe")) }
    /// `3probe`.
    package static var probePong: Self { .pong(ByteBuffer(staticString: "probe")) }
}

/// The digit a text packet starts with.
enum EngineIOPacketType {
    static let open = UInt8(ascii: "0")
    static let close = UInt8(ascii: "1")
    static let ping = UInt8(ascii: "2")
    static let pong = UInt8(ascii: "3")
    static let message = EngineIOPacketCodec.messageType
    static let upgrade = UInt8(ascii: "5")
    static let noop = UInt8(ascii: "6")
    /// Not a digit: base64 follows, and the packet is a binary message.
    static let base64 = UInt8(ascii: "b")
}
