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
