import ApusEngineIOServer
public import ApusJSON
public import ApusSocketIOProtocol
import NIOCore

// Sending. An event that cannot be encoded is logged and not sent. After a disconnect, an emit does
// nothing.
extension SocketIOServerSocket {
    /// Sends an event to this client.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        self.emit(event, arguments, SocketIOEmitFlags())
    }

    /// Sends an event with these arguments, each encoded by its `Encodable` conformance. `Data` is
    /// sent as a binary attachment.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do {
            self.emit(event, try SocketIOArguments.encode(repeat each arguments), SocketIOEmitFlags())
        } catch {
            self.namespace.reportUnencodable(event, error)
        }
    }

    /// Sends an event with received arguments, without decoding and encoding them again.
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
            let call = EventOrAck.event(name: event, ackID: self.namespace.ackIDWithoutOffset(arguments))
            if self.eventLoop.inEventLoop { return try self.send(call, arguments, flags) }
            let outbound = try self.namespace.encode(.init(call, arguments), isCompressed: flags.isCompressed)
            self.eventLoop.runOnLoop { self.deliver(outbound, isVolatile: flags.isVolatile) }
        } catch {
            self.namespace.reportUnencodable(event, error)
        }
    }

    /// Sends an event to this client only, on the event loop.
    private func send(_ call: EventOrAck, _ arguments: SocketIOPayload, _ flags: SocketIOEmitFlags) throws(SocketIOError) {
        guard case .open = self.state, let connection = self.connection else { return }
        if flags.isVolatile, !connection.session.isWritable { return }
        if !self.listeners.outgoing.isEmpty { self.notifyOutgoing(.init(call, arguments)) }
        try connection.send(call, arguments, namespace: self.namespace.name, isCompressed: flags.isCompressed)
    }

    func deliver(_ outbound: SocketIOOutbound, isVolatile: Bool) {
        guard case .open = self.state, let connection = self.connection else { return }
        if isVolatile, !connection.session.isWritable { return }
        if !self.listeners.outgoing.isEmpty { self.notifyOutgoing(outbound.content) }
        connection.send(outbound)
    }

    private func notifyOutgoing(_ content: UndecodedPacket.Content) {
        guard case .event(let name, let payload, _) = content else { return }
        let arguments = payload.arguments
        for entry in self.listeners.outgoing { entry.handler(name, arguments) }
    }

    // MARK: Flags

    /// Drops the next event if the client cannot receive it now: `socket.volatile.emit("position",
    /// x, y)`.
    public var volatile: SocketIOEmitter { SocketIOEmitter(socket: self).volatile }

    /// Sets whether the transport may compress the next event. Default: `true`.
    public func compress(_ isCompressed: Bool) -> SocketIOEmitter { SocketIOEmitter(socket: self).compress(isCompressed) }

    /// Sets the time that the next `emitWithAck` waits.
    public func timeout(_ timeout: Duration) -> SocketIOEmitter { SocketIOEmitter(socket: self).timeout(timeout) }
}

/// A socket with the options of the next event: `socket.volatile.compress(false).emit("frame",
/// bytes)`.
public struct SocketIOEmitter: Sendable {
    private let socket: SocketIOServerSocket
    private var flags = SocketIOEmitFlags()

    init(socket: SocketIOServerSocket) {
        self.socket = socket
    }

    /// Drops the event if the client cannot receive it now.
    public var volatile: SocketIOEmitter { self.with { $0.isVolatile = true } }

    /// Sets whether the transport may compress the event. Default: `true`.
    public func compress(_ isCompressed: Bool) -> SocketIOEmitter { self.with { $0.isCompressed = isCompressed } }

    /// Sets the time that `emitWithAck` waits.
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

    /// Sends an event with received arguments, without decoding and encoding them again.
    public func emit(_ event: String, payload: SocketIOPayload) {
        self.socket.emit(event, payload, self.flags)
    }

    /// Sends an event with these arguments, each encoded by its `Encodable` conformance. `Data` is
    /// sent as a binary attachment.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do {
            self.socket.emit(event, try SocketIOArguments.encode(repeat each arguments), self.flags)
        } catch {
            self.socket.namespace.reportUnencodable(event, error)
        }
    }

    /// Sends an event and waits for the client's ack. See
    /// ``SocketIOServerSocket/emitWithAck(_:arguments:timeout:)``.
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
