import ApusJSON
import NIOCore

/// A packet's text: its header and the JSON behind it.
enum SocketIOPacketText {
    /// What the text alone says.
    enum Finding {
        /// A whole packet, its arguments not decoded.
        case complete(SocketIOParcel)
        /// Attachments follow.
        case announces(SocketIOPacketHeader, payload: SocketIOValue)
    }

    /// Checks a text message. Nothing of it is copied.
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
            try SocketIOPacket.checkReceived(name: name)
            return .complete(
                SocketIOParcel(namespace: header.namespace, content: .event(name: name, arguments: arguments, ackID: header.ackID)))
        case .ack where !json.isEmpty:
            guard let id = header.ackID, let arguments = try self.arguments(json, of: text, at: header.length, limits: limits) else {
                throw SocketIOPacket.Content.wrongAck
            }
            return .complete(SocketIOParcel(namespace: header.namespace, content: .ack(id: id, arguments: arguments)))
        case .event, .ack, .connect, .disconnect, .connectError, .binaryEvent, .binaryAck:
            return try self.readValue(json, header, version: version, limits: limits)
        }
    }

    /// What is rare, or has its values looked at by us.
    private static func readValue(
        _ json: UnsafeRawBufferPointer, _ header: SocketIOPacketHeader, version: SocketIOVersion, limits: SocketIOLimits
    ) throws(SocketIOError) -> Finding {
        var payload: SocketIOValue?
        if !json.isEmpty {
            do throws(JSONError) { payload = try JSONReader.read(json, limits: Self.jsonLimits(limits)) } catch {
                throw Self.malformed(error)
            }
        }
        // `50-["a"]` announces nothing and is complete. (The reference parser waits on, and the next packet kills its session.)
        guard header.attachments > 0, let payload else {
            return .complete(try self.packet(header, payload, attachments: [], version: version))
        }
        // Judge it now: what will be refused in the end is not worth ten attachments of memory.
        try SocketIOPacket.Content.check(header.type, payload: payload, ackID: header.ackID, version: version)
        return .announces(header, payload: payload)
    }

    private static func jsonLimits(_ limits: SocketIOLimits) -> JSONReader.Limits { .init(maximumDepth: limits.maximumDepth) }

    private static func malformed(_ error: JSONError) -> SocketIOError {
        SocketIOError(.malformedPacket, message: "a payload that is not JSON", cause: error)
    }

    // MARK: Arguments that stay text

    private static func outline(
        _ json: UnsafeRawBufferPointer, _ limits: SocketIOLimits
    ) throws(SocketIOError) -> JSONArrayOutline.Finding {
        do throws(JSONError) {
            return try JSONArrayOutline.find(in: json, limits: self.jsonLimits(limits))
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
        guard case .array(let outline) = try self.outline(json, limits), let name = self.name(json, outline) else {
            throw SocketIOPacket.Content.wrongEvent
        }
        return (name, self.slice(text, outline.rest, at: offset))
    }

    /// The name of an event. Most are short and without escapes, and then take no memory.
    private static func name(_ json: UnsafeRawBufferPointer, _ outline: JSONArrayOutline) -> String? {
        let first = outline.first
        guard outline.firstIsPlain else {
            return (try? JSONReader.read(UnsafeRawBufferPointer(rebasing: json[first]))).flatMap { SocketIOPacket.Content.eventName($0) }
        }
        return String(decoding: UnsafeRawBufferPointer(rebasing: json[first.lowerBound + 1..<first.upperBound - 1]), as: UTF8.self)
    }

    /// Nil when the JSON is no array.
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

    /// The packet, its attachments in place.
    static func packet(
        _ header: SocketIOPacketHeader, _ payload: SocketIOValue?, attachments: [ByteBuffer], version: SocketIOVersion
    ) throws(SocketIOError) -> SocketIOParcel {
        var content = try SocketIOPacket.Content(header.type, payload: payload, ackID: header.ackID, version: version)
        // Only a binary packet has placeholders; elsewhere such an object is what it says, as in the reference parser.
        if header.type.carriesAttachments {
            switch content {
            case .event(let name, let arguments, let ackID):
                content = .event(name: name, arguments: try self.fill(arguments, attachments), ackID: ackID)
            case .ack(let id, let arguments):
                content = .ack(id: id, arguments: try self.fill(arguments, attachments))
            case .connect, .disconnect, .connectError: break
            }
        }
        return SocketIOParcel(namespace: header.namespace, content: .init(content))
    }

    private static func fill(_ arguments: [SocketIOValue], _ attachments: [ByteBuffer]) throws(SocketIOError) -> [SocketIOValue] {
        var attachments: [ByteBuffer?] = attachments
        var filled: [SocketIOValue] = []
        filled.reserveCapacity(arguments.count)
        for argument in arguments { filled.append(try SocketIOPlaceholders.fill(argument, from: &attachments)) }
        return filled
    }
}
