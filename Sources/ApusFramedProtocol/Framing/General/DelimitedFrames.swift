public import NIOCore

/// Cuts bytes into frames that end with a delimiter: lines, or whatever ends with the bytes of your choice.
///
/// Can stand in a pipeline of NIO (`ByteToMessageHandler`). A frame comes out whole and without its delimiter. However small the pieces are
/// in which the bytes come, none is looked at twice. Once it has thrown it throws the same error for ever.
public struct DelimiterDecoder: NIOSingleStepByteToMessageDecoder, Sendable {
    /// What comes out.
    public typealias InboundOut = ByteBuffer

    private let delimiter: Delimiter
    private let maximumFrameBytes: Int
    /// The bytes of the present frame that were looked at.
    private var searched = 0
    /// How many of the last of them are the beginning of a delimiter.
    private var matched = 0
    private var failure: FramedError?

    /// A decoder at the beginning of a stream.
    ///
    /// - Parameters:
    ///   - delimiter: What ends a frame.
    ///   - maximumFrameBytes: The largest frame, without its delimiter. A longer one is refused as soon as it has grown longer.
    public init(delimiter: Delimiter, maximumFrameBytes: Int = 1 << 20) {
        self.delimiter = delimiter
        self.maximumFrameBytes = max(0, maximumFrameBytes)
    }

    /// The next frame; `nil` when its end has not come.
    ///
    /// - Throws: ``FramedError/Code/frameTooLarge``.
    public mutating func decode(buffer: inout ByteBuffer) throws(FramedError) -> ByteBuffer? {
        if let failure = self.failure { throw failure }
        let isFound = self.search(buffer)
        let length = self.searched - self.matched
        guard length <= self.maximumFrameBytes else {
            let error = FramedError(.frameTooLarge, message: "a frame of more than \(self.maximumFrameBytes) bytes")
            self.failure = error
            throw error
        }
        guard isFound, let frame = buffer.readSlice(length: length) else { return nil }
        buffer.moveReaderIndex(forwardBy: self.matched)
        self.searched = 0
        self.matched = 0
        return frame
    }

    /// Looks at the new bytes, up to the end of a delimiter.
    ///
    /// Source: Knuth, Morris, Pratt, "Fast pattern matching in strings": linear also for a delimiter that repeats itself.
    private mutating func search(_ buffer: ByteBuffer) -> Bool {
        let bytes = self.delimiter.bytes
        let view = buffer.readableBytesView
        var index = view.startIndex + self.searched
        while index < view.endIndex {
            if self.matched == 0 {
                // Nearly all bytes are passed over here, by `memchr`.
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

    /// As ``decode(buffer:)``, when no more bytes will come.
    ///
    /// - Throws: Besides, ``FramedError/Code/truncated`` when they end without a delimiter.
    public mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws(FramedError) -> ByteBuffer? {
        if let frame = try self.decode(buffer: &buffer) { return frame }
        try FramedError.throwIfTruncated(buffer, seenEOF: seenEOF)
        return nil
    }
}

/// The bytes that end a frame.
public struct Delimiter: Hashable, Sendable {
    /// What ends a frame. Never empty.
    public let bytes: [UInt8]

    /// How long a beginning of the delimiter still fits when the next byte does not, for each length of it.
    let fallback: [Int]

    /// A line feed. Lines that end with CR LF keep their CR.
    public static let lineFeed = Self(unchecked: [0x0A])
    /// A carriage return and a line feed.
    public static let carriageReturnLineFeed = Self(unchecked: [0x0D, 0x0A])
    /// A zero byte.
    public static let zero = Self(unchecked: [0x00])

    /// A delimiter of the caller's.
    ///
    /// - Throws: ``FramedError/Code/invalidUse`` when there are no bytes.
    public init(_ bytes: some Sequence<UInt8>) throws(FramedError) {
        let bytes = Array(bytes)
        guard !bytes.isEmpty else { throw FramedError(.invalidUse, message: "an empty delimiter") }
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

/// Ends every frame with a delimiter. Can stand in a pipeline of NIO (`MessageToByteHandler`).
public struct DelimiterEncoder: MessageToByteEncoder, Sendable {
    /// What goes in.
    public typealias OutboundIn = ByteBuffer

    private let delimiter: Delimiter

    /// An encoder.
    public init(delimiter: Delimiter) {
        self.delimiter = delimiter
    }

    /// Appends a frame.
    ///
    /// - Throws: ``FramedError/Code/invalidUse`` when the frame and its delimiter hold a delimiter before their end: the peer would read two
    ///   frames. Nothing was written then.
    public func encode(data frame: ByteBuffer, out buffer: inout ByteBuffer) throws(FramedError) {
        var whole = frame
        whole.writeBytes(self.delimiter.bytes)
        var decoder = DelimiterDecoder(delimiter: self.delimiter, maximumFrameBytes: .max)
        guard try decoder.decode(buffer: &whole) == frame else {
            throw FramedError(.invalidUse, message: "a frame of \(frame.readableBytes) bytes that holds the delimiter")
        }
        buffer.writeImmutableBuffer(frame)
        buffer.writeBytes(self.delimiter.bytes)
    }
}
