public import NIOCore

/// Cuts bytes into frames that have their length in front of them.
///
/// Can stand in a pipeline of NIO (`ByteToMessageHandler`). A frame comes out whole, without its prefix; up to the bound it is held until
/// then. Once it has thrown it throws the same error for ever.
public struct LengthPrefixedDecoder: NIOSingleStepByteToMessageDecoder, Sendable {
    /// What comes out.
    public typealias InboundOut = ByteBuffer

    private let prefix: LengthPrefix
    private let maximumFrameBytes: Int
    private var failure: FramedError?

    /// A decoder at the beginning of a stream.
    ///
    /// - Parameters:
    ///   - prefix: How the length is written.
    ///   - maximumFrameBytes: The largest frame, without its prefix. A longer one is refused as soon as its length has come.
    public init(prefix: LengthPrefix, maximumFrameBytes: Int = 1 << 20) {
        self.prefix = prefix
        self.maximumFrameBytes = max(0, maximumFrameBytes)
    }

    /// The next frame; `nil` when it has not come whole.
    ///
    /// - Throws: ``FramedError/Code/frameTooLarge``, or ``FramedError/Code/malformedHeader`` for a length that is none.
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
                .frameTooLarge, message: "a frame of \(read.payloadLength) bytes announced, \(self.maximumFrameBytes) allowed")
        }
        // Not their sum: the bound is the caller's and may be as large as an Int.
        guard buffer.readableBytes - read.prefixLength >= length else { return nil }
        buffer.moveReaderIndex(forwardBy: read.prefixLength)
        return buffer.readSlice(length: length)
    }

    /// As ``decode(buffer:)``, when no more bytes will come.
    ///
    /// - Throws: Besides, ``FramedError/Code/truncated`` when they end within a frame.
    public mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws(FramedError) -> ByteBuffer? {
        if let frame = try self.decode(buffer: &buffer) { return frame }
        try FramedError.throwIfTruncated(buffer, seenEOF: seenEOF)
        return nil
    }
}

/// Writes the length of every frame in front of it. Can stand in a pipeline of NIO (`MessageToByteHandler`).
public struct LengthPrefixedEncoder: MessageToByteEncoder, Sendable {
    /// What goes in.
    public typealias OutboundIn = ByteBuffer

    private let prefix: LengthPrefix

    /// An encoder.
    public init(prefix: LengthPrefix) {
        self.prefix = prefix
    }

    /// Appends a frame.
    ///
    /// - Throws: ``FramedError/Code/frameTooLarge`` when its length has no room in the prefix. Nothing was written then.
    public func encode(data frame: ByteBuffer, out buffer: inout ByteBuffer) throws(FramedError) {
        try self.prefix.write(payloadLength: frame.readableBytes, into: &buffer)
        buffer.writeImmutableBuffer(frame)
    }
}

extension FramedError {
    /// The bytes have ended, and something of them is left.
    static func throwIfTruncated(_ buffer: ByteBuffer, seenEOF: Bool) throws(FramedError) {
        guard seenEOF, buffer.readableBytes > 0 else { return }
        throw FramedError(.truncated, message: "\(buffer.readableBytes) bytes of a frame came, and no more")
    }
}
