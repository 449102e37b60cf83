public import ApusJSON

/// A packet of the Socket.IO protocol, with its binary data in place.
///
/// It is the only form of a packet between its messages and the program, in both directions. The
/// arguments of a received packet are not decoded until they are read (``SocketIOPayload``). A
/// packet that is sent is encoded as messages once, regardless of the number of recipients.
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
        case event(name: String, arguments: SocketIOPayload, ackID: Int?)
        /// `3`, or `6` in JSON with attachments.
        case ack(id: Int, arguments: SocketIOPayload)
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

// The constraints on a packet that is sent, in every encoding.
extension SocketIOPacket.Content {
    /// Throws unless a packet with this content may be sent to the namespace.
    ///
    /// - Throws: ``SocketIOError/Code/invalidUse`` for a reserved event name, a namespace without a
    ///   leading slash, or a negative ack id.
    func checkSent(to namespace: String) throws(SocketIOError) {
        // The first comparison suffices for the most common namespace.
        guard namespace == "/" || namespace.utf8.first == UInt8(ascii: "/") else {
            throw SocketIOError(.invalidUse, message: "a namespace must start with a slash, not \"\(namespace)\"")
        }
        let ackID: Int?
        switch self {
        case .event(let name, _, let id):
            guard !SocketIOPacket.isReserved(name) else {
                throw SocketIOError(.invalidUse, message: "the event name \"\(name)\" is reserved; use another name")
            }
            ackID = id
        case .ack(let id, _): ackID = id
        case .connect, .disconnect, .connectError: return
        }
        guard let ackID, ackID < 0 else { return }
        throw SocketIOError(.invalidUse, message: "an ack id must be 0 or greater, not \(ackID)")
    }

    /// The arguments of an event or an ack; empty for other packets.
    package var arguments: SocketIOPayload {
        switch self {
        case .event(_, let arguments, _), .ack(_, let arguments): arguments
        case .connect, .disconnect, .connectError: []
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
            self = .event(name: name, arguments: SocketIOPayload(arguments), ackID: ackID)
        case .ack, .binaryAck:
            guard let ackID else { throw Self.wrong("an ack has no id") }
            self = .ack(id: ackID, arguments: SocketIOPayload(payload?.arrayValue ?? []))
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
