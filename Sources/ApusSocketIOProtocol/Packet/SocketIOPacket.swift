public import ApusJSON

/// A packet of the Socket.IO protocol, with its binary data in place. Only a
/// ``SocketIOPacketParser`` uses it.
///
/// Source: Socket.IO protocol v5, "Packet types".
public struct SocketIOPacket: Equatable, Sendable {
    /// The type of the packet and its payload.
    public enum Content: Equatable, Sendable {
        /// `0`: requests a namespace (with the auth object), or accepts the request (with an object
        /// that contains the sid).
        case connect(SocketIOValue?)
        /// `1`: leaves the namespace.
        case disconnect
        /// `2`, or `5` in JSON with attachments. An id requests an ack.
        case event(name: String, arguments: [SocketIOValue], ackID: Int?)
        /// `3`, or `6` in JSON with attachments.
        case ack(id: Int, arguments: [SocketIOValue])
        /// `4`: refuses the namespace, with an object that contains the message (a string in
        /// protocol version 4).
        case connectError(SocketIOValue)
    }

    /// The namespace; `/` if it is absent on the wire.
    public var namespace: String
    /// The type of the packet and its payload.
    public var content: Content

    /// Creates a packet.
    public init(namespace: String = "/", content: Content) {
        self.namespace = namespace
        self.content = content
    }

    /// Whether an event name is reserved for the library. Such an event cannot be emitted, and is a
    /// parse error if a peer sends it.
    package static func isReserved(_ name: String) -> Bool {
        // The lengths of the names below, to reject all others quickly.
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

/// The type digit at the start of a packet.
enum SocketIOPacketType: UInt8 {
    case connect = 0x30
    case disconnect, event, ack, connectError, binaryEvent, binaryAck

    var carriesAttachments: Bool { self == .binaryEvent || self == .binaryAck }
}
