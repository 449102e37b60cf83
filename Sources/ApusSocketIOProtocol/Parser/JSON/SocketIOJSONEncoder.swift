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
        let parcel = SocketIOParcel(packet)
        try parcel.checkSent()
        return try self.encode(checked: parcel)
    }

    /// The messages of a packet that may be sent.
    static func encode(checked parcel: SocketIOParcel) throws(SocketIOError) -> [EngineIOMessage] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        var attachments: [ByteBuffer] = []
        let content = try parcel.content.extractingBinary(into: &attachments)
        try self.write(content, parcel.namespace, attachments: attachments.isEmpty ? nil : attachments.count, into: &bytes)
        let text = EngineIOMessage.text(ByteBuffer(bytes: bytes))
        return attachments.isEmpty ? [text] : [text] + attachments.map { .binary($0) }
    }

    /// Appends the text of a packet that may be sent and holds no binary data.
    static func writeText(of parcel: SocketIOParcel, into bytes: inout [UInt8]) throws(SocketIOError) {
        try self.write(parcel.content, parcel.namespace, attachments: nil, into: &bytes)
    }

    private static func write(
        _ content: SocketIOParcel.Content, _ namespace: String, attachments: Int?, into bytes: inout [UInt8]
    ) throws(SocketIOError) {
        switch content {
        case .connect(let auth):
            try self.writeHeader(.connect, namespace, ackID: nil, into: &bytes)
            if let auth { try self.write(auth, into: &bytes) }
        case .disconnect:
            try self.writeHeader(.disconnect, namespace, ackID: nil, into: &bytes)
        case .connectError(let data):
            try self.writeHeader(.connectError, namespace, ackID: nil, into: &bytes)
            try self.write(data, into: &bytes)
        case .event(let name, let arguments, let ackID):
            try self.writeHeader(
                attachments == nil ? .event : .binaryEvent, attachments: attachments, namespace, ackID: ackID, into: &bytes)
            bytes.append(UInt8(ascii: "["))
            try self.write(.string(name), into: &bytes)
            try self.write(arguments, isFirst: false, into: &bytes)
            bytes.append(UInt8(ascii: "]"))
        case .ack(let id, let arguments):
            try self.writeHeader(attachments == nil ? .ack : .binaryAck, attachments: attachments, namespace, ackID: id, into: &bytes)
            bytes.append(UInt8(ascii: "["))
            try self.write(arguments, isFirst: true, into: &bytes)
            bytes.append(UInt8(ascii: "]"))
        }
    }

    private static func writeHeader(
        _ type: SocketIOPacketType, attachments: Int? = nil, _ namespace: String, ackID: Int?, into bytes: inout [UInt8]
    ) throws(SocketIOError) {
        bytes.append(type.rawValue)
        if let attachments {
            try self.write(.integer(Int64(attachments)), into: &bytes)
            bytes.append(UInt8(ascii: "-"))
        }
        if namespace != "/" {
            guard !namespace.utf8.contains(UInt8(ascii: ",")) else {
                throw SocketIOError(.invalidArguments, message: "a namespace holds no comma; got \"\(namespace)\"")
            }
            bytes.append(contentsOf: namespace.utf8)
            bytes.append(UInt8(ascii: ","))
        }
        if let ackID { try self.write(.integer(Int64(ackID)), into: &bytes) }
    }

    private static func write(_ arguments: SocketIOPayload, isFirst: Bool, into bytes: inout [UInt8]) throws(SocketIOError) {
        var isFirst = isFirst
        if let text = arguments.text {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            return text.withUnsafeReadableBytes { bytes.append(contentsOf: $0) }  // as it came
        }
        for argument in arguments.arguments {
            if isFirst { isFirst = false } else { bytes.append(UInt8(ascii: ",")) }
            try self.write(argument, into: &bytes)
        }
    }

    private static func write(_ value: SocketIOValue, into bytes: inout [UInt8]) throws(SocketIOError) {
        do throws(JSONError) {
            try JSONWriter.write(value, into: &bytes)
        } catch {
            throw SocketIOError(.invalidArguments, message: "a value that has no form on the wire", cause: error)
        }
    }
}

extension SocketIOPayload {
    /// Whether binary data stands anywhere in the arguments. None does in what came as text.
    var containsBinary: Bool { self.text == nil && self.arguments.contains { $0.containsBinary } }
}

extension SocketIOParcel.Content {
    /// Whether the packet takes attachments.
    var containsBinary: Bool {
        switch self {
        case .event(_, let arguments, _), .ack(_, let arguments): arguments.containsBinary
        case .connect, .disconnect, .connectError: false
        }
    }

    /// The same with placeholders for its binary data, which is appended to `attachments`.
    fileprivate func extractingBinary(into attachments: inout [ByteBuffer]) throws(SocketIOError) -> Self {
        guard self.containsBinary else { return self }
        switch self {
        case .event(let name, let arguments, let ackID):
            return .event(name: name, arguments: try arguments.extractingBinary(into: &attachments), ackID: ackID)
        case .ack(let id, let arguments): return .ack(id: id, arguments: try arguments.extractingBinary(into: &attachments))
        case .connect, .disconnect, .connectError: return self
        }
    }
}

extension SocketIOPayload {
    fileprivate func extractingBinary(into attachments: inout [ByteBuffer]) throws(SocketIOError) -> SocketIOPayload {
        var arguments = self.arguments
        for index in arguments.indices {
            arguments[index] = try SocketIOPlaceholders.extract(from: arguments[index], into: &attachments)
        }
        return SocketIOPayload(arguments)
    }
}
