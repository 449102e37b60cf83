public import NIOCore

/// Cuts bytes into frames of one length.
///
/// Can stand in a pipeline of NIO (`ByteToMessageHandler`).
public struct FixedLengthDecoder: NIOSingleStepByteToMessageDecoder, Sendable {
    /// What comes out.
    public typealias InboundOut = ByteBuffer

    private let length: Int

    /// A decoder at the beginning of a stream.
    ///
    /// - Parameter length: The bytes of a frame.
    /// - Throws: ``FramedError/Code/invalidUse`` when that is not at least one.
    public init(length: Int) throws(FramedError) {
        guard length > 0 else { throw FramedError(.invalidUse, message: "frames of \(length) bytes") }
        self.length = length
    }

    /// The next frame; `nil` when it has not come whole.
    public mutating func decode(buffer: inout ByteBuffer) -> ByteBuffer? { buffer.readSlice(length: self.length) }

    /// As ``decode(buffer:)``, when no more bytes will come.
    ///
    /// - Throws: ``FramedError/Code/truncated`` when they end within a frame.
    public mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws(FramedError) -> ByteBuffer? {
        if let frame = self.decode(buffer: &buffer) { return frame }
        try FramedError.throwIfTruncated(buffer, seenEOF: seenEOF)
        return nil
    }
}

/// Lets frames of one length through and no others. Can stand in a pipeline of NIO (`MessageToByteHandler`).
public struct FixedLengthEncoder: MessageToByteEncoder, Sendable {
    /// What goes in.
    public typealias OutboundIn = ByteBuffer

    private let length: Int

    /// An encoder.
    ///
    /// - Parameter length: The bytes of a frame.
    /// - Throws: ``FramedError/Code/invalidUse`` when that is not at least one.
    public init(length: Int) throws(FramedError) {
        guard length > 0 else { throw FramedError(.invalidUse, message: "frames of \(length) bytes") }
        self.length = length
    }

    /// Appends a frame.
    ///
    /// - Throws: ``FramedError/Code/invalidUse`` when it has another length. Nothing was written then.
    public func encode(data frame: ByteBuffer, out buffer: inout ByteBuffer) throws(FramedError) {
        guard frame.readableBytes == self.length else {
            throw FramedError(.invalidUse, message: "a frame of \(frame.readableBytes) bytes where all have \(self.length)")
        }
        buffer.writeImmutableBuffer(frame)
    }
}
