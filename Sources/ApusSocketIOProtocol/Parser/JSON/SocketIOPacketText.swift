import ApusBytes
import ApusJSON
import NIOCore

/// Parses the text of a packet: its header and the JSON after it.
enum SocketIOPacketText {
    /// The result of parsing the text.
    enum Finding {
        /// A complete packet, with its arguments not decoded.
        case complete(UndecodedPacket)
        /// Attachments follow. The JSON is validated, and is decoded after the last one.
        case announces(SocketIOPacketHeader, json: ByteBuffer)
    }

    /// Validates a text message, without copying it.
    static func read(_ text: ByteBuffer, version: SocketIOVersion, limits: SocketIOLimits) throws(SocketIOError) -> Finding {
        let result = text.withUnsafeReadableBytes { bytes -> Result<Finding, SocketIOError> in
            do throws(SocketIOError) {
                return .success(try self.read(bytes, of: text, version: version, limits: limits))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func read(
        _ bytes: UnsafeRawBufferPointer, of text: ByteBuffer, version: SocketIOVersion, limits: SocketIOLimits
    ) throws(SocketIOError) -> Finding {
        let header = try SocketIOPacketHeader(bytes, limits: limits)
        let json = UnsafeRawBufferPointer(rebasing: bytes[header.length...])
        switch header.type {
        case .event where !json.isEmpty:
            let (name, arguments) = try self.event(json, of: text, at: header.length, limits: limits)
            return .complete(
                UndecodedPacket(namespace: header.namespace, content: .event(name: name, arguments: arguments, ackID: header.ackID)))
        case .ack where !json.isEmpty:
            guard let id = header.ackID, let arguments = try self.arguments(json, of: text, at: header.length, limits: limits) else {
                throw SocketIOPacket.Content.wrongAck
            }
            return .complete(UndecodedPacket(namespace: header.namespace, content: .ack(id: id, arguments: arguments)))
        case .binaryEvent where header.attachments > 0 && !json.isEmpty:
            _ = try self.event(json, of: text, at: header.length, limits: limits)
            return .announces(header, json: self.json(text, behind: header))
        case .binaryAck where header.attachments > 0 && !json.isEmpty:
            guard header.ackID != nil, try self.arguments(json, of: text, at: header.length, limits: limits) != nil else {
                throw SocketIOPacket.Content.wrongAck
            }
            return .announces(header, json: self.json(text, behind: header))
        case .event, .ack, .connect, .disconnect, .connectError, .binaryEvent, .binaryAck:
            if header.type == .connect { try limits.checkConnect(bytes: json.count) }
            // `50-["a"]` announces no attachments and is complete. (Node's socket.io-parser waits
            // for one, and fails on the next packet.)
            let payload: SocketIOValue? = if json.isEmpty { .none } else { try self.value(json, limits) }
            return .complete(try self.packet(header, payload, attachments: [], version: version))
        }
    }

    private static func json(_ text: ByteBuffer, behind header: SocketIOPacketHeader) -> ByteBuffer {
        text.getSlice(at: text.readerIndex + header.length, length: text.readableBytes - header.length) ?? ByteBuffer()
    }

    private static func value(_ json: UnsafeRawBufferPointer, _ limits: SocketIOLimits) throws(SocketIOError) -> SocketIOValue {
        do throws(JSONError) { return try JSONReader.read(json, limits: limits.json) } catch { throw self.malformed(error) }
    }

    private static func malformed(_ error: JSONError) -> SocketIOError {
        SocketIOError(.malformedPacket, message: "a payload is not valid JSON", cause: error)
    }

    // MARK: Arguments kept as text

    private static func outline(
        _ json: UnsafeRawBufferPointer, _ limits: SocketIOLimits
    ) throws(SocketIOError) -> JSONArrayOutline.Finding {
        do throws(JSONError) {
            return try JSONArrayOutline.find(in: json, limits: limits.json)
        } catch {
            throw self.malformed(error)
        }
    }

    private static func slice(_ text: ByteBuffer, _ range: Range<Int>, at offset: Int) -> SocketIOPayload {
        guard !range.isEmpty, let slice = text.getSlice(at: text.readerIndex + offset + range.lowerBound, length: range.count) else {
            return []
        }
        return SocketIOPayload(checked: slice)
    }

    private static func event(
        _ json: UnsafeRawBufferPointer, of text: ByteBuffer, at offset: Int, limits: SocketIOLimits
    ) throws(SocketIOError) -> (name: String, arguments: SocketIOPayload) {
        guard case .array(let outline) = try self.outline(json, limits), let name = self.name(json, outline, limits) else {
            throw SocketIOPacket.Content.wrongEvent
        }
        try SocketIOPacket.checkReceived(name: name)
        return (name, self.slice(text, outline.rest, at: offset))
    }

    /// Returns the name of an event. A short name without escapes needs no allocation.
    private static func name(_ json: UnsafeRawBufferPointer, _ outline: JSONArrayOutline, _ limits: SocketIOLimits) -> String? {
        let first = outline.first
        guard outline.firstIsPlain else {
            let value = try? JSONReader.read(UnsafeRawBufferPointer(rebasing: json[first]), limits: limits.json)
            return value.flatMap { SocketIOPacket.Content.eventName($0) }
        }
        return String(decoding: UnsafeRawBufferPointer(rebasing: json[first.lowerBound + 1..<first.upperBound - 1]), as: UTF8.self)
    }

    /// Returns the arguments; nil if the JSON is not an array.
    private static func arguments(
        _ json: UnsafeRawBufferPointer, of text: ByteBuffer, at offset: Int, limits: SocketIOLimits
    ) throws(SocketIOError) -> SocketIOPayload? {
        switch try self.outline(json, limits) {
        case .array(let outline): self.slice(text, outline.all, at: offset)
        case .emptyArray: []
        case .other: nil
        }
    }

    // MARK: Values

    /// Decodes a packet from validated JSON and all of its attachments.
    static func packet(
        _ header: SocketIOPacketHeader, json: ByteBuffer, attachments: [ByteBuffer], version: SocketIOVersion, limits: SocketIOLimits
    ) throws(SocketIOError) -> UndecodedPacket {
        let payload: SocketIOValue
        do throws(JSONError) { payload = try JSONReader.read(json.readableBytesView, limits: limits.json) } catch {
            throw self.malformed(error)
        }
        return try self.packet(header, payload, attachments: attachments, version: version)
    }

    /// Returns the packet with its attachments in place.
    private static func packet(
        _ header: SocketIOPacketHeader, _ payload: SocketIOValue?, attachments: [ByteBuffer], version: SocketIOVersion
    ) throws(SocketIOError) -> UndecodedPacket {
        var content = try SocketIOPacket.Content(header.type, payload: payload, ackID: header.ackID, version: version)
        // Only a binary packet has placeholders. Elsewhere such an object is plain data, as in
        // Node's socket.io-parser.
        if header.type.carriesAttachments {
            switch content {
            case .event(let name, let arguments, let ackID):
                content = .event(name: name, arguments: try self.fill(arguments, attachments), ackID: ackID)
            case .ack(let id, let arguments):
                content = .ack(id: id, arguments: try self.fill(arguments, attachments))
            case .connect, .disconnect, .connectError: break
            }
        }
        return UndecodedPacket(namespace: header.namespace, content: .init(content))
    }

    private static func fill(_ arguments: [SocketIOValue], _ attachments: [ByteBuffer]) throws(SocketIOError) -> [SocketIOValue] {
        var attachments: [ByteBuffer?] = attachments
        var filled: [SocketIOValue] = []
        filled.reserveCapacity(arguments.count)
        for argument in arguments { filled.append(try SocketIOPlaceholders.fill(argument, from: &attachments)) }
        return filled
    }
}

/// The part of a packet before its JSON.
///
/// Source: Socket.IO protocol v5, "Packet encoding":
/// `<type>[<attachments>-][<namespace>,][<ack id>][JSON]`.
struct SocketIOPacketHeader: Equatable {
    var type: SocketIOPacketType
    var attachments = 0
    var namespace = "/"
    var ackID: Int?
    /// The length of the header, where the JSON starts.
    var length = 0

    /// Parses the header at the start of a packet.
    init(_ bytes: UnsafeRawBufferPointer, limits: SocketIOLimits) throws(SocketIOError) {
        guard let first = bytes.first, let type = SocketIOPacketType(rawValue: first) else {
            throw SocketIOError(
                .malformedPacket, message: bytes.isEmpty ? "a packet is empty" : "a packet has the unknown type byte \(bytes[0])")
        }
        self.type = type
        self.length = 1
        if type.carriesAttachments { try self.readAttachments(bytes, limits: limits) }
        if self.length < bytes.count, bytes[self.length] == UInt8(ascii: "/") { try self.readNamespace(bytes, limits: limits) }
        if type != .connect, type != .disconnect, type != .connectError { try self.readAckID(bytes) }
    }

    private mutating func readAttachments(_ bytes: UnsafeRawBufferPointer, limits: SocketIOLimits) throws(SocketIOError) {
        guard let count = try Self.readDigits(bytes, &self.length), self.length < bytes.count, bytes[self.length] == UInt8(ascii: "-")
        else {
            throw SocketIOError(.malformedPacket, message: "a binary packet has no number of attachments")
        }
        guard count <= limits.maximumAttachments else {
            throw SocketIOError(
                .tooManyAttachments, message: "a packet announces \(count) attachments; the limit is \(limits.maximumAttachments)")
        }
        self.attachments = count
        self.length += 1
    }

    private mutating func readNamespace(_ bytes: UnsafeRawBufferPointer, limits: SocketIOLimits) throws(SocketIOError) {
        let rest = bytes[self.length...]
        let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
        let name = rest[..<end]
        guard name.count <= limits.maximumNamespaceBytes else {
            throw SocketIOError(
                .malformedPacket, message: "a namespace has \(name.count) bytes; the limit is \(limits.maximumNamespaceBytes)")
        }
        guard let namespace = String(utf8: UnsafeRawBufferPointer(rebasing: name)) else {
            throw SocketIOError(.malformedPacket, message: "a namespace is not UTF-8")
        }
        self.namespace = namespace
        self.length = end == rest.endIndex ? end : end + 1
    }

    private mutating func readAckID(_ bytes: UnsafeRawBufferPointer) throws(SocketIOError) {
        self.ackID = try Self.readDigits(bytes, &self.length)
    }

    /// Reads the number at `position`. Returns nil if there is no digit.
    private static func readDigits(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(SocketIOError) -> Int? {
        var number: Int?
        while position < bytes.count, case let digit = bytes[position] &- 0x30, digit < 10 {
            let (product, overflowed) = (number ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, overflowedAgain) = product.addingReportingOverflow(Int(digit))
            guard !overflowed, !overflowedAgain else {
                throw SocketIOError(.malformedPacket, message: "a number in a packet header exceeds 63 bits")
            }
            number = sum
            position += 1
        }
        return number
    }
}
