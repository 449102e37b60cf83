public import ApusJSON
public import NIOCore

/// The head of a message in the fixed mode: the caller's fields, and the length of the body that follows.
///
/// On the wire it is a JSON object, padded with zero bytes to a length both sides agreed upon, with the body's length under the name
/// ``lengthName``. Source: SocketDemo, `writeData:info:` and `didReadData:`.
public struct FixedHeader: Hashable, Sendable {
    /// The name of the length among the fields, as SocketDemo spells it.
    public static let lengthName = "bodyLenght"

    /// The lengths a header may be agreed to have. The shortest holds `{"bodyLenght":0}` and nothing else.
    ///
    /// Unit: bytes.
    public static let agreeableLengths = 16...FramedLimits.highestHeaderBytes

    /// The fields beside the length.
    public let fields: JSONObject

    /// How many bytes follow.
    public let bodyLength: Int

    /// A head to be sent.
    ///
    /// - Parameters:
    ///   - fields: The caller's fields. One named ``lengthName`` is left out: the length has one source.
    ///   - bodyLength: How many bytes follow.
    /// - Throws: ``FramedError/Code/invalidUse`` for a negative length.
    public init(fields: JSONObject = [:], bodyLength: Int) throws(FramedError) {
        guard bodyLength >= 0 else { throw FramedError(.invalidUse, message: "a body of \(bodyLength) bytes") }
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
    /// SocketDemo itself takes anything its JSON library makes something of; every reader would make something else of it. Refused are a
    /// length that is missing, negative, fractional or no number, names that are there twice, and padding that is not all zeros.
    ///
    /// - Parameters:
    ///   - bytes: All of the header, its padding included.
    ///   - limits: The bounds of the body and of the nesting.
    package init(parsing bytes: ByteBuffer, limits: FramedLimits) throws(FramedError) {
        // A zero byte stands in no JSON text: the first one is where the padding begins.
        let view = bytes.readableBytesView
        let end = view.firstIndex(of: 0) ?? view.endIndex
        guard view[end...].allSatisfy({ $0 == 0 }) else {
            throw FramedError(.malformedHeader, message: "a header is padded with other bytes than zeros")
        }
        let fields = try FrameHeaderText.read(
            bytes.getSlice(at: view.startIndex, length: end - view.startIndex) ?? ByteBuffer(), maximumDepth: limits.maximumHeaderDepth)
        guard case .integer(let number)? = fields[Self.lengthName], number >= 0 else {
            throw FramedError(.malformedHeader, message: "a header without a whole, positive \(Self.lengthName)")
        }
        guard let length = Int(exactly: number), length <= limits.maximumBodyBytes else {
            throw FramedError(.frameTooLarge, message: "a body of \(number) bytes announced, \(limits.maximumBodyBytes) allowed")
        }
        self.init(own: fields, bodyLength: length)
    }

    /// The bytes of the header: JSON and padding.
    ///
    /// - Parameter headerLength: The length that was agreed upon.
    /// - Throws: ``FramedError/Code/headerTooLarge`` when the fields do not fit; ``FramedError/Code/invalidUse`` when they cannot be
    ///   written, or the length is none of ``agreeableLengths``.
    public func encoded(headerLength: Int) throws(FramedError) -> ByteBuffer {
        guard Self.agreeableLengths.contains(headerLength) else {
            throw FramedError(.invalidUse, message: "a header of \(headerLength) bytes; \(Self.agreeableLengths) can be agreed upon")
        }
        var object = self.fields
        object[Self.lengthName] = JSONValue(self.bodyLength)
        let text = try FrameHeaderText.bytes(of: object)
        guard text.count <= headerLength else {
            throw FramedError(.headerTooLarge, message: "the header takes \(text.count) bytes, \(headerLength) were agreed upon")
        }
        var buffer = ByteBuffer()
        buffer.reserveCapacity(headerLength)
        buffer.writeBytes(text)
        buffer.writeRepeatingByte(0, count: headerLength - text.count)
        return buffer
    }
}
