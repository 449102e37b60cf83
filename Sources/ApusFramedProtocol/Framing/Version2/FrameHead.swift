public import ApusJSON
public import NIOCore

/// The beginning of a frame of version 2: its type, its JSON header, and the length of its body.
public struct FrameHead: Hashable, Sendable {
    /// The type of the frame.
    public var type: FrameType
    /// The flags of the frame.
    public var flags: FrameFlags
    /// The identifier of the transfer that the frame belongs to; 0 denotes the session.
    public var stream: UInt16
    /// The JSON header. Empty when the frame has none.
    public var header: JSONObject
    /// The number of bytes that follow the head.
    public var bodyLength: Int

    /// Creates a head.
    ///
    /// - Parameters:
    ///   - type: The type of the frame.
    ///   - flags: The flags of the frame.
    ///   - stream: The identifier of the transfer; 0 denotes the session.
    ///   - header: The JSON header.
    ///   - bodyLength: The length of the body in bytes.
    public init(_ type: FrameType, flags: FrameFlags = [], stream: UInt16 = 0, header: JSONObject = [:], bodyLength: Int = 0) {
        self.type = type
        self.flags = flags
        self.stream = stream
        self.header = header
        self.bodyLength = bodyLength
    }

    /// Writes the head. The caller writes the body after it.
    ///
    /// - Throws: ``FramedError/Code/headerTooLarge`` above ``FramedLimits/highestHeaderBytes``;
    ///   ``FramedError/Code/invalidUse`` for values without a JSON form, a header nested too
    ///   deeply, or a negative ``bodyLength``. In these cases, nothing is written.
    public func write(into buffer: inout ByteBuffer) throws(FramedError) {
        guard let bodyLength = UInt64(exactly: self.bodyLength) else {
            throw FramedError(.invalidUse, message: "`bodyLength` must not be negative, but is \(self.bodyLength)")
        }
        let text = self.header.isEmpty ? [] : try FrameHeaderText.bytes(of: self.header)
        guard text.count <= FramedLimits.highestHeaderBytes else {
            throw FramedError(
                .headerTooLarge,
                message: "the header has \(text.count) bytes; the maximum is \(FramedLimits.highestHeaderBytes)")
        }
        let start = FrameStart(
            type: self.type, flags: self.flags, stream: self.stream, headerLength: UInt32(text.count), bodyLength: bodyLength)
        start.write(into: &buffer)
        buffer.writeBytes(text)
    }
}

/// The sixteen bytes at the beginning of every frame. All integers are big endian.
struct FrameStart {
    static let length = 16
    /// The offset of the stream identifier.
    static let streamOffset = 2

    var type: FrameType
    var flags: FrameFlags
    var stream: UInt16
    var headerLength: UInt32
    var bodyLength: UInt64

    init(type: FrameType, flags: FrameFlags, stream: UInt16, headerLength: UInt32, bodyLength: UInt64) {
        self.type = type
        self.flags = flags
        self.stream = stream
        self.headerLength = headerLength
        self.bodyLength = bodyLength
    }

    /// Reads the sixteen bytes; returns `nil` when they are incomplete.
    init?(_ buffer: inout ByteBuffer) {
        guard let numbers = buffer.readMultipleIntegers(as: (UInt8, UInt8, UInt16, UInt32, UInt64).self) else { return nil }
        self.init(
            type: FrameType(rawValue: numbers.0), flags: FrameFlags(rawValue: numbers.1), stream: numbers.2, headerLength: numbers.3,
            bodyLength: numbers.4)
    }

    func write(into buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(self.type.rawValue, self.flags.rawValue, self.stream, self.headerLength, self.bodyLength)
    }
}
