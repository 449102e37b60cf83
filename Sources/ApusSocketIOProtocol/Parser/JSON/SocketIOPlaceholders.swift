import ApusJSON
import NIOCore

/// The stand-ins for binary data in a packet's JSON: `{"_placeholder":true,"num":0}`.
///
/// Source: Socket.IO protocol v5, "Packet encoding", BINARY_EVENT.
enum SocketIOPlaceholders {
    private static let mark = "_placeholder"

    /// Replaces every `.binary` by a placeholder and appends its bytes to `attachments`.
    ///
    /// An object that already looks like a placeholder is refused: the receiver would put an attachment there or close the connection,
    /// and a value relayed from one peer must not be able to do that to the others.
    static func extract(from value: SocketIOValue, into attachments: inout [ByteBuffer]) throws(SocketIOError) -> SocketIOValue {
        try value.replacing { value throws(SocketIOError) in
            switch value {
            case .binary(let bytes):
                attachments.append(ByteBuffer(bytes: bytes))
                return .object([Self.mark: .bool(true), "num": .integer(Int64(attachments.count - 1))])
            case .object(let object) where object[Self.mark] == .bool(true):
                throw SocketIOError(.invalidArguments, message: "an object with \"\(Self.mark)\": true cannot be sent beside binary data")
            case .null, .bool, .integer, .double, .string, .date, .array, .object: return nil
            }
        }
    }

    /// Puts the attachments in the places of their placeholders, and takes them out of `attachments`.
    ///
    /// An attachment goes to one place: no encoder names it twice, and 30,000 placeholders for one megabyte would become 30 GB when relayed.
    static func fill(_ value: SocketIOValue, from attachments: inout [ByteBuffer?]) throws(SocketIOError) -> SocketIOValue {
        try value.replacing { value throws(SocketIOError) in
            guard case .object(let object) = value, object[Self.mark] == .bool(true) else { return nil }
            guard let number = object["num"]?.intValue, attachments.indices.contains(number), let bytes = attachments[number] else {
                throw SocketIOError(
                    .malformedPacket, message: "a placeholder that names none of the \(attachments.count) attachments, or one in use")
            }
            attachments[number] = nil
            return .binary(Array(bytes.readableBytesView))
        }
    }
}
