public import NIOCore

/// Decodes frames that begin with their length.
///
/// Can be used in a NIO pipeline with `ByteToMessageHandler`. Frames are returned whole and without
/// their prefix, and are buffered up to the limit. After an error, every call throws the same
/// error.
public struct LengthPrefixedDecoder: NIOSingleStepByteToMessageDecoder, Sendable {
    /// The decoded frames.
    public typealias InboundOut = ByteBuffer

    private let prefix: LengthPrefix
    private let maximumFrameBytes: Int
    private var failure: FramedError?

    /// Creates a decoder for the beginning of a stream.
    ///
    /// - Parameters:
    ///   - prefix: The encoding of the length.
    ///   - maximumFrameBytes: The largest frame in bytes, without its prefix. Default: 1 MiB. A
    ///     longer frame is rejected as soon as its length is known.
    public init(prefix: LengthPrefix, maximumFrameBytes: Int = 1 << 20) {
        self.prefix = prefix
        self.maximumFrameBytes = max(0, maximumFrameBytes)
    }

    /// Returns the next frame, or `nil` when it is incomplete.
    ///
    /// - Throws: ``FramedError/Code/frameTooLarge`` for a frame above the limit, or
    ///   ``FramedError/Code/malformedHeader`` for an invalid length.
    public mutating func decode(buffer: inout ByteBuffer) throws(FramedError) -> ByteBuffer? {
        if let failure = self.failure { throw failure }
        do throws(FramedError) {
            return try self.next(&buffer)
        } catch {
            self.failure = error
            throw error
        }
    }

    private func next(_ buffer: inout ByteBuffer) throws(FramedError) -> ByteBuffer? {
        guard let read = try self.prefix.peek(buffer) else { return nil }
        guard let length = Int(exactly: read.payloadLength), length <= self.maximumFrameBytes else {
            throw FramedError(
                .frameTooLarge,
                message: "a frame has \(read.payloadLength) bytes; the maximum is \(self.maximumFrameBytes) (`maximumFrameBytes`)")
        }
        // Subtract instead of adding: `maximumFrameBytes` may be `Int.max`, and the sum could
        // overflow.
        guard buffer.readableBytes - read.prefixLength >= length else { return nil }
        buffer.moveReaderIndex(forwardBy: read.prefixLength)
        return buffer.readSlice(length: length)
    }

    /// Returns the next frame after the last bytes have arrived; `nil` if no complete frame
    /// remains.
    ///
    /// - Parameters:
    ///   - buffer: The remaining bytes.
    ///   - seenEOF: Whether the stream has ended. With `false`, incomplete bytes are not an error.
    /// - Throws: ``FramedError/Code/truncated`` when the bytes end within a frame, and the errors
    ///   of ``decode(buffer:)``.
    public mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws(FramedError) -> ByteBuffer? {
        if let frame = try self.decode(buffer: &buffer) { return frame }
        try FramedError.throwIfTruncated(buffer, seenEOF: seenEOF)
        return nil
    }
}

/// Encodes frames by prepending their length. Can be used in a NIO pipeline with
/// `MessageToByteHandler`.
public struct LengthPrefixedEncoder: MessageToByteEncoder, Sendable {
    /// The frames to encode.
    public typealias OutboundIn = ByteBuffer

    private let prefix: LengthPrefix

    /// Creates an encoder with the given prefix.
    public init(prefix: LengthPrefix) {
        self.prefix = prefix
    }

    /// Appends the length and the frame to the buffer.
    ///
    /// - Throws: ``FramedError/Code/frameTooLarge`` when the length does not fit the prefix. In
    ///   this case, nothing is written.
    public func encode(data frame: ByteBuffer, out buffer: inout ByteBuffer) throws(FramedError) {
        try self.prefix.write(payloadLength: frame.readableBytes, into: &buffer)
        buffer.writeImmutableBuffer(frame)
    }
}

extension FramedError {
    /// Throws ``FramedError/Code/truncated`` when the stream has ended and bytes are left over.
    static func throwIfTruncated(_ buffer: ByteBuffer, seenEOF: Bool) throws(FramedError) {
        guard seenEOF, buffer.readableBytes > 0 else { return }
        throw FramedError(.truncated, message: "the stream ended within a frame, after \(buffer.readableBytes) bytes of it")
    }
}
