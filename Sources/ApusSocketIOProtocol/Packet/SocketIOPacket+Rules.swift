import ApusJSON

// The constraints of each packet type on its payload, in every encoding.

extension SocketIOPacket.Content {
    /// Creates the content of a packet of this type and payload.
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
            // In version 4 the payload is the data of the refusal, of any type.
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
    /// Throws unless a peer may send this packet. For parsers that produce whole packets.
    ///
    /// - Throws: ``SocketIOError/Code/malformedPacket`` or ``SocketIOError/Code/invalidPayload``.
    func checkReceived(limits: SocketIOLimits, version: SocketIOVersion) throws(SocketIOError) {
        guard self.namespace.utf8.first == UInt8(ascii: "/"), self.namespace.utf8.count <= limits.maximumNamespaceBytes else {
            throw SocketIOError(
                .malformedPacket,
                message:
                    "a namespace must start with a slash and have at most \(limits.maximumNamespaceBytes) bytes; it has \(self.namespace.utf8.count)"
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
        guard ackID ?? 0 >= 0 else { throw SocketIOError(.malformedPacket, message: "an ack id must be 0 or more") }
    }
}

extension UndecodedPacket {
    /// Throws unless this packet may be sent.
    ///
    /// - Throws: ``SocketIOError/Code/invalidArguments`` for a reserved event name, a namespace
    ///   without a leading slash, or a negative ack id.
    func checkSent() throws(SocketIOError) {
        try Self.checkSent(namespace: self.namespace)
        try self.content.call?.0.checkSent()
    }

    static func checkSent(namespace: String) throws(SocketIOError) {
        guard namespace != "/" else { return }  // the common case
        guard namespace.utf8.first == UInt8(ascii: "/") else {
            throw SocketIOError(.invalidArguments, message: "a namespace must start with a slash: \"\(namespace)\"")
        }
    }
}
