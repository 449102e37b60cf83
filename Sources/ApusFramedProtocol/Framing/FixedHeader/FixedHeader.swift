public import ApusJSON
public import NIOCore

/// The head of a message in the fixed mode: the caller's fields, and the length of the body that
/// follows.
///
/// On the wire it is a JSON object padded with zero bytes to the agreed length. The object contains
/// the length of the body under the name ``lengthName``. Source: SocketDemo, `writeData:info:` and
/// `didReadData:`.
public struct FixedHeader: Hashable, Sendable {
    /// The name of the length field, spelled as in SocketDemo.
    public static let lengthName = "bodyLenght"

    /// The permitted header lengths. The shortest one has space for `{"bodyLenght":0}` only.
    ///
    /// Unit: bytes.
    public static let agreeableLengths = 16...FramedLimits.highestHeaderBytes

    /// The fields other than the length.
    public let fields: JSONObject

    /// The length of the body in bytes.
    public let bodyLength: Int

    /// Creates a head to be sent.
    ///
    /// - Parameters:
    ///   - fields: The caller's fields. A field named ``lengthName`` is dropped in favor of
    ///     `bodyLength`.
    ///   - bodyLength: The length of the body in bytes.
    /// - Throws: ``FramedError/Code/invalidUse`` for a negative length.
    public init(fields: JSONObject = [:], bodyLength: Int) throws(FramedError) {
        guard bodyLength >= 0 else { throw FramedError(.invalidUse, message: "`bodyLength` must not be negative, but is \(bodyLength)") }
        self.init(own: fields, bodyLength: bodyLength)
    }

    private init(own fields: JSONObject, bodyLength: Int) {
        var fields = fields
        fields[Self.lengthName] = nil
        self.fields = fields
        self.bodyLength = bodyLength
    }

    /// Reads a header.
    ///
    /// SocketDemo accepts any text that its JSON library parses, and other readers may interpret
    /// the same text differently. This initializer therefore rejects a length that is missing,
    /// negative, fractional or not a number, repeated names, and padding other than zeros.
    ///
    /// - Parameters:
    ///   - bytes: The whole header, including its padding.
    ///   - limits: The limits for the body and the nesting.
    package init(parsing bytes: ByteBuffer, limits: FramedLimits) throws(FramedError) {
        // JSON text never contains a zero byte, so the first one starts the padding.
        let view = bytes.readableBytesView
        let end = view.firstIndex(of: 0) ?? view.endIndex
        guard view[end...].allSatisfy({ $0 == 0 }) else {
            throw FramedError(.malformedHeader, message: "the padding of the header contains bytes other than zero")
        }
        let fields = try FrameHeaderText.read(
            bytes.getSlice(at: view.startIndex, length: end - view.startIndex) ?? ByteBuffer(), maximumDepth: limits.maximumHeaderDepth)
        guard case .integer(let number)? = fields[Self.lengthName], number >= 0 else {
            throw FramedError(.malformedHeader, message: "the header must have a non-negative integer `\(Self.lengthName)`")
        }
        guard let length = Int(exactly: number), length <= limits.maximumBodyBytes else {
            throw FramedError(
                .frameTooLarge, message: "the body has \(number) bytes; the maximum is \(limits.maximumBodyBytes) (`maximumBodyBytes`)")
        }
        self.init(own: fields, bodyLength: length)
    }

    /// Returns the bytes of the header: JSON and padding.
    ///
    /// - Parameter headerLength: The agreed length of the header.
    /// - Throws: ``FramedError/Code/headerTooLarge`` when the fields do not fit;
    ///   ``FramedError/Code/invalidUse`` when they have no JSON form, or the length is not within
    ///   ``agreeableLengths``.
    public func encoded(headerLength: Int) throws(FramedError) -> ByteBuffer {
        guard Self.agreeableLengths.contains(headerLength) else {
            throw FramedError(
                .invalidUse,
                message:
                    "`headerLength` must be from \(Self.agreeableLengths.lowerBound) to \(Self.agreeableLengths.upperBound), not \(headerLength)"
            )
        }
        var object = self.fields
        object[Self.lengthName] = JSONValue(self.bodyLength)
        let text = try FrameHeaderText.bytes(of: object)
        guard text.count <= headerLength else {
            throw FramedError(
                .headerTooLarge, message: "the header has \(text.count) bytes; the maximum is \(headerLength) (`headerLength`)")
        }
        var buffer = ByteBuffer()
        buffer.reserveCapacity(headerLength)
        buffer.writeBytes(text)
        buffer.writeRepeatingByte(0, count: headerLength - text.count)
        return buffer
    }
}
