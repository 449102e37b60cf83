import ApusEngineIOServer
public import ApusJSON
public import ApusSocketIOProtocol
import NIOCore

// Sending. What cannot be encoded is logged and not sent; after a disconnect an emit does nothing.
extension SocketIOServerSocket {
    /// Sends an event to this client.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        self.emit(event, arguments, SocketIOEmitFlags())
    }

    /// Sends an event with these arguments, each encoded as its `Encodable` says; `Data` travels as binary.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do {
            self.emit(event, try SocketIOArguments.encode(repeat each arguments), SocketIOEmitFlags())
        } catch {
            self.namespace.reportUnencodable(event, error)
        }
    }

    /// Sends an event with the arguments of another as they came: they are not decoded and not encoded anew.
    public func emit(_ event: String, payload: SocketIOPayload) {
        self.emit(event, payload, SocketIOEmitFlags())
    }

    func emit(_ event: String, _ arguments: [SocketIOValue], _ flags: SocketIOEmitFlags) {
        self.emit(event, SocketIOPayload(arguments), flags)
    }

    func emit(_ event: String, _ arguments: SocketIOPayload, _ flags: SocketIOEmitFlags) {
        do {
            if !flags.isVolatile, self.recoveryState != nil, let recovery = self.namespace.recovery {
                let delivery = SocketIODelivery(
                    event: event, arguments: arguments, targets: SocketIOTargets(rooms: [self.id]), flags: flags)
                try recovery.deliver(delivery, in: self.namespace, to: self)
                return
            }
            let call = EventOrAck.event(name: event, ackID: self.namespace.ackIDOfUnnumbered(arguments))
            if self.eventLoop.inEventLoop { return try self.send(call, arguments, flags) }
            let outbound = try self.namespace.encode(.init(call, arguments), isCompressed: flags.isCompressed)
            self.eventLoop.runOnLoop { self.deliver(outbound, isVolatile: flags.isVolatile) }
        } catch {
            self.namespace.reportUnencodable(event, error)
        }
    }

    /// Sends what is this client's alone, on the event loop.
    private func send(_ call: EventOrAck, _ arguments: SocketIOPayload, _ flags: SocketIOEmitFlags) throws(SocketIOError) {
        guard case .open = self.state, let connection = self.connection else { return }
        if flags.isVolatile, !connection.session.isWritable { return }
        if !self.listeners.outgoing.isEmpty { self.tellOutgoing(.init(call, arguments)) }
        try connection.send(call, arguments, namespace: self.namespace.name, isCompressed: flags.isCompressed)
    }

    func deliver(_ outbound: SocketIOOutbound, isVolatile: Bool) {
        guard case .open = self.state, let connection = self.connection else { return }
        if isVolatile, !connection.session.isWritable { return }
        if !self.listeners.outgoing.isEmpty { self.tellOutgoing(outbound.content) }
        connection.send(outbound)
    }

    private func tellOutgoing(_ content: UndecodedPacket.Content) {
        guard case .event(let name, let payload, _) = content else { return }
        let arguments = payload.arguments
        for entry in self.listeners.outgoing { entry.handler(name, arguments) }
    }

    // MARK: Flags

    /// Lets the next event be lost when the client is not ready to receive it now: `socket.volatile.emit("position", x, y)`.
    public var volatile: SocketIOEmitter { SocketIOEmitter(socket: self).volatile }

    /// Whether the next event is worth compressing, where the connection compresses at all. Default: yes.
    public func compress(_ isCompressed: Bool) -> SocketIOEmitter { SocketIOEmitter(socket: self).compress(isCompressed) }

    /// The time the next `emitWithAck` waits.
    public func timeout(_ timeout: Duration) -> SocketIOEmitter { SocketIOEmitter(socket: self).timeout(timeout) }
}

/// A socket and how the next event is to travel: `socket.volatile.compress(false).emit("frame", bytes)`.
public struct SocketIOEmitter: Sendable {
    private let socket: SocketIOServerSocket
    private var flags = SocketIOEmitFlags()

    init(socket: SocketIOServerSocket) {
        self.socket = socket
    }

    /// Lets the event be lost when the client is not ready to receive it now.
    public var volatile: SocketIOEmitter { self.with { $0.isVolatile = true } }

    /// Whether the event is worth compressing, where the connection compresses at all. Default: yes.
    public func compress(_ isCompressed: Bool) -> SocketIOEmitter { self.with { $0.isCompressed = isCompressed } }

    /// The time `emitWithAck` waits.
    public func timeout(_ timeout: Duration) -> SocketIOEmitter { self.with { $0.timeout = timeout } }

    private func with(_ change: (inout SocketIOEmitFlags) -> Void) -> SocketIOEmitter {
        var copy = self
        change(&copy.flags)
        return copy
    }

    /// Sends an event to this client.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        self.socket.emit(event, arguments, self.flags)
    }

    /// Sends an event with the arguments of another as they came.
    public func emit(_ event: String, payload: SocketIOPayload) {
        self.socket.emit(event, payload, self.flags)
    }

    /// Sends an event with these arguments, each encoded as its `Encodable` says; `Data` travels as binary.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do {
            self.socket.emit(event, try SocketIOArguments.encode(repeat each arguments), self.flags)
        } catch {
            self.socket.namespace.reportUnencodable(event, error)
        }
    }

    /// Sends an event and waits for the client's ack. See ``SocketIOServerSocket/emitWithAck(_:arguments:timeout:)``.
    public func emitWithAck(_ event: String, arguments: [SocketIOValue]) async throws -> [SocketIOValue] {
        try await self.socket.emitWithAck(event, arguments, self.flags)
    }

    /// Sends an event, waits for the client's ack and decodes its first argument.
    public func emitWithAck<Answer: Decodable, each Argument: Encodable & Sendable>(
        _ event: String, _ arguments: repeat each Argument, as type: Answer.Type
    ) async throws -> Answer {
        let values = try await self.socket.emitWithAck(event, try SocketIOArguments.encode(repeat each arguments), self.flags)
        return try SocketIOArguments.decode(values: values, as: type)
    }
}
