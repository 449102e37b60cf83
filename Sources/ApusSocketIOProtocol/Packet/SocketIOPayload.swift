import ApusBytes
public import ApusJSON
package import NIOCore

/// The arguments of an event or an ack, as values or as the JSON text received.
///
/// The text of a peer is validated first, and decoded when ``arguments`` is read. A payload that is
/// relayed is not decoded: it is sent as received, including spaces and escapes.
public struct SocketIOPayload: Sendable {
    enum Storage: Sendable {
        case values([SocketIOValue])
        /// The elements of an array without its brackets: validated JSON without attachments.
        case text(ByteBuffer)
    }

    let storage: Storage

    /// Creates a payload of these arguments.
    public init(_ arguments: [SocketIOValue]) { self.storage = .values(arguments) }

    /// Creates a payload of one argument, encoded as JSON text by this call.
    ///
    /// - Throws: An error if the argument contains binary data or cannot be encoded.
    package init(writing argument: SocketIOValue) throws(JSONError) {
        self.init(checked: ByteBuffer(bytes: try JSONWriter.bytes(of: argument)))
    }

    /// Creates a payload of validated text.
    ///
    /// - Parameter text: The elements of an array without its brackets.
    init(checked text: ByteBuffer) { self.storage = .text(text) }

    /// The limits for reading validated text, which may be nested to the maximum depth of the
    /// reader.
    static let limits = JSONReader.Limits(maximumDepth: JSONReader.Limits.highestDepth, loneSurrogates: .replace)

    /// The arguments. Text is decoded at every access.
    public var arguments: [SocketIOValue] {
        switch self.storage {
        case .values(let values): return values
        case .text(let text):
            var values: [SocketIOValue] = []
            text.withUnsafeReadableBytes { bytes in
                var elements = JSONElements(bytes, limits: SocketIOPayload.limits)
                // The text is validated, so there is no error to report.
                while let value = try? elements.next() { values.append(value) }
            }
            return values
        }
    }

    /// The last argument, if it is a string.
    package var lastText: String? {
        if case .text(let text) = self.storage {
            let last = text.readableBytesView.last { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
            guard last == UInt8(ascii: "\"") else { return nil }  // avoids decoding
        }
        return self.arguments.last?.stringValue
    }

    /// The number of bytes of the text; 0 for values, which are not encoded yet.
    package var textBytes: Int { self.text?.readableBytes ?? 0 }

    /// Whether there are no arguments.
    public var isEmpty: Bool {
        switch self.storage {
        case .values(let values): values.isEmpty
        case .text: false
        }
    }

    /// The JSON text without brackets, if the payload was received as text.
    var text: ByteBuffer? {
        switch self.storage {
        case .text(let text): text
        case .values: nil
        }
    }

    /// The minimum size of relayed text that is not copied, in bytes.
    private static let minimumUncopiedBytes = 16 << 10

    /// ``text``, if it is too large to be copied into the outgoing message.
    package var largeText: ByteBuffer? {
        guard case .text(let text) = self.storage, text.readableBytes >= Self.minimumUncopiedBytes else { return nil }
        return text
    }

    /// The payload with a copy of its text, for long-term storage. The copy does not retain the
    /// buffer from which the text was read.
    package var detached: SocketIOPayload {
        guard case .text(let text) = self.storage else { return self }
        return SocketIOPayload(checked: text.detached)
    }
}

extension SocketIOPayload: Equatable, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// Compares the arguments.
    public static func == (left: Self, right: Self) -> Bool { left.arguments == right.arguments }

    /// Creates a payload of these arguments.
    public init(arrayLiteral arguments: SocketIOValue...) { self.init(arguments) }

    /// The arguments as JSON.
    public var description: String { SocketIOValue.array(self.arguments).description }
}

/// Reads the arguments of a payload one at a time, decoding each on demand.
struct SocketIOPayloadReader {
    private var values: ArraySlice<SocketIOValue> = []
    private var text: ByteBuffer?

    init(_ payload: SocketIOPayload) {
        self.text = payload.text
        if self.text == nil { self.values = payload.arguments[...] }
    }

    /// Returns the next argument, or `nil` after the last.
    mutating func next() -> SocketIOValue? {
        guard let text = self.text else { return self.values.popFirst() }
        let (value, length) = text.withUnsafeReadableBytes { bytes -> (SocketIOValue?, Int) in
            var elements = JSONElements(bytes, limits: SocketIOPayload.limits)
            return (try? elements.next(), elements.offset)  // validated, so there is no error
        }
        self.text?.moveReaderIndex(forwardBy: length)
        return value
    }
}
