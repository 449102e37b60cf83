public import ApusJSON

/// A packet of the Socket.IO protocol, with its binary data in place. It is used by a custom
/// ``SocketIOPacketParser``, and by programs that use ``SocketIOParser`` without a client or
/// server.
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
    ///
    /// - Parameters:
    ///   - namespace: The namespace. Default: `/`.
    ///   - content: The type of the packet and its payload.
    public init(namespace: String = "/", content: Content) {
        self.namespace = namespace
        self.content = content
    }

    /// Returns whether an event name is reserved for the library. An event with a reserved name
    /// cannot be emitted, and is a parse error if a peer sends it.
    package static func isReserved(_ name: String) -> Bool {
        // The lengths of the reserved names. This check rejects most names quickly.
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

/// The library's representation of a packet: a ``SocketIOPacket`` whose arguments need not be
/// decoded.
package struct UndecodedPacket: Equatable, Sendable {
    /// The type of the packet and its payload; see ``SocketIOPacket/Content``.
    package enum Content: Equatable, Sendable {
        case connect(SocketIOValue?)
        case disconnect
        case event(name: String, arguments: SocketIOPayload, ackID: Int?)
        case ack(id: Int, arguments: SocketIOPayload)
        case connectError(SocketIOValue)
    }

    package var namespace: String
    package var content: Content

    package init(namespace: String = "/", content: Content) {
        self.namespace = namespace
        self.content = content
    }

    package init(_ packet: SocketIOPacket) {
        self.init(namespace: packet.namespace, content: Content(packet.content))
    }

    /// The packet with decoded arguments.
    package var packet: SocketIOPacket { SocketIOPacket(namespace: self.namespace, content: self.content.decoded) }
}

extension UndecodedPacket.Content {
    package init(_ content: SocketIOPacket.Content) {
        switch content {
        case .connect(let auth): self = .connect(auth)
        case .disconnect: self = .disconnect
        case .event(let name, let arguments, let ackID): self = .event(name: name, arguments: .init(arguments), ackID: ackID)
        case .ack(let id, let arguments): self = .ack(id: id, arguments: .init(arguments))
        case .connectError(let data): self = .connectError(data)
        }
    }

    /// The content with decoded arguments.
    package var decoded: SocketIOPacket.Content {
        switch self {
        case .connect(let auth): .connect(auth)
        case .disconnect: .disconnect
        case .event(let name, let arguments, let ackID): .event(name: name, arguments: arguments.arguments, ackID: ackID)
        case .ack(let id, let arguments): .ack(id: id, arguments: arguments.arguments)
        case .connectError(let data): .connectError(data)
        }
    }
}

/// A packet without the arguments of an event or an ack.
///
/// It is separate from the arguments so that sending a message does not construct an
/// ``UndecodedPacket``.
package enum PacketHead: Equatable, Sendable {
    case connect(SocketIOValue?)
    case disconnect
    case event(name: String, ackID: Int?)
    case ack(id: Int)
    case connectError(SocketIOValue)

    /// Throws unless a packet with this head may be sent to the namespace.
    ///
    /// - Throws: ``SocketIOError/Code/invalidUse`` for a reserved event name, a namespace
    ///   without a leading slash, or a negative ack id.
    func checkSent(to namespace: String) throws(SocketIOError) {
        // The first comparison suffices for the most common namespace.
        guard namespace == "/" || namespace.utf8.first == UInt8(ascii: "/") else {
            throw SocketIOError(.invalidUse, message: "a namespace must start with a slash, not \"\(namespace)\"")
        }
        let ackID: Int?
        switch self {
        case .event(let name, let id):
            guard !SocketIOPacket.isReserved(name) else {
                throw SocketIOError(.invalidUse, message: "the event name \"\(name)\" is reserved; use another name")
            }
            ackID = id
        case .ack(let id): ackID = id
        case .connect, .disconnect, .connectError: return
        }
        guard let ackID, ackID < 0 else { return }
        throw SocketIOError(.invalidUse, message: "an ack id must be 0 or greater, not \(ackID)")
    }
}

extension UndecodedPacket.Content {
    /// Creates the content from a head and arguments. Only an event and an ack have arguments.
    package init(_ head: PacketHead, _ arguments: SocketIOPayload) {
        switch head {
        case .connect(let auth): self = .connect(auth)
        case .disconnect: self = .disconnect
        case .event(let name, let ackID): self = .event(name: name, arguments: arguments, ackID: ackID)
        case .ack(let id): self = .ack(id: id, arguments: arguments)
        case .connectError(let data): self = .connectError(data)
        }
    }

    /// The head and the arguments, which are empty unless the packet is an event or an ack.
    package var parts: (head: PacketHead, arguments: SocketIOPayload) {
        switch self {
        case .connect(let auth): (.connect(auth), [])
        case .disconnect: (.disconnect, [])
        case .event(let name, let arguments, let ackID): (.event(name: name, ackID: ackID), arguments)
        case .ack(let id, let arguments): (.ack(id: id), arguments)
        case .connectError(let data): (.connectError(data), [])
        }
    }
}

// The constraints of each packet type on its payload, in every encoding.

extension SocketIOPacket.Content {
    /// Creates the content of a packet from its type and payload.
    ///
    /// - Throws: ``SocketIOError/Code/invalidPayload``.
    init(_ type: SocketIOPacketType, payload: SocketIOValue?, ackID: Int?, version: SocketIOVersion) throws(SocketIOError) {
        try Self.check(type, payload: payload, ackID: ackID, version: version)
        switch type {
        case .connect: self = .connect(payload)
        case .disconnect: self = .disconnect
        case .connectError: self = .connectError(payload ?? .null)
        case .event, .binaryEvent:
            var arguments = payload?.arrayValue ?? []
            let name = arguments.isEmpty ? nil : Self.eventName(arguments.removeFirst())
            guard let name else { throw Self.wrong("an event has no name") }
            self = .event(name: name, arguments: arguments, ackID: ackID)
        case .ack, .binaryAck:
            guard let ackID else { throw Self.wrong("an ack has no id") }
            self = .ack(id: ackID, arguments: payload?.arrayValue ?? [])
        }
    }

    /// Throws unless the payload matches the type.
    static func check(
        _ type: SocketIOPacketType, payload: SocketIOValue?, ackID: Int?, version: SocketIOVersion
    ) throws(SocketIOError) {
        switch type {
        case .connect:
            // The auth is an object or absent; `40[]` and `40null` are invalid.
            guard payload == nil || payload?.objectValue != nil else { throw self.wrong("the auth of CONNECT must be an object") }
        case .disconnect:
            guard payload == nil else { throw self.wrong("DISCONNECT must not have a payload") }
        case .connectError:
            // In version 4, the payload is the data of the refusal, of any type.
            guard payload?.objectValue != nil || payload?.stringValue != nil || version == .v4 else {
                throw self.wrong("the payload of CONNECT_ERROR must be an object or a string")
            }
        case .event, .binaryEvent:
            guard let first = payload?.arrayValue?.first, let name = self.eventName(first) else {
                throw self.wrongEvent
            }
            try SocketIOPacket.checkReceived(name: name)
        case .ack, .binaryAck:
            guard ackID != nil, payload?.arrayValue != nil else { throw self.wrongAck }
        }
    }

    /// Returns the event name: a string, or a number in JavaScript's string format.
    static func eventName(_ value: SocketIOValue) -> String? {
        switch value {
        case .string(let name): return name
        case .integer(let number): return String(number)
        case .double(let number):
            if let whole = Int64(exactly: number) { return String(whole) }
            return "\(number)"
        case .null, .bool, .binary, .date, .array, .object: return nil
        }
    }

    static var wrongEvent: SocketIOError { self.wrong("the payload of an event must be an array that starts with a name") }

    static var wrongAck: SocketIOError { self.wrong("an ack must have an id and an array") }

    private static func wrong(_ what: String) -> SocketIOError {
        SocketIOError(.invalidPayload, message: what)
    }
}

extension SocketIOPacket {
    /// Throws unless a peer may send this packet. Used for parsers that produce whole packets.
    ///
    /// - Throws: ``SocketIOError/Code/malformedPacket`` or ``SocketIOError/Code/invalidPayload``.
    func checkReceived(limits: SocketIOLimits, version: SocketIOVersion) throws(SocketIOError) {
        let (count, maximum) = (self.namespace.utf8.count, limits.maximumNamespaceBytes)
        guard self.namespace.utf8.first == UInt8(ascii: "/"), count <= maximum else {
            throw SocketIOError(
                .malformedPacket,
                message:
                    "a namespace must start with a slash and have at most \(maximum) bytes (`maximumNamespaceBytes`); this one has \(count)"
            )
        }
        switch self.content {
        case .connect(let payload): try Content.check(.connect, payload: payload, ackID: nil, version: version)
        case .connectError(let payload): try Content.check(.connectError, payload: payload, ackID: nil, version: version)
        case .disconnect: break
        case .event(let name, _, let ackID):
            try Self.checkReceived(name: name)
            try Self.checkReceived(ackID: ackID)
        case .ack(let id, _): try Self.checkReceived(ackID: id)
        }
    }

    static func checkReceived(name: String) throws(SocketIOError) {
        guard self.isReserved(name) else { return }
        throw SocketIOError(.invalidPayload, message: "the event name \"\(name)\" is reserved")
    }

    private static func checkReceived(ackID: Int?) throws(SocketIOError) {
        guard ackID ?? 0 >= 0 else { throw SocketIOError(.malformedPacket, message: "an ack id must be 0 or greater") }
    }
}
