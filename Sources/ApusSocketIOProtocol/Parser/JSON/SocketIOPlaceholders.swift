import ApusJSON
import NIOCore

/// The placeholders for binary data in the JSON of a packet: `{"_placeholder":true,"num":0}`.
///
/// Source: Socket.IO protocol v5, "Packet encoding", BINARY_EVENT.
enum SocketIOPlaceholders {
    private static let mark = "_placeholder"

    /// Replaces each `.binary` with a placeholder and appends its bytes to `attachments`.
    ///
    /// Throws for an object that already looks like a placeholder: the receiver would replace it
    /// with an attachment or close the connection. A relayed value of one peer must not affect
    /// others in this way.
    static func extract(from value: SocketIOValue, into attachments: inout [ByteBuffer]) throws(SocketIOError) -> SocketIOValue {
        try value.replacing { value throws(SocketIOError) in
            switch value {
            case .binary(let bytes):
                attachments.append(ByteBuffer(bytes: bytes))
                return .object([Self.mark: .bool(true), "num": .integer(Int64(attachments.count - 1))])
            case .object(let object) where object[Self.mark] == .bool(true):
                throw SocketIOError(.invalidUse, message: "an object with \"\(Self.mark)\": true cannot be sent with binary data")
            case .null, .bool, .integer, .double, .string, .date, .array, .object: return nil
            }
        }
    }

    /// Replaces the placeholders with the attachments, and sets each used attachment to `nil` in
    /// `attachments`.
    ///
    /// Each attachment can be used once; no encoder refers to one twice. Otherwise 30,000
    /// placeholders for one megabyte would become 30 GB when relayed.
    static func fill(_ value: SocketIOValue, from attachments: inout [ByteBuffer?]) throws(SocketIOError) -> SocketIOValue {
        try value.replacing { value throws(SocketIOError) in
            guard case .object(let object) = value, object[Self.mark] == .bool(true) else { return nil }
            guard let number = object["num"]?.intValue, attachments.indices.contains(number), let bytes = attachments[number] else {
                throw SocketIOError(
                    .malformedPacket, message: "each placeholder must refer to a different one of the \(attachments.count) attachments")
            }
            attachments[number] = nil
            return .binary(Array(bytes.readableBytesView))
        }
    }
}
