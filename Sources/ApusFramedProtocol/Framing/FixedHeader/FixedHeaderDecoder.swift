public import NIOCore

/// Cuts bytes into messages of the fixed mode: a header of a length both sides agreed upon, then the body it announces.
///
/// Can stand in a pipeline of NIO (`ByteToMessageHandler`). Once it has thrown it throws the same error for ever.
public struct FixedHeaderDecoder: NIOSingleStepByteToMessageDecoder, Sendable {
    /// What comes out.
    public typealias InboundOut = FramePart<FixedHeader>

    private enum State {
        /// Between two messages, or within a header. Leaves to `body` or `failed`.
        case header
        /// The head was handed on. Leaves to `header` when all has come.
        case body(FrameRemainder)
        /// Final.
        case failed(FramedError)
    }

    private let headerLength: Int
    private let limits: FramedLimits
    private var state = State.header

    /// A decoder at the beginning of a stream.
    ///
    /// - Parameters:
    ///   - headerLength: The length that was agreed upon, 100 bytes in SocketDemo.
    ///   - limits: The bounds of the body and of the header's nesting.
    /// - Throws: ``FramedError/Code/invalidUse`` when the length is none of ``FixedHeader/agreeableLengths``.
    public init(headerLength: Int, limits: FramedLimits = .init()) throws(FramedError) {
        guard FixedHeader.agreeableLengths.contains(headerLength) else {
            throw FramedError(.invalidUse, message: "a header of \(headerLength) bytes; \(FixedHeader.agreeableLengths) can be agreed upon")
        }
        self.headerLength = headerLength
        self.limits = limits
    }

    /// Whether a message has begun of which the header has not come whole: a deadline runs while that is so.
    package func isWithinHead(_ buffer: ByteBuffer) -> Bool {
        if case .header = self.state { buffer.readableBytes > 0 } else { false }
    }

    /// Whether a message has begun and not ended: `buffer` is what has come and was not decoded.
    package func isWithinFrame(_ buffer: ByteBuffer) -> Bool {
        if case .header = self.state { buffer.readableBytes > 0 } else { true }
    }

    /// The next part; `nil` when more bytes are needed for it.
    ///
    /// - Throws: ``FramedError`` with ``FramedError/Code/malformedHeader`` or ``FramedError/Code/frameTooLarge``.
    public mutating func decode(buffer: inout ByteBuffer) throws(FramedError) -> InboundOut? {
        switch self.state {
        case .header:
            guard let text = buffer.readSlice(length: self.headerLength) else { return nil }
            do throws(FramedError) {
                let header = try FixedHeader(parsing: text, limits: self.limits)
                self.state = .body(FrameRemainder(bodyLength: header.bodyLength))
                return .head(header)
            } catch {
                self.state = .failed(error)
                throw error
            }
        case .body(var remainder):
            switch remainder.next(&buffer) {
            case .piece(let bytes):
                self.state = .body(remainder)
                return .body(bytes)
            case .end:
                self.state = .header
                return .end
            case .needsMore:
                return nil
            }
        case .failed(let error):
            throw error
        }
    }

    /// As ``decode(buffer:)``, when no more bytes will come.
    ///
    /// - Throws: Besides, ``FramedError/Code/truncated`` when they end within a message.
    public mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws(FramedError) -> InboundOut? {
        if let part = try self.decode(buffer: &buffer) { return part }
        guard !seenEOF || !self.isWithinFrame(buffer) else {
            throw FramedError(.truncated, message: "the bytes end within a message")
        }
        return nil
    }
}
