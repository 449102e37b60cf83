import ApusJSON

// What each type of packet demands of what it carries, whichever way it was written.

extension SocketIOPacket.Content {
    /// What a packet of this type says with this payload.
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
            guard let name else { throw Self.wrong("an event without a name") }
            self = .event(name: name, arguments: arguments, ackID: ackID)
        case .ack, .binaryAck:
            guard let ackID else { throw Self.wrong("an ack without an id") }
            self = .ack(id: ackID, arguments: payload?.arrayValue ?? [])
        }
    }

    /// Throws unless the payload fits the type.
    static func check(
        _ type: SocketIOPacketType, payload: SocketIOValue?, ackID: Int?, version: SocketIOVersion
    ) throws(SocketIOError) {
        switch type {
        case .connect:
            // `40[]` and `40null` included: the auth is an object or absent.
            guard payload == nil || payload?.objectValue != nil else { throw self.wrong("a CONNECT whose auth is not an object") }
        case .disconnect:
            guard payload == nil else { throw self.wrong("a DISCONNECT with a payload") }
        case .connectError:
            // In version 4 the data of the refusal stands here bare, whatever it is.
            guard payload?.objectValue != nil || payload?.stringValue != nil || version == .v4 else {
                throw self.wrong("a CONNECT_ERROR that is neither an object nor a string")
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

    /// A string, or a number, which becomes the string JavaScript makes of it.
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

    static var wrongEvent: SocketIOError { self.wrong("an event that is not an array starting with its name") }

    static var wrongAck: SocketIOError { self.wrong("an ack that is not an id and an array") }

    private static func wrong(_ what: String) -> SocketIOError {
        SocketIOError(.invalidPayload, message: what)
    }
}

extension SocketIOPacket {
    /// Throws unless a peer may send this packet: for parsers that hand over whole packets.
    ///
    /// - Throws: ``SocketIOError/Code/malformedPacket`` or ``SocketIOError/Code/invalidPayload``.
    func checkReceived(limits: SocketIOLimits, version: SocketIOVersion) throws(SocketIOError) {
        guard self.namespace.utf8.first == UInt8(ascii: "/"), self.namespace.utf8.count <= limits.maximumNamespaceBytes else {
            throw SocketIOError(
                .malformedPacket,
                message:
                    "a namespace of \(self.namespace.utf8.count) bytes; it starts with a slash and has at most \(limits.maximumNamespaceBytes)"
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
        throw SocketIOError(.invalidPayload, message: "an event with the reserved name \"\(name)\"")
    }

    private static func checkReceived(ackID: Int?) throws(SocketIOError) {
        guard ackID ?? 0 >= 0 else { throw SocketIOError(.malformedPacket, message: "an ack id below zero") }
    }
}

extension UndecodedPacket {
    /// Throws unless this packet may be sent.
    ///
    /// - Throws: ``SocketIOError/Code/invalidArguments`` for a reserved event name, a namespace without its slash, a negative ack id.
    func checkSent() throws(SocketIOError) {
        try Self.checkSent(namespace: self.namespace)
        try self.content.call?.0.checkSent()
    }

    static func checkSent(namespace: String) throws(SocketIOError) {
        guard namespace != "/" else { return }  // nearly always
        guard namespace.utf8.first == UInt8(ascii: "/") else {
            throw SocketIOError(.invalidArguments, message: "a namespace starts with a slash; got \"\(namespace)\"")
        }
    }
}
