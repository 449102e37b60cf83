package import ApusEngineIOProtocol
import ApusJSON
import NIOCore

/// Writes packets as a line of text and its attachments: one text message, then the attachments as binary ones, with nothing in between.
///
/// Source: Socket.IO protocol v5, "Packet encoding". Binary data anywhere in the arguments makes the packet a binary one.
package enum SocketIOJSONEncoder {
    /// The messages of a packet, in order.
    ///
    /// - Throws: ``SocketIOError/Code/invalidArguments`` for what has no form on the wire: a reserved event name, a number that is not finite,
    ///   binary data in a CONNECT, an object that looks like a placeholder beside binary data, a namespace that holds a comma or does not
    ///   start with a slash.
    package static func encode(_ packet: SocketIOPacket) throws(SocketIOError) -> [EngineIOMessage] {
        try packet.checkSent()
        switch packet.content {
        case .connect(let auth):
            return try self.encode(.connect, packet.namespace, payload: auth)
        case .disconnect:
            return try self.encode(.disconnect, packet.namespace, payload: nil)
        case .connectError(let data):
            return try self.encode(.connectError, packet.namespace, payload: data)
        case .event(let name, let arguments, let ackID):
            return try self.encode(.event, packet.namespace, ackID: ackID, name: name, arguments: arguments)
        case .ack(let id, let arguments):
            return try self.encode(.ack, packet.namespace, ackID: id, name: nil, arguments: arguments)
        }
    }

    private static func encode(
        _ type: SocketIOPacketType, _ namespace: String, payload: SocketIOValue?
    ) throws(SocketIOError) -> [EngineIOMessage] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64)
        try self.writeHeader(type, attachments: 0, namespace, ackID: nil, into: &bytes)
        if let payload { try self.write(payload, into: &bytes) }
        return [.text(ByteBuffer(bytes: bytes))]
    }

    private static func encode(
        _ type: SocketIOPacketType, _ namespace: String, ackID: Int?, name: String?, arguments: [SocketIOValue]
    ) throws(SocketIOError) -> [EngineIOMessage] {
        var type = type
        var attachments: [ByteBuffer] = []
        var arguments = arguments
        if arguments.contains(where: { $0.containsBinary }) {
            for index in arguments.indices {
                arguments[index] = try SocketIOPlaceholders.extract(from: arguments[index], into: &attachments)
            }
            type = type == .event ? .binaryEvent : .binaryAck
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        try self.writeHeader(type, attachments: attachments.count, namespace, ackID: ackID, into: &bytes)
        bytes.append(UInt8(ascii: "["))
        if let name { try self.write(.string(name), into: &bytes) }
        for (index, argument) in arguments.enumerated() {
            if index > 0 || name != nil { bytes.append(UInt8(ascii: ",")) }
            try self.write(argument, into: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
        let text = EngineIOMessage.text(ByteBuffer(bytes: bytes))
        return attachments.isEmpty ? [text] : [text] + attachments.map { .binary($0) }
    }

    private static func writeHeader(
        _ type: SocketIOPacketType, attachments: Int, _ namespace: String, ackID: Int?, into bytes: inout [UInt8]
    ) throws(SocketIOError) {
        bytes.append(type.rawValue)
        if type.carriesAttachments {
            bytes.append(contentsOf: String(attachments).utf8)
            bytes.append(UInt8(ascii: "-"))
        }
        if namespace != "/" {
            guard !namespace.utf8.contains(UInt8(ascii: ",")) else {
                throw SocketIOError(.invalidArguments, message: "a namespace holds no comma; got \"\(namespace)\"")
            }
            bytes.append(contentsOf: namespace.utf8)
            bytes.append(UInt8(ascii: ","))
        }
        if let ackID { bytes.append(contentsOf: String(ackID).utf8) }
    }

    private static func write(_ value: SocketIOValue, into bytes: inout [UInt8]) throws(SocketIOError) {
        do throws(JSONError) {
            try JSONWriter.write(value, into: &bytes)
        } catch {
            throw SocketIOError(.invalidArguments, message: "a value that has no form on the wire", cause: error)
        }
    }
}
