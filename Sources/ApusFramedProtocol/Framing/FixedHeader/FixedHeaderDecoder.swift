public import NIOCore

/// Decodes messages of the fixed mode: a header of an agreed length, then the body that it
/// announces.
///
/// Can be used in a NIO pipeline with `ByteToMessageHandler`. After an error, every call throws the
/// same error.
public struct FixedHeaderDecoder: NIOSingleStepByteToMessageDecoder, Sendable {
    /// The decoded parts.
    public typealias InboundOut = FramePart<FixedHeader>

    private enum State {
        /// Between two messages, or within a header. Transitions to `body` or `failed`.
        case header
        /// The head was returned. Transitions to `header` at the end of the body.
        case body(FrameRemainder)
        /// Final.
        case failed(FramedError)
    }

    private let headerLength: Int
    private let limits: FramedLimits
    private var state = State.header

    /// Creates a decoder for the beginning of a stream.
    ///
    /// - Parameters:
    ///   - headerLength: The agreed length of the header; 100 bytes in SocketDemo.
    ///   - limits: The limits for the body and the nesting of the header.
    /// - Throws: ``FramedError/Code/invalidUse`` when the length is not within
    ///   ``FixedHeader/agreeableLengths``.
    public init(headerLength: Int, limits: FramedLimits = .init()) throws(FramedError) {
        guard FixedHeader.agreeableLengths.contains(headerLength) else {
            throw FramedError(
                .invalidUse,
                message:
                    "`headerLength` must be from \(FixedHeader.agreeableLengths.lowerBound) to \(FixedHeader.agreeableLengths.upperBound), not \(headerLength)"
            )
        }
        self.headerLength = headerLength
        self.limits = limits
    }

    /// Returns whether a message has begun and its header is incomplete. A deadline applies in this
    /// state.
    package func isWithinHead(_ buffer: ByteBuffer) -> Bool {
        if case .header = self.state { buffer.readableBytes > 0 } else { false }
    }

    /// Returns whether a message has begun and not ended. `buffer` contains the bytes that are not
    /// decoded yet.
    package func isWithinFrame(_ buffer: ByteBuffer) -> Bool {
        if case .header = self.state { buffer.readableBytes > 0 } else { true }
    }

    /// Returns the next part, or `nil` when more bytes are needed.
    ///
    /// - Throws: ``FramedError/Code/malformedHeader`` or ``FramedError/Code/frameTooLarge``.
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

    /// Returns the next part after the last bytes have arrived; `nil` if no complete part remains.
    ///
    /// - Parameters:
    ///   - buffer: The remaining bytes.
    ///   - seenEOF: Whether the stream has ended. With `false`, incomplete bytes are not an error.
    /// - Throws: ``FramedError/Code/truncated`` when the bytes end within a message, and the errors
    ///   of ``decode(buffer:)``.
    public mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws(FramedError) -> InboundOut? {
        if let part = try self.decode(buffer: &buffer) { return part }
        guard !seenEOF || !self.isWithinFrame(buffer) else {
            throw FramedError(.truncated, message: "the stream ended within a message")
        }
        return nil
    }
}
