public import ApusJSON
public import ApusSocketIOProtocol

/// An emit to many sockets: who gets it, how it travels, and then `emit`. The event is encoded once, whoever many get it.
public struct SocketIOBroadcast: Sendable {
    let namespace: SocketIONamespace
    private(set) var targets: SocketIOTargets
    private(set) var flags = SocketIOEmitFlags()

    init(namespace: SocketIONamespace, targets: SocketIOTargets = .init()) {
        self.namespace = namespace
        self.targets = targets
    }

    // MARK: Who

    /// Adds rooms. Without any, everybody in the namespace is meant. A socket in several of them gets the event once.
    public func to(_ rooms: String...) -> SocketIOBroadcast { self.to(rooms) }

    /// Adds rooms. An array without any changes nothing.
    public func to(_ rooms: [String]) -> SocketIOBroadcast { self.with { $0.targets.rooms.formUnion(rooms) } }

    /// Adds rooms; `to` by its other name.
    public func `in`(_ rooms: String...) -> SocketIOBroadcast { self.to(rooms) }

    /// Adds rooms; `to` by its other name.
    public func `in`(_ rooms: [String]) -> SocketIOBroadcast { self.to(rooms) }

    /// Leaves out the members of these rooms (a socket's id is a room too).
    public func except(_ rooms: String...) -> SocketIOBroadcast { self.except(rooms) }

    /// Leaves out the members of these rooms (a socket's id is a room too).
    public func except(_ rooms: [String]) -> SocketIOBroadcast { self.with { $0.targets.except.formUnion(rooms) } }

    /// Means only the sockets connected to this server, whoever else is in the cluster.
    public var local: SocketIOBroadcast { self.with { $0.flags.isLocal = true } }

    // MARK: How

    /// Lets the event be lost for a client that is not ready to receive it now.
    public var volatile: SocketIOBroadcast { self.with { $0.flags.isVolatile = true } }

    /// Whether a transport that compresses may compress the event. Default: yes. Say no for what is compressed already.
    public func compress(_ isCompressed: Bool) -> SocketIOBroadcast { self.with { $0.flags.isCompressed = isCompressed } }

    /// How long `emitWithAck` and the other calls that wait do so. Default: the configuration's `answerTimeout`.
    public func timeout(_ timeout: Duration) -> SocketIOBroadcast { self.with { $0.flags.timeout = timeout } }

    private func with(_ change: (inout SocketIOBroadcast) -> Void) -> SocketIOBroadcast {
        var copy = self
        change(&copy)
        return copy
    }

    // MARK: Emit

    /// Sends the event. What cannot be encoded is logged and not sent.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        do throws(SocketIOError) {
            try self.namespace.deliver(SocketIODelivery(event: event, arguments: arguments, targets: self.targets, flags: self.flags))
        } catch {
            self.namespace.reportUnencodable(event, error)
        }
    }

    /// Sends the event with these arguments, each encoded as its `Encodable` says; `Data` travels as binary.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do {
            self.emit(event, arguments: try SocketIOArguments.encode(repeat each arguments))
        } catch {
            self.namespace.reportUnencodable(event, error)
        }
    }
}
