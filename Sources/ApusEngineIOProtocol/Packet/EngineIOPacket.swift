public import NIOCore

/// An application message in Engine.IO.
public enum EngineIOMessage: Equatable, Sendable {
    /// UTF-8 text.
    case text(ByteBuffer)
    /// Any bytes.
    case binary(ByteBuffer)

    /// The size of the message in bytes, without its framing.
    package var readableBytes: Int {
        switch self {
        case .text(let bytes), .binary(let bytes): return bytes.readableBytes
        }
    }
}

/// A packet of the Engine.IO protocol.
///
/// Source: Engine.IO protocol v4, "Packet types".
public enum EngineIOPacket: Equatable, Sendable {
    /// `0`: the server's first packet, with the parameters of the session.
    case open(EngineIOHandshake)
    /// `1`: closes the session.
    case close
    /// `2`: the heartbeat, or `2probe` on a WebSocket that probes an upgrade.
    case ping(ByteBuffer)
    /// `3`: the answer to a ping, with the ping's payload.
    case pong(ByteBuffer)
    /// `4` and text, `b` and base64, or a binary frame.
    case message(EngineIOMessage)
    /// `5`: completes the client's upgrade to the WebSocket.
    case upgrade
    /// `6`: ends a poll without a message.
    case noop

    /// A ping without a payload, as in the heartbeat.
    public static var ping: Self { .ping(ByteBuffer()) }
    /// A pong without a payload, as in the heartbeat.
    public static var pong: Self { .pong(ByteBuffer()) }
    /// `2probe`.
    public static var probePing: Self { .ping(ByteBuffer(staticString: "probe")) }
    /// `3probe`.
    public static var probePong: Self { .pong(ByteBuffer(staticString: "probe")) }
}

/// The first byte of each packet type in text form.
enum EngineIOPacketType {
    static let open = UInt8(ascii: "0")
    static let close = UInt8(ascii: "1")
    static let ping = UInt8(ascii: "2")
    static let pong = UInt8(ascii: "3")
    static let message = EngineIOPacketCodec.messageType
    static let upgrade = UInt8(ascii: "5")
    static let noop = UInt8(ascii: "6")
    /// A binary message in base64.
    static let base64 = UInt8(ascii: "b")
}

extension EngineIOPacket {
    /// The size of the payload in bytes.
    package var byteCount: Int { self.queuedBytes - 16 }

    /// The size of the packet in a queue: its payload and a fixed overhead of 16 bytes.
    var queuedBytes: Int {
        switch self {
        case .message(.text(let buffer)), .message(.binary(let buffer)), .ping(let buffer), .pong(let buffer): buffer.readableBytes + 16
        case .open, .close, .upgrade, .noop: 16
        }
    }
}
