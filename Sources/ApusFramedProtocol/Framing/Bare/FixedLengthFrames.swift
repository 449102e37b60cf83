public import NIOCore

/// Decodes frames of one fixed length.
///
/// Can be used in a NIO pipeline with `ByteToMessageHandler`.
public struct FixedLengthDecoder: NIOSingleStepByteToMessageDecoder, Sendable {
    /// The decoded frames.
    public typealias InboundOut = ByteBuffer

    private let length: Int

    /// Creates a decoder for the beginning of a stream.
    ///
    /// - Parameter length: The length of a frame in bytes.
    /// - Throws: ``FramedError/Code/invalidUse`` when `length` is less than 1.
    public init(length: Int) throws(FramedError) {
        guard length > 0 else { throw FramedError(.invalidUse, message: "`length` must be greater than 0, not \(length)") }
        self.length = length
    }

    /// Returns the next frame, or `nil` when it is incomplete.
    public mutating func decode(buffer: inout ByteBuffer) -> ByteBuffer? { buffer.readSlice(length: self.length) }

    /// Returns the next frame after the last bytes have arrived; `nil` if no complete frame
    /// remains.
    ///
    /// - Parameters:
    ///   - buffer: The remaining bytes.
    ///   - seenEOF: Whether the stream has ended. With `false`, incomplete bytes are not an error.
    /// - Throws: ``FramedError/Code/truncated`` when the bytes end within a frame.
    public mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws(FramedError) -> ByteBuffer? {
        if let frame = self.decode(buffer: &buffer) { return frame }
        try FramedError.throwIfTruncated(buffer, seenEOF: seenEOF)
        return nil
    }
}

/// Encodes frames of one fixed length and rejects others. Can be used in a NIO pipeline with
/// `MessageToByteHandler`.
public struct FixedLengthEncoder: MessageToByteEncoder, Sendable {
    /// The frames to encode.
    public typealias OutboundIn = ByteBuffer

    private let length: Int

    /// Creates an encoder for frames of the given length.
    ///
    /// - Parameter length: The length of a frame in bytes.
    /// - Throws: ``FramedError/Code/invalidUse`` when `length` is less than 1.
    public init(length: Int) throws(FramedError) {
        guard length > 0 else { throw FramedError(.invalidUse, message: "`length` must be greater than 0, not \(length)") }
        self.length = length
    }

    /// Appends a frame to the buffer.
    ///
    /// - Throws: ``FramedError/Code/invalidUse`` when the frame has another length. In this case,
    ///   nothing is written.
    public func encode(data frame: ByteBuffer, out buffer: inout ByteBuffer) throws(FramedError) {
        guard frame.readableBytes == self.length else {
            throw FramedError(.invalidUse, message: "a frame must have \(self.length) bytes, not \(frame.readableBytes)")
        }
        buffer.writeImmutableBuffer(frame)
    }
}
