package import ApusEngineIOProtocol
import ApusJSON
import NIOCore

/// Encodes packets as one text message, followed by one binary message per attachment without other
/// messages in between.
///
/// Source: Socket.IO protocol v5, "Packet encoding". Binary data anywhere in the arguments makes
/// the packet a binary one.
package enum SocketIOJSONEncoder {
    /// Encodes a packet as messages.
    ///
    /// - Throws: ``SocketIOError/Code/invalidArguments`` for a reserved event name, a number that
    ///   is not finite, binary data in a CONNECT, an object that looks like a placeholder next to
    ///   binary data, or a namespace that contains a comma or does not start with a slash.
    package static func encode(_ packet: SocketIOPacket) throws(SocketIOError) -> [EngineIOMessage] {
        let undecoded = UndecodedPacket(packet)
        try undecoded.checkSent()
        return try self.encode(checked: undecoded)
    }

    /// Encodes a packet that ``UndecodedPacket/checkSent()`` accepted.
    static func encode(checked undecoded: UndecodedPacket) throws(SocketIOError) -> [EngineIOMessage] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        var attachments: [ByteBuffer] = []
        let content = try undecoded.content.extractingBinary(into: &attachments)
        try self.write(content, undecoded.namespace, attachments: attachments.isEmpty ? nil : attachments.count, into: &bytes)
        let text = EngineIOMessage.text(ByteBuffer(bytes: bytes))
        return attachments.isEmpty ? [text] : [text] + attachments.map { .binary($0) }
    }

    /// Appends the text of a valid event or ack without binary data.
    ///
    /// - Parameter omitsText: Whether to omit arguments that were received as text. The caller
    ///   inserts them before the last byte.
    static func writeText(
        of call: EventOrAck, _ arguments: SocketIOPayload, omitsText: Bool, namespace: String, into bytes: inout [UInt8]
    ) throws(SocketIOError) {
        try self.write(namespace, into: &bytes) { output throws(JSONError) in
            try self.write(call, arguments, omitsText: omitsText, namespace, attachments: nil, into: &output)
        }
    }

    /// Appends the text of a valid packet without binary data.
    static func writeText(of undecoded: UndecodedPacket, into bytes: inout [UInt8]) throws(SocketIOError) {
        try self.write(undecoded.content, undecoded.namespace, attachments: nil, into: &bytes)
    }

    private static func write(
        _ content: UndecodedPacket.Content, _ namespace: String, attachments: Int?, into bytes: inout [UInt8]
    ) throws(SocketIOError) {
        try self.write(namespace, into: &bytes) { output throws(JSONError) in
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
                try self.write(.event(name: name, ackID: ackID), arguments, namespace, attachments: attachments, into: &output)
            case .ack(let id, let arguments):
                try self.write(.ack(id: id), arguments, namespace, attachments: attachments, into: &output)
            }
        }
    }

    /// Appends the output of `write`, after a check of the namespace.
    @inline(__always)
    private static func write(
        _ namespace: String, into bytes: inout [UInt8], _ write: (inout JSONOutput) throws(JSONError) -> Void
    ) throws(SocketIOError) {
        guard namespace == "/" || !namespace.utf8.contains(UInt8(ascii: ",")) else {
            throw SocketIOError(.invalidArguments, message: "a namespace must not contain a comma: \"\(namespace)\"")
        }
        do throws(JSONError) {
            try JSONOutput.append(to: &bytes, write)
        } catch {
            throw SocketIOError(.invalidArguments, message: "a value cannot be encoded as JSON", cause: error)
        }
    }

    private static func write(
        _ call: EventOrAck, _ arguments: SocketIOPayload, omitsText: Bool = false, _ namespace: String, attachments: Int?,
        into output: inout JSONOutput
    ) throws(JSONError) {
        switch call {
        case .event(let name, let ackID):
            self.writeHeader(attachments == nil ? .event : .binaryEvent, attachments: attachments, namespace, ackID: ackID, into: &output)
            output.append(UInt8(ascii: "["))
            JSONWriter.write(name, into: &output)
            try self.write(arguments, omitsText: omitsText, isFirst: false, into: &output)
        case .ack(let id):
            self.writeHeader(attachments == nil ? .ack : .binaryAck, attachments: attachments, namespace, ackID: id, into: &output)
            output.append(UInt8(ascii: "["))
            try self.write(arguments, omitsText: omitsText, isFirst: true, into: &output)
        }
        output.append(UInt8(ascii: "]"))
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
            if !omitsText { text.withUnsafeReadableBytes { output.append($0) } }  // unchanged
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

extension UndecodedPacket.Content {
    /// Whether the packet needs attachments.
    var containsBinary: Bool {
        switch self {
        case .event(_, let arguments, _), .ack(_, let arguments): arguments.containsBinary
        case .connect, .disconnect, .connectError: false
        }
    }

    /// Returns the content with placeholders in place of its binary data, which is appended to
    /// `attachments`.
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
