public import NIOCore

/// A complete message, with its fragments joined.
///
/// The bytes of a text are known to be valid UTF-8. ``text`` creates a `String` on demand, so that
/// an echo creates none.
///
/// Source: RFC 6455 section 5.6.
public struct WebSocketMessage: Hashable, Sendable {
    /// The kind of a message.
    public enum Kind: Hashable, Sendable {
        /// UTF-8 text.
        case text
        /// Any bytes.
        case binary
    }

    /// The kind of ``payload``.
    public let kind: Kind

    /// The policy for compressing the message when it is sent. It has no meaning for a received
    /// message. Comparisons ignore it. Default: `automatic`.
    public var compression = WebSocketCompression.automatic

    /// The bytes of the message.
    public let payload: ByteBuffer

    /// Creates a message. The bytes of a text must be valid UTF-8.
    @inlinable
    package init(_ kind: Kind, _ payload: ByteBuffer) {
        self.kind = kind
        self.payload = payload
    }

    /// Creates a text message.
    public static func text(_ text: some StringProtocol) -> Self {
        var payload = ByteBuffer()
        payload.writeSubstring(Substring(text))
        return Self(.text, payload)
    }

    /// Creates a binary message.
    public static func binary(_ bytes: ByteBuffer) -> Self { Self(.binary, bytes) }

    /// Creates a binary message.
    public static func binary(_ bytes: some Sequence<UInt8>) -> Self { Self(.binary, ByteBuffer(bytes: bytes)) }

    /// Returns the same message with another compression setting.
    public func compressed(_ compression: WebSocketCompression) -> Self {
        var message = self
        message.compression = compression
        return message
    }

    /// Compares the kind and the bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.payload == right.payload
    }

    /// Hashes the kind and the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.kind)
        hasher.combine(self.payload)
    }

    /// The text, or `nil` for a binary message.
    public var text: String? {
        switch self.kind {
        case .text: String(buffer: self.payload)
        case .binary: nil
        }
    }

    /// The bytes of a message of either kind.
    public var bytes: [UInt8] { Array(self.payload.readableBytesView) }
}

extension WebSocketMessage: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates a text message.
    public init(stringLiteral text: String) { self = .text(text) }

    /// The text, or the number of bytes.
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
