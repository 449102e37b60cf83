import ApusJSON
import NIOCore

/// The JSON behind a packet's header: reading it, and what each type of packet demands of it.
enum SocketIOPayload {
    /// Header and JSON of a text message.
    static func read(_ text: ByteBuffer, limits: SocketIOLimits) throws(SocketIOError) -> (SocketIOPacketHeader, SocketIOValue?) {
        let result = text.withUnsafeReadableBytes { bytes -> Result<(SocketIOPacketHeader, SocketIOValue?), SocketIOError> in
            do throws(SocketIOError) {
                return .success(try self.read(bytes, limits: limits))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func read(
        _ bytes: UnsafeRawBufferPointer, limits: SocketIOLimits
    ) throws(SocketIOError) -> (SocketIOPacketHeader, SocketIOValue?) {
        let header = try SocketIOPacketHeader(bytes, limits: limits)
        guard header.length < bytes.count else { return (header, nil) }
        do throws(JSONError) {
            let json = UnsafeRawBufferPointer(rebasing: bytes[header.length...])
            return (header, try JSONReader.read(json, limits: .init(maximumDepth: limits.maximumDepth)))
        } catch {
            throw SocketIOError(.malformedPacket, message: "a payload that is not JSON", cause: error)
        }
    }

    /// The packet, its attachments in place.
    static func packet(
        _ header: SocketIOPacketHeader, _ payload: SocketIOValue?, attachments: [ByteBuffer], version: SocketIOVersion
    ) throws(SocketIOError) -> SocketIOPacket {
        try self.validate(header, payload, version: version)
        let content: SocketIOPacket.Content
        switch header.type {
        case .connect: content = .connect(payload)
        case .disconnect: content = .disconnect
        case .connectError: content = .connectError(payload ?? .null)
        case .event, .binaryEvent:
            var arguments = payload?.arrayValue ?? []
            let name = arguments.isEmpty ? nil : self.eventName(arguments.removeFirst())
            guard let name else { throw self.wrongPayload("an event without a name") }
            content = .event(name: name, arguments: try self.fill(arguments, header, attachments), ackID: header.ackID)
        case .ack, .binaryAck:
            guard let id = header.ackID else { throw self.wrongPayload("an ack without an id") }
            content = .ack(id: id, arguments: try self.fill(payload?.arrayValue ?? [], header, attachments))
        }
        return SocketIOPacket(namespace: header.namespace, content: content)
    }

    /// Throws unless the payload fits the type.
    static func validate(
        _ header: SocketIOPacketHeader, _ payload: SocketIOValue?, version: SocketIOVersion
    ) throws(SocketIOError) {
        switch header.type {
        case .connect:
            // `40[]` and `40null` included: the auth is an object or absent.
            guard payload == nil || payload?.objectValue != nil else { throw self.wrongPayload("a CONNECT whose auth is not an object") }
        case .disconnect:
            guard payload == nil else { throw self.wrongPayload("a DISCONNECT with a payload") }
        case .connectError:
            // In version 4 the data of the refusal stands here bare, whatever it is.
            guard payload?.objectValue != nil || payload?.stringValue != nil || version == .v4 else {
                throw self.wrongPayload("a CONNECT_ERROR that is neither an object nor a string")
            }
        case .event, .binaryEvent:
            guard let first = payload?.arrayValue?.first, let name = self.eventName(first) else {
                throw self.wrongPayload("an event that is not an array starting with its name")
            }
            guard !SocketIOPacket.isReserved(name) else { throw self.wrongPayload("an event with the reserved name \"\(name)\"") }
        case .ack, .binaryAck:
            guard header.ackID != nil, payload?.arrayValue != nil else { throw self.wrongPayload("an ack that is not an id and an array") }
        }
    }

    /// Only a binary packet has placeholders; elsewhere such an object is what it says, as in the reference parser.
    private static func fill(
        _ arguments: [SocketIOValue], _ header: SocketIOPacketHeader, _ attachments: [ByteBuffer]
    ) throws(SocketIOError) -> [SocketIOValue] {
        guard header.type.carriesAttachments else { return arguments }
        var attachments: [ByteBuffer?] = attachments
        var filled: [SocketIOValue] = []
        filled.reserveCapacity(arguments.count)
        for argument in arguments { filled.append(try SocketIOPlaceholders.fill(argument, from: &attachments)) }
        return filled
    }

    /// A string, or a number, which becomes the string JavaScript makes of it.
    private static func eventName(_ value: SocketIOValue) -> String? {
        switch value {
        case .string(let name): return name
        case .integer(let number): return String(number)
        case .double(let number):
            if let whole = Int64(exactly: number) { return String(whole) }
            return "\(number)"
        case .null, .bool, .binary, .array, .object: return nil
        }
    }

    private static func wrongPayload(_ what: String) -> SocketIOError {
        SocketIOError(.invalidPayload, message: what)
    }
}
