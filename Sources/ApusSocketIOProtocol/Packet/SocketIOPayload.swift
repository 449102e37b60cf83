import ApusBytes
public import ApusJSON
package import NIOCore

/// The arguments of an event or an ack: values, or the text they came as.
///
/// What comes from a peer is checked as JSON before anybody sees it, and decoded when ``arguments`` asks. What is passed on as a payload is not
/// decoded at all: it goes out as it came, spaces and escapes included.
public struct SocketIOPayload: Sendable {
    enum Storage: Sendable {
        case values([SocketIOValue])
        /// The elements of an array without its brackets: checked JSON that names no attachments.
        case text(ByteBuffer)
    }

    let storage: Storage

    /// A payload of these arguments.
    public init(_ arguments: [SocketIOValue]) { self.storage = .values(arguments) }

    /// Creates a payload of one argument, encoded on the caller's thread. Binary data is refused.
    package init(writing argument: SocketIOValue) throws(JSONError) {
        self.init(checked: ByteBuffer(bytes: try JSONWriter.bytes(of: argument)))
    }

    /// - Parameter text: The elements of an array without its brackets. The caller has checked it.
    init(checked text: ByteBuffer) { self.storage = .text(text) }

    /// How text that was checked is read: it may be as deep as any connection permits.
    static let limits = JSONReader.Limits(maximumDepth: JSONReader.Limits.highestDepth, loneSurrogates: .replace)

    /// The arguments. What came as text is decoded, each time anew.
    public var arguments: [SocketIOValue] {
        switch self.storage {
        case .values(let values): return values
        case .text(let text):
            var values: [SocketIOValue] = []
            text.withUnsafeReadableBytes { bytes in
                var elements = JSONElements(bytes, limits: SocketIOPayload.limits)
                // It was checked: there is no error to hand on.
                while let value = try? elements.next() { values.append(value) }
            }
            return values
        }
    }

    /// The last argument, if it is a text.
    package var lastText: String? {
        if case .text(let text) = self.storage {
            let last = text.readableBytesView.last { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
            guard last == UInt8(ascii: "\"") else { return nil }  // nothing is decoded for it
        }
        return self.arguments.last?.stringValue
    }

    /// Whether there are no arguments.
    public var isEmpty: Bool {
        switch self.storage {
        case .values(let values): values.isEmpty
        case .text: false
        }
    }

    /// The JSON text, without brackets, of what came as such.
    var text: ByteBuffer? {
        switch self.storage {
        case .text(let text): text
        case .values: nil
        }
    }

    /// The size from which on a text that goes on as it came is not copied for it.
    private static let minimumUncopiedBytes = 16 << 10

    /// ``text``, when it is so large that it is not to be copied into what is sent.
    package var largeText: ByteBuffer? {
        guard case .text(let text) = self.storage, text.readableBytes >= Self.minimumUncopiedBytes else { return nil }
        return text
    }

    /// The same for who keeps it for some time: its text no longer shares the memory of all that was read with it.
    package var detached: SocketIOPayload {
        guard case .text(let text) = self.storage else { return self }
        return SocketIOPayload(checked: text.detached)
    }
}

extension SocketIOPayload: Equatable, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// Equal are payloads of equal arguments.
    public static func == (left: Self, right: Self) -> Bool { left.arguments == right.arguments }

    /// A payload of these arguments.
    public init(arrayLiteral arguments: SocketIOValue...) { self.init(arguments) }

    /// For people: the arguments as JSON.
    public var description: String { SocketIOValue.array(self.arguments).description }
}
