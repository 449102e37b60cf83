import ApusJSON
import NIOCore

/// The JSON behind a packet's header.
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
        return SocketIOPacket(namespace: header.namespace, content: content)
    }

    private static func fill(_ arguments: [SocketIOValue], _ attachments: [ByteBuffer]) throws(SocketIOError) -> [SocketIOValue] {
        var attachments: [ByteBuffer?] = attachments
        var filled: [SocketIOValue] = []
        filled.reserveCapacity(arguments.count)
        for argument in arguments { filled.append(try SocketIOPlaceholders.fill(argument, from: &attachments)) }
        return filled
    }
}
