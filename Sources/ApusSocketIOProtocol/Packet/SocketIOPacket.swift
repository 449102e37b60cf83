public import ApusJSON

/// A packet of the Socket.IO protocol, its binary data in place. Only who writes a parser of their own meets it: ``SocketIOPacketParser``.
///
/// Source: Socket.IO protocol v5, "Packet types".
public struct SocketIOPacket: Equatable, Sendable {
    /// What the packet says.
    public enum Content: Equatable, Sendable {
        /// `0`: asks for a namespace (the auth object), or grants it (an object with the sid).
        case connect(SocketIOValue?)
        /// `1`: leaves the namespace.
        case disconnect
        /// `2`, in JSON with attachments `5`. An id asks for an ack.
        case event(name: String, arguments: [SocketIOValue], ackID: Int?)
        /// `3`, in JSON with attachments `6`.
        case ack(id: Int, arguments: [SocketIOValue])
        /// `4`: the namespace was refused, with an object holding the message (a string from protocol 4).
        case connectError(SocketIOValue)
    }

    /// The namespace, as on the wire; `/` where the wire has none.
    public var namespace: String
    /// What the packet says.
    public var content: Content

    /// Makes a packet.
    public init(namespace: String = "/", content: Content) {
        self.namespace = namespace
        self.content = content
    }

    /// Names that belong to the library. As an event from a peer they are a parse error; they cannot be emitted.
    package static func isReserved(_ name: String) -> Bool {
        // The lengths of the names below: for all others that is the whole question.
        switch name.utf8.count {
        case 7, 10, 11, 13, 14: break
        default: return false
        }
        switch name {
        case "connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener": return true
        default: return false
        }
    }
}

/// The digit a packet starts with.
enum SocketIOPacketType: UInt8 {
    case connect = 0x30
    case disconnect, event, ack, connectError, binaryEvent, binaryAck

    var carriesAttachments: Bool { self == .binaryEvent || self == .binaryAck }
}
