public import ApusJSON
public import ApusSocketIOProtocol

/// Publishes into a cluster without being one of its servers: from a worker, a scheduled job, another process.
///
/// ```swift
/// let emitter = SocketIOClusterEmitter(cluster.publisher)
/// emitter.to("orders").emit("shipped", order)
/// emitter.namespace("/admin").disconnectSockets()
/// ```
///
/// It has no sockets and gets no answers. Source: the reference's emitters, whose id is `emitter`.
public struct SocketIOClusterEmitter: Sendable {
    private let publisher: any SocketIOClusterPublisher
    private var name = "/"
    private var targets = SocketIOTargets()
    private var flags = SocketIOEmitFlags()

    /// - Parameter publisher: The way into the cluster. Default namespace: `/`.
    public init(_ publisher: any SocketIOClusterPublisher) {
        self.publisher = publisher
    }

    /// The same for another namespace.
    public func namespace(_ name: String) -> SocketIOClusterEmitter { self.with { $0.name = name.hasPrefix("/") ? name : "/" + name } }

    /// Adds rooms. Without any, everybody in the namespace is meant.
    public func to(_ rooms: String...) -> SocketIOClusterEmitter { self.with { $0.targets.rooms.formUnion(rooms) } }

    /// Leaves out the members of these rooms (a socket's id is a room too).
    public func except(_ rooms: String...) -> SocketIOClusterEmitter { self.with { $0.targets.except.formUnion(rooms) } }

    /// Lets the event be lost for a client that is not ready to receive it now.
    public var volatile: SocketIOClusterEmitter { self.with { $0.flags.isVolatile = true } }

    /// Whether a transport that compresses may compress the event. Default: yes.
    public func compress(_ isCompressed: Bool) -> SocketIOClusterEmitter { self.with { $0.flags.isCompressed = isCompressed } }

    /// Sends an event to the clients that are meant.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        self.publish(.broadcast(event: event, arguments: arguments, targets: self.targets, flags: self.flags, request: nil))
    }

    /// Sends an event with these arguments, each encoded as its `Encodable` says; `Data` travels as binary.
    ///
    /// - Throws: The encoder's error.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) throws {
        self.emit(event, arguments: try SocketIOArguments.encode(repeat each arguments))
    }

    /// Makes the sockets enter these rooms.
    public func socketsJoin(_ rooms: String...) { self.publish(.join(targets: self.targets, rooms: rooms)) }

    /// Makes the sockets leave these rooms.
    public func socketsLeave(_ rooms: String...) { self.publish(.leave(targets: self.targets, rooms: rooms)) }

    /// Disconnects the sockets. `close` ends their whole connections, not only the namespace.
    public func disconnectSockets(close: Bool = false) { self.publish(.disconnect(targets: self.targets, close: close)) }

    /// Sends an event to the servers themselves; see ``SocketIONamespace/onServerSideEvent(_:_:)``.
    public func serverSideEmit(_ event: String, arguments: [SocketIOValue]) {
        self.publish(.serverSideEmit(event: event, arguments: arguments, request: nil))
    }

    private func publish(_ content: SocketIOClusterMessage.Content) {
        self.publisher.publish(SocketIOClusterMessage(sender: .emitter, namespace: self.name, content: content))
    }

    private func with(_ change: (inout SocketIOClusterEmitter) -> Void) -> SocketIOClusterEmitter {
        var copy = self
        change(&copy)
        return copy
    }
}
