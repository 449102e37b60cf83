public import NIOCore

/// Decodes frames that end with a delimiter, such as lines.
///
/// Can be used in a NIO pipeline with `ByteToMessageHandler`. Frames are returned whole and without
/// the delimiter. Each byte is examined once, regardless of how the input is split. After an error,
/// every call throws the same error.
public struct DelimiterDecoder: NIOSingleStepByteToMessageDecoder, Sendable {
    /// The decoded frames.
    public typealias InboundOut = ByteBuffer

    private let delimiter: Delimiter
    private let maximumFrameBytes: Int
    /// The number of examined bytes of the current frame.
    private var searched = 0
    /// The number of examined bytes at the end that match the beginning of the delimiter.
    private var matched = 0
    private var failure: FramedError?

    /// Creates a decoder for the beginning of a stream.
    ///
    /// - Parameters:
    ///   - delimiter: The bytes that end a frame.
    ///   - maximumFrameBytes: The largest frame in bytes, without its delimiter. Default: 1 MiB. A
    ///     longer frame is rejected as soon as it exceeds the limit.
    public init(delimiter: Delimiter, maximumFrameBytes: Int = 1 << 20) {
        self.delimiter = delimiter
        self.maximumFrameBytes = max(0, maximumFrameBytes)
    }

    /// Returns the next frame, or `nil` when it is incomplete.
    ///
    /// - Throws: ``FramedError/Code/frameTooLarge`` when the frame exceeds the maximum length.
    public mutating func decode(buffer: inout ByteBuffer) throws(FramedError) -> ByteBuffer? {
        if let failure = self.failure { throw failure }
        let isFound = self.search(buffer)
        let length = self.searched - self.matched
        guard length <= self.maximumFrameBytes else {
            let error = FramedError(.frameTooLarge, message: "a frame has more than \(self.maximumFrameBytes) bytes (`maximumFrameBytes`)")
            self.failure = error
            throw error
        }
        guard isFound, let frame = buffer.readSlice(length: length) else { return nil }
        buffer.moveReaderIndex(forwardBy: self.matched)
        self.searched = 0
        self.matched = 0
        return frame
    }

    /// Examines the new bytes, up to the end of a delimiter.
    ///
    /// Source: Knuth, Morris, Pratt, "Fast pattern matching in strings". The search is linear even
    /// for delimiters with repeated prefixes.
    private mutating func search(_ buffer: ByteBuffer) -> Bool {
        let bytes = self.delimiter.bytes
        let view = buffer.readableBytesView
        var index = view.startIndex + self.searched
        while index < view.endIndex {
            if self.matched == 0 {
                // This search, which uses `memchr`, skips nearly all bytes.
                guard let next = view[index...].firstIndex(of: bytes[0]) else {
                    index = view.endIndex
                    break
                }
                index = next
            }
            let byte = view[index]
            while self.matched > 0, bytes[self.matched] != byte { self.matched = self.delimiter.fallback[self.matched - 1] }
            if bytes[self.matched] == byte { self.matched += 1 }
            index += 1
            if self.matched == bytes.count {
                self.searched = index - view.startIndex
                return true
            }
        }
        self.searched = index - view.startIndex
        return false
    }

    /// Returns the next frame after the last bytes have arrived; `nil` if no complete frame
    /// remains.
    ///
    /// - Parameters:
    ///   - buffer: The remaining bytes.
    ///   - seenEOF: Whether the stream has ended. With `false`, incomplete bytes are not an error.
    /// - Throws: ``FramedError/Code/truncated`` when the bytes end without a delimiter, and the
    ///   errors of ``decode(buffer:)``.
    public mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws(FramedError) -> ByteBuffer? {
        if let frame = try self.decode(buffer: &buffer) { return frame }
        try FramedError.throwIfTruncated(buffer, seenEOF: seenEOF)
        return nil
    }
}

/// The bytes that end a frame.
public struct Delimiter: Hashable, Sendable {
    /// The bytes of the delimiter. Never empty.
    public let bytes: [UInt8]

    /// The failure function: for each matched length, the length of the longest shorter prefix that
    /// still matches.
    let fallback: [Int]

    /// A line feed. Lines that end with CR LF keep the CR.
    public static let lineFeed = Self(unchecked: [0x0A])
    /// A carriage return and a line feed.
    public static let carriageReturnLineFeed = Self(unchecked: [0x0D, 0x0A])
    /// A zero byte.
    public static let zero = Self(unchecked: [0x00])

    /// Creates a delimiter of the given bytes.
    ///
    /// - Throws: ``FramedError/Code/invalidUse`` when `bytes` is empty.
    public init(_ bytes: some Sequence<UInt8>) throws(FramedError) {
        let bytes = Array(bytes)
        guard !bytes.isEmpty else { throw FramedError(.invalidUse, message: "`bytes` of a delimiter must not be empty") }
        self.init(unchecked: bytes)
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
        var fallback = [Int](repeating: 0, count: bytes.count)
        var matched = 0
        for index in bytes.indices.dropFirst() {
            while matched > 0, bytes[matched] != bytes[index] { matched = fallback[matched - 1] }
            if bytes[matched] == bytes[index] { matched += 1 }
            fallback[index] = matched
        }
        self.fallback = fallback
    }
}

/// Encodes frames by appending a delimiter. Can be used in a NIO pipeline with
/// `MessageToByteHandler`.
public struct DelimiterEncoder: MessageToByteEncoder, Sendable {
    /// The frames to encode.
    public typealias OutboundIn = ByteBuffer

    private let delimiter: Delimiter

    /// Creates an encoder with the given delimiter.
    public init(delimiter: Delimiter) {
        self.delimiter = delimiter
    }

    /// Appends a frame and the delimiter to the buffer.
    ///
    /// - Throws: ``FramedError/Code/invalidUse`` when the encoded frame contains a delimiter before
    ///   its end: the peer would decode two frames. In this case, nothing is written.
    public func encode(data frame: ByteBuffer, out buffer: inout ByteBuffer) throws(FramedError) {
        var whole = frame
        whole.writeBytes(self.delimiter.bytes)
        var decoder = DelimiterDecoder(delimiter: self.delimiter, maximumFrameBytes: .max)
        guard try decoder.decode(buffer: &whole) == frame else {
            throw FramedError(.invalidUse, message: "the frame of \(frame.readableBytes) bytes must not contain the delimiter")
        }
        buffer.writeImmutableBuffer(frame)
        buffer.writeBytes(self.delimiter.bytes)
    }
}
