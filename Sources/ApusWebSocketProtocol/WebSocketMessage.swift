public import NIOCore

/// One whole message, its fragments joined.
///
/// A text's bytes are known to be UTF-8; they become a `String` only when ``text`` is asked for, so that an echo never pays for one.
///
/// Source: RFC 6455 5.6.
public struct WebSocketMessage: Hashable, Sendable {
    /// What the bytes are.
    public enum Kind: Hashable, Sendable {
        /// UTF-8.
        case text
        /// Any bytes.
        case binary
    }

    /// What ``payload`` is.
    public let kind: Kind

    /// Whether the message is to be compressed when it is sent. Says nothing of a message that came, and equality does not ask.
    public var compression = WebSocketCompression.automatic

    /// The bytes of the message.
    public let payload: ByteBuffer

    /// A message of bytes that are UTF-8 if `kind` says so; only what is known to be is passed here.
    @inlinable
    package init(_ kind: Kind, _ payload: ByteBuffer) {
        self.kind = kind
        self.payload = payload
    }

    /// A text message.
    public static func text(_ text: some StringProtocol) -> Self {
        var payload = ByteBuffer()
        payload.writeSubstring(Substring(text))
        return Self(.text, payload)
    }

    /// A binary message.
    public static func binary(_ bytes: ByteBuffer) -> Self { Self(.binary, bytes) }

    /// A binary message.
    public static func binary(_ bytes: some Sequence<UInt8>) -> Self { Self(.binary, ByteBuffer(bytes: bytes)) }

    /// The same message with another wish.
    public func compressed(_ compression: WebSocketCompression) -> Self {
        var message = self
        message.compression = compression
        return message
    }

    /// Equal are messages of one kind with equal bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.payload == right.payload
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.kind)
        hasher.combine(self.payload)
    }

    /// The text; `nil` for a binary message.
    public var text: String? {
        switch self.kind {
        case .text: String(buffer: self.payload)
        case .binary: nil
        }
    }

    /// The bytes of either kind.
    public var bytes: [UInt8] { Array(self.payload.readableBytesView) }
}

extension WebSocketMessage: ExpressibleByStringLiteral, CustomStringConvertible {
    /// A text message.
    public init(stringLiteral text: String) { self = .text(text) }

    /// The text, or how many bytes there are.
    public var description: String { self.text ?? "\(self.payload.readableBytes) bytes" }
}

extension WebSocketMessage {
    @inlinable
    package var opcode: WebSocketOpcode {
        switch self.kind {
        case .text: .text
        case .binary: .binary
        }
    }
}
