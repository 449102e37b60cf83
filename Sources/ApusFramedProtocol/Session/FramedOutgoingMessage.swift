package import ApusJSON
public import NIOCore

/// Encodes one message in pieces.
///
/// In version 2 each piece is a frame of at most ``pieceBytes``, so that control frames and
/// transfers can be interleaved. The fixed mode does not permit interleaving.
public struct FramedOutgoingMessage: Sendable {
    /// The largest part of a body in one frame. Unit: bytes.
    public static let pieceBytes = 256 << 10

    private enum Form {
        case fixedHeader(length: Int)
        case version2
    }

    private let form: Form
    private let header: JSONObject
    private let bodyLength: Int
    /// The number of body bytes that were not passed to ``next(_:)`` yet.
    public private(set) var missing: Int
    private var hasBegun = false

    /// Creates a message of the fixed mode.
    package init(header: JSONObject, bodyLength: Int, headerLength: Int) throws(FramedError) {
        self.form = .fixedHeader(length: headerLength)
        self.header = header
        self.bodyLength = bodyLength
        self.missing = bodyLength
        // Encode once now: all errors are reported before the first byte is sent.
        _ = try FixedHeader(fields: header, bodyLength: bodyLength).encoded(headerLength: headerLength)
    }

    /// Creates a message of version 2, checked against the peer's limits.
    package init(header: JSONObject, bodyLength: Int, peer: FramedHello) throws(FramedError) {
        self.form = .version2
        self.header = header
        self.bodyLength = bodyLength
        self.missing = bodyLength
        guard bodyLength >= 0 else { throw FramedError(.invalidUse, message: "`bodyLength` must not be negative, but is \(bodyLength)") }
        guard bodyLength <= peer.maximumBodyBytes else {
            throw FramedError(
                .frameTooLarge, message: "the body has \(bodyLength) bytes; the peer accepts at most \(peer.maximumBodyBytes)")
        }
        // Check the longer of the two forms that the header can take.
        let text = try FrameHeaderText.bytes(of: self.envelope)
        guard text.count <= peer.maximumHeaderBytes else {
            throw FramedError(
                .headerTooLarge, message: "the header has \(text.count) bytes; the peer accepts at most \(peer.maximumHeaderBytes)")
        }
    }

    /// The header of the first of several frames: the caller's header and the length of the whole
    /// body.
    private var envelope: JSONObject { ["header": .object(self.header), "length": JSONValue(self.bodyLength)] }

    /// Whether the whole message was encoded.
    public var isComplete: Bool { self.hasBegun && self.missing == 0 }

    /// Whether a part of the message was encoded. The message must then be completed, or the
    /// connection closed.
    public var hasBegunSending: Bool { self.hasBegun }

    /// Returns the buffers to write for the next bytes of the body. For a message without a body,
    /// call it once with an empty buffer.
    ///
    /// - Throws: ``FramedError/Code/invalidUse`` for more bytes than announced; write nothing in
    ///   that case.
    public mutating func next(_ bytes: ByteBuffer) throws(FramedError) -> [ByteBuffer] {
        guard bytes.readableBytes <= self.missing else {
            throw FramedError(
                .invalidUse, message: "the body has more than the announced \(self.bodyLength) bytes (`bodyLength`)")
        }
        var rest = bytes
        var buffers: [ByteBuffer] = []
        repeat {
            guard !self.hasBegun || rest.readableBytes > 0 else { break }
            let piece = rest.readSlice(length: min(Self.pieceBytes, rest.readableBytes)) ?? ByteBuffer()
            self.missing -= piece.readableBytes
            if let head = try self.head(of: piece.readableBytes) { buffers.append(head) }
            if piece.readableBytes > 0 { buffers.append(piece) }
            self.hasBegun = true
        } while rest.readableBytes > 0
        return buffers
    }

    private func head(of pieceLength: Int) throws(FramedError) -> ByteBuffer? {
        switch self.form {
        case .fixedHeader(let length):
            return self.hasBegun ? nil : try FixedHeader(fields: self.header, bodyLength: self.bodyLength).encoded(headerLength: length)
        case .version2:
            let isLast = self.missing == 0
            let header: JSONObject = self.hasBegun ? [:] : isLast ? self.header : self.envelope
            var buffer = ByteBuffer()
            try FrameHead(.message, flags: isLast ? [] : .more, header: header, bodyLength: pieceLength).write(into: &buffer)
            return buffer
        }
    }
}
