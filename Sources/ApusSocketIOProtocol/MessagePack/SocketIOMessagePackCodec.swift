import ApusEngineIOProtocol
import ApusJSON
import NIOCore

/// Encodes and decodes packets as `socket.io-msgpack-parser` does: one binary message with a map of
/// `type`, `nsp` and, if present, `data` and `id`.
enum SocketIOMessagePackCodec {
    static func encode(checked packet: SocketIOPacket) throws(SocketIOError) -> [EngineIOMessage] {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(256)
        switch packet.content {
        case .connect(let auth): try self.write(.connect, packet.namespace, data: auth, into: &buffer)
        case .disconnect: try self.write(.disconnect, packet.namespace, data: nil, into: &buffer)
        case .connectError(let data): try self.write(.connectError, packet.namespace, data: data, into: &buffer)
        case .event(let name, let arguments, let ackID):
            try self.write(.event, packet.namespace, ackID: ackID, name: name, arguments: arguments.arguments, into: &buffer)
        case .ack(let id, let arguments):
            try self.write(.ack, packet.namespace, ackID: id, name: nil, arguments: arguments.arguments, into: &buffer)
        }
        return [.binary(buffer)]
    }

    private static func write(
        _ type: SocketIOPacketType, _ namespace: String, data: SocketIOValue?, into buffer: inout ByteBuffer
    ) throws(SocketIOError) {
        try self.writeHead(type, namespace, memberCount: data == nil ? 2 : 3, into: &buffer)
        guard let data else { return }
        try MessagePackWriter.write("data", into: &buffer)
        try MessagePackWriter.write(data, into: &buffer, depth: 0)
    }

    /// Writes the name and the arguments in place, without an intermediate array.
    private static func write(
        _ type: SocketIOPacketType, _ namespace: String, ackID: Int?, name: String?, arguments: [SocketIOValue],
        into buffer: inout ByteBuffer
    ) throws(SocketIOError) {
        try self.writeHead(type, namespace, memberCount: ackID == nil ? 3 : 4, into: &buffer)
        if let ackID {
            try MessagePackWriter.write("id", into: &buffer)
            MessagePackWriter.write(Int64(ackID), into: &buffer)
        }
        try MessagePackWriter.write("data", into: &buffer)
        try MessagePackWriter.writeArrayHeader(arguments.count + (name == nil ? 0 : 1), into: &buffer)
        if let name { try MessagePackWriter.write(name, into: &buffer) }
        for argument in arguments { try MessagePackWriter.write(argument, into: &buffer, depth: 1) }
    }

    private static func writeHead(
        _ type: SocketIOPacketType, _ namespace: String, memberCount: Int, into buffer: inout ByteBuffer
    ) throws(SocketIOError) {
        try MessagePackWriter.writeMapHeader(memberCount, into: &buffer)
        try MessagePackWriter.write("type", into: &buffer)
        MessagePackWriter.write(Int64(type.rawValue - SocketIOPacketType.connect.rawValue), into: &buffer)
        try MessagePackWriter.write("nsp", into: &buffer)
        try MessagePackWriter.write(namespace, into: &buffer)
    }

    /// Decodes the packet of a message. Unknown members, such as the `options` of a JavaScript
    /// peer, are ignored.
    static func decode(
        _ message: EngineIOMessage, version: SocketIOVersion, limits: SocketIOLimits
    ) throws(SocketIOError) -> SocketIOPacket {
        guard case .binary(let bytes) = message else {
            throw SocketIOError(
                .malformedPacket, message: "the message is text, not MessagePack; check that both peers use the same parser")
        }
        let members = try MessagePack.reading(bytes, maximumDepth: limits.maximumDepth) { reader throws(SocketIOError) in
            var members = Members()
            for _ in 0..<(try reader.mapHeader()) {
                let name = try reader.name()
                let value = try reader.value()
                switch name {
                case "type": members.type = value
                case "nsp": members.namespace = value
                case "data": members.data = value
                case "id": members.id = value
                default: break
                }
            }
            return members
        }
        let packet = try self.packet(members, version: version)
        if case .connect = packet.content { try limits.checkConnect(bytes: bytes.readableBytes) }
        return packet
    }

    private struct Members {
        var type: SocketIOValue?
        var namespace: SocketIOValue?
        var data: SocketIOValue?
        var id: SocketIOValue?
    }

    private static func packet(_ members: Members, version: SocketIOVersion) throws(SocketIOError) -> SocketIOPacket {
        guard let type = self.packetType(members.type, version: version) else {
            throw SocketIOError(.malformedPacket, message: "`type` of a packet must be the number of a packet type")
        }
        guard let namespace = members.namespace?.stringValue else {
            throw SocketIOError(.malformedPacket, message: "`nsp` of a packet must be a string, the namespace")
        }
        var payload = members.data
        switch type {
        case .connect, .disconnect:
            // python-socketio and notepack 3 send null for an absent payload.
            if payload == .null { payload = nil }
        case .event, .ack, .connectError, .binaryEvent, .binaryAck: break
        }
        let content = try SocketIOPacket.Content(type, payload: payload, ackID: try self.ackID(members.id, type), version: version)
        return SocketIOPacket(namespace: namespace, content: content)
    }

    private static func packetType(_ value: SocketIOValue?, version: SocketIOVersion) -> SocketIOPacketType? {
        guard case .integer(let number) = value, (0...6).contains(number), let digit = UInt8(exactly: number + 0x30),
            let type = SocketIOPacketType(rawValue: digit)
        else { return nil }
        // MessagePack does not need the binary packet types, but JavaScript peers of protocol
        // version 4 use them.
        return type.carriesAttachments && version != .v4 ? nil : type
    }

    private static func ackID(_ value: SocketIOValue?, _ type: SocketIOPacketType) throws(SocketIOError) -> Int? {
        switch value {
        case nil, .null: return nil
        case .integer(let id):
            guard id >= 0, let id = Int(exactly: id), type != .connect, type != .disconnect, type != .connectError else { break }
            return id
        case .bool, .double, .string, .binary, .date, .array, .object: break
        }
        throw SocketIOError(.malformedPacket, message: "an ack id must be an integer of 0 or more, on an event or an ack")
    }
}
