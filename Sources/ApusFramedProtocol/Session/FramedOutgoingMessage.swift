package import ApusJSON
package import NIOCore

/// Makes the bytes of one message, a piece at a time.
///
/// In version 2 each piece is a frame of its own, of at most ``pieceBytes``, so that control frames and other transfers find a gap. In the
/// fixed mode there are no gaps.
package struct FramedOutgoingMessage: Sendable {
    /// The most of a body in one frame.
    package static let pieceBytes = 256 << 10

    private enum Form {
        case fixedHeader(length: Int)
        case version2
    }

    private let form: Form
    private let header: JSONObject
    private let bodyLength: Int
    /// Bytes of the body that were not given yet.
    package private(set) var missing: Int
    private var hasBegun = false

    /// A message of the fixed mode.
    package init(header: JSONObject, bodyLength: Int, headerLength: Int) throws(FramedError) {
        self.form = .fixedHeader(length: headerLength)
        self.header = header
        self.bodyLength = bodyLength
        self.missing = bodyLength
        // Everything that can be wrong is known before the first byte.
        _ = try FixedHeader(fields: header, bodyLength: bodyLength).encoded(headerLength: headerLength)
    }

    /// A message of version 2, judged by what the peer takes.
    package init(header: JSONObject, bodyLength: Int, peer: FramedHello) throws(FramedError) {
        self.form = .version2
        self.header = header
        self.bodyLength = bodyLength
        self.missing = bodyLength
        guard bodyLength >= 0 else { throw FramedError(.invalidUse, message: "a body of \(bodyLength) bytes") }
        guard bodyLength <= peer.maximumBodyBytes else {
            throw FramedError(.frameTooLarge, message: "a body of \(bodyLength) bytes, the peer takes \(peer.maximumBodyBytes)")
        }
        // The longer of the two forms the head may get.
        let text = try FrameHeaderText.bytes(of: self.envelope)
        guard text.count <= peer.maximumHeaderBytes else {
            throw FramedError(.headerTooLarge, message: "the header takes \(text.count) bytes, the peer takes \(peer.maximumHeaderBytes)")
        }
    }

    /// The header of the first of several frames: the caller's, and how long the body is in all.
    private var envelope: JSONObject { ["header": .object(self.header), "length": JSONValue(self.bodyLength)] }

    /// Whether all was given.
    package var isComplete: Bool { self.hasBegun && self.missing == 0 }

    /// Whether something was given: a message that has begun must be finished, or the connection ends.
    package var hasBytesOut: Bool { self.hasBegun }

    /// The buffers to be written for the next bytes of the body. For a message without a body it is called once, with no bytes.
    ///
    /// - Throws: ``FramedError/Code/invalidUse`` for more bytes than were announced; nothing is to be written then.
    package mutating func next(_ bytes: ByteBuffer) throws(FramedError) -> [ByteBuffer] {
        guard bytes.readableBytes <= self.missing else {
            throw FramedError(
                .invalidUse, message: "a body of more than the \(self.bodyLength) bytes that were announced for it")
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
