/// What an event or an ack says beside its arguments.
///
/// Apart from them, so that one goes out without a ``UndecodedPacket`` being put together and taken apart for every message.
package enum EventOrAck: Equatable, Sendable {
    case event(name: String, ackID: Int?)
    case ack(id: Int)

    /// Throws unless it may be sent.
    ///
    /// - Throws: ``SocketIOError/Code/invalidArguments`` for a reserved event name or a negative ack id.
    func checkSent() throws(SocketIOError) {
        switch self {
        case .event(let name, let ackID):
            guard !SocketIOPacket.isReserved(name) else {
                throw SocketIOError(.invalidArguments, message: "\"\(name)\" is a name of the library's own; emit another")
            }
            if let ackID { try Self.checkSent(ackID: ackID) }
        case .ack(let id): try Self.checkSent(ackID: id)
        }
    }

    private static func checkSent(ackID: Int) throws(SocketIOError) {
        guard ackID < 0 else { return }
        throw SocketIOError(.invalidArguments, message: "an ack id is not negative; got \(ackID)")
    }
}

extension UndecodedPacket.Content {
    package init(_ call: EventOrAck, _ arguments: SocketIOPayload) {
        switch call {
        case .event(let name, let ackID): self = .event(name: name, arguments: arguments, ackID: ackID)
        case .ack(let id): self = .ack(id: id, arguments: arguments)
        }
    }

    /// The call and its arguments; `nil` for what is neither event nor ack.
    var call: (EventOrAck, SocketIOPayload)? {
        switch self {
        case .event(let name, let arguments, let ackID): (.event(name: name, ackID: ackID), arguments)
        case .ack(let id, let arguments): (.ack(id: id), arguments)
        case .connect, .disconnect, .connectError: nil
        }
    }
}
