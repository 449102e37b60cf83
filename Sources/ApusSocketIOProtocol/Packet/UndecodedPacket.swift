import ApusJSON

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

/// The part of an event or an ack besides its arguments.
///
/// It is separate from them so that sending a message does not construct an ``UndecodedPacket``.
package enum EventOrAck: Equatable, Sendable {
    case event(name: String, ackID: Int?)
    case ack(id: Int)

    /// Throws unless the event or ack may be sent.
    ///
    /// - Throws: ``SocketIOError/Code/invalidArguments`` for a reserved event name or a negative
    ///   ack id.
    func checkSent() throws(SocketIOError) {
        switch self {
        case .event(let name, let ackID):
            guard !SocketIOPacket.isReserved(name) else {
                throw SocketIOError(.invalidArguments, message: "the event name \"\(name)\" is reserved; use another name")
            }
            if let ackID { try Self.checkSent(ackID: ackID) }
        case .ack(let id): try Self.checkSent(ackID: id)
        }
    }

    private static func checkSent(ackID: Int) throws(SocketIOError) {
        guard ackID < 0 else { return }
        throw SocketIOError(.invalidArguments, message: "an ack id must be 0 or more: \(ackID)")
    }
}

extension UndecodedPacket.Content {
    package init(_ call: EventOrAck, _ arguments: SocketIOPayload) {
        switch call {
        case .event(let name, let ackID): self = .event(name: name, arguments: arguments, ackID: ackID)
        case .ack(let id): self = .ack(id: id, arguments: arguments)
        }
    }

    /// The event or ack and its arguments; nil for other packets.
    var call: (EventOrAck, SocketIOPayload)? {
        switch self {
        case .event(let name, let arguments, let ackID): (.event(name: name, ackID: ackID), arguments)
        case .ack(let id, let arguments): (.ack(id: id), arguments)
        case .connect, .disconnect, .connectError: nil
        }
    }
}
