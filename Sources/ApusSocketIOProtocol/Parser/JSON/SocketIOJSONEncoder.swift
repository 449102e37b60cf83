package import ApusEngineIOProtocol
import ApusJSON
import NIOCore

/// Encodes packets as one text message, followed by one binary message per attachment without other
/// messages in between.
///
/// Source: Socket.IO protocol v5, "Packet encoding". Binary data anywhere in the arguments makes
/// the packet a BINARY_EVENT or BINARY_ACK.
package enum SocketIOJSONEncoder {
    /// Encodes a packet as messages.
    ///
    /// - Throws: ``SocketIOError/Code/invalidUse`` for a reserved event name, a negative ack id, a
    ///   number that is not finite, a value nested too deeply, binary data in a CONNECT, an object
    ///   that looks like a placeholder next to binary data, or a namespace that contains a comma or
    ///   does not start with a slash.
    package static func encode(_ packet: SocketIOPacket) throws(SocketIOError) -> [EngineIOMessage] {
        try packet.content.checkSent(to: packet.namespace)
        return try self.encode(checked: packet)
    }

    /// Encodes a packet that ``SocketIOPacket/Content/checkSent(to:)`` accepted.
    static func encode(checked packet: SocketIOPacket) throws(SocketIOError) -> [EngineIOMessage] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        var attachments: [ByteBuffer] = []
        let content = try packet.content.extractingBinary(into: &attachments)
        try self.writeText(
            of: content, namespace: packet.namespace, attachments: attachments.isEmpty ? nil : attachments.count, into: &bytes)
        let text = EngineIOMessage.text(ByteBuffer(bytes: bytes))
        return attachments.isEmpty ? [text] : [text] + attachments.map { .binary($0) }
    }

    /// Appends the text of a valid packet, whose binary data has been extracted.
    ///
    /// - Parameters:
    ///   - omitsText: Whether to omit arguments that were received as text. The caller inserts them
    ///     before the last byte.
    ///   - attachments: The number of binary messages that follow; `nil` without binary data.
    static func writeText(
        of content: SocketIOPacket.Content, omitsText: Bool = false, namespace: String, attachments: Int? = nil,
        into bytes: inout [UInt8]
    ) throws(SocketIOError) {
        guard namespace == "/" || !namespace.utf8.contains(UInt8(ascii: ",")) else {
            throw SocketIOError(.invalidUse, message: "the namespace \"\(namespace)\" must not contain a comma")
        }
        do throws(JSONError) {
            try JSONOutput.append(to: &bytes) { output throws(JSONError) in
                switch content {
                case .connect(let auth):
                    self.writeHeader(.connect, namespace, ackID: nil, into: &output)
                    if let auth { try JSONWriter.write(auth, into: &output) }
                case .disconnect:
                    self.writeHeader(.disconnect, namespace, ackID: nil, into: &output)
                case .connectError(let data):
                    self.writeHeader(.connectError, namespace, ackID: nil, into: &output)
                    try JSONWriter.write(data, into: &output)
                case .event(let name, let arguments, let ackID):
                    self.writeHeader(
                        attachments == nil ? .event : .binaryEvent, attachments: attachments, namespace, ackID: ackID, into: &output)
                    output.append(UInt8(ascii: "["))
                    JSONWriter.write(name, into: &output)
                    try self.write(arguments, omitsText: omitsText, isFirst: false, into: &output)
                    output.append(UInt8(ascii: "]"))
                case .ack(let id, let arguments):
                    self.writeHeader(attachments == nil ? .ack : .binaryAck, attachments: attachments, namespace, ackID: id, into: &output)
                    output.append(UInt8(ascii: "["))
                    try self.write(arguments, omitsText: omitsText, isFirst: true, into: &output)
                    output.append(UInt8(ascii: "]"))
                }
            }
        } catch {
            throw SocketIOError(.invalidUse, message: "a value cannot be encoded as JSON", cause: error)
        }
    }

    private static func writeHeader(
        _ type: SocketIOPacketType, attachments: Int? = nil, _ namespace: String, ackID: Int?, into output: inout JSONOutput
    ) {
        output.append(type.rawValue)
        if let attachments {
            JSONWriter.write(attachments, into: &output)
            output.append(UInt8(ascii: "-"))
        }
        if namespace != "/" {
            var namespace = namespace
            namespace.withUTF8 { output.append(UnsafeRawBufferPointer($0)) }
            output.append(UInt8(ascii: ","))
        }
        if let ackID { JSONWriter.write(ackID, into: &output) }
    }

    private static func write(
        _ arguments: SocketIOPayload, omitsText: Bool, isFirst: Bool, into output: inout JSONOutput
    ) throws(JSONError) {
        switch arguments.storage {
        case .text(let text):
            if !isFirst { output.append(UInt8(ascii: ",")) }
            if !omitsText { text.withUnsafeReadableBytes { output.append($0) } }  // text as received
        case .values(let values):
            var isFirst = isFirst
            for value in values {
                if isFirst { isFirst = false } else { output.append(UInt8(ascii: ",")) }
                try JSONWriter.write(value, into: &output, depth: 1)
            }
        }
    }
}

extension SocketIOPayload {
    /// Whether the arguments contain binary data. Arguments received as text contain none.
    var containsBinary: Bool {
        switch self.storage {
        case .text: false
        case .values(let values): values.contains { $0.containsBinary }
        }
    }
}

extension SocketIOPacket.Content {
    /// Returns the content with placeholders in place of its binary data, which is appended to
    /// `attachments`.
    fileprivate func extractingBinary(into attachments: inout [ByteBuffer]) throws(SocketIOError) -> Self {
        switch self {
        case .event(let name, let arguments, let ackID) where arguments.containsBinary:
            return .event(name: name, arguments: try arguments.extractingBinary(into: &attachments), ackID: ackID)
        case .ack(let id, let arguments) where arguments.containsBinary:
            return .ack(id: id, arguments: try arguments.extractingBinary(into: &attachments))
        case .connect, .disconnect, .event, .ack, .connectError: return self
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
