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
        switch value {
        case .binary(let bytes):
            attachments.append(ByteBuffer(bytes: bytes))
            return .object([Self.mark: .bool(true), "num": .integer(Int64(attachments.count - 1))])
        case .array(let elements):
            var replaced: [SocketIOValue] = []
            replaced.reserveCapacity(elements.count)
            for element in elements { replaced.append(try self.extract(from: element, into: &attachments)) }
            return .array(replaced)
        case .object(let object):
            guard object[Self.mark] != .bool(true) else {
                throw SocketIOError(.invalidArguments, message: "an object with \"\(Self.mark)\": true cannot be sent beside binary data")
            }
            var members: [JSONObject.Element] = []
            members.reserveCapacity(object.count)
            for member in object { members.append((member.key, try self.extract(from: member.value, into: &attachments))) }
            return .object(JSONObject(members))
        case .null, .bool, .integer, .double, .string:
            return value
        }
    }

    /// Puts the attachments in the places of their placeholders, and takes them out of `attachments`. The depth of `value` is bounded by whoever
    /// read it.
    ///
    /// An attachment goes to one place: no encoder names it twice, and 30,000 placeholders for one megabyte would become 30 GB when relayed.
    static func fill(_ value: SocketIOValue, from attachments: inout [ByteBuffer?]) throws(SocketIOError) -> SocketIOValue {
        switch value {
        case .array(let elements):
            var filled: [SocketIOValue] = []
            filled.reserveCapacity(elements.count)
            for element in elements { filled.append(try self.fill(element, from: &attachments)) }
            return .array(filled)
        case .object(let object):
            if object[Self.mark] == .bool(true) {
                guard let number = object["num"]?.intValue, attachments.indices.contains(number), let bytes = attachments[number] else {
                    throw SocketIOError(
                        .malformedPacket, message: "a placeholder that names none of the \(attachments.count) attachments, or one in use")
                }
                attachments[number] = nil
                return .binary(Array(bytes.readableBytesView))
            }
            var members: [JSONObject.Element] = []
            members.reserveCapacity(object.count)
            for member in object { members.append((member.key, try self.fill(member.value, from: &attachments))) }
            return .object(JSONObject(members))
        case .null, .bool, .integer, .double, .string, .binary:
            return value
        }
    }
}
