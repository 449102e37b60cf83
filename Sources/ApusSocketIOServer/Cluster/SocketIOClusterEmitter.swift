public import ApusJSON
public import ApusSocketIOProtocol

/// Publishes into a cluster from a process that is not one of its servers, such as a worker or a
/// scheduled job.
///
/// ```swift
/// let emitter = SocketIOClusterEmitter(cluster.publisher)
/// emitter.to("orders").emit("shipped", order)
/// emitter.namespace("/admin").disconnectSockets()
/// ```
///
/// It has no sockets and receives no answers. Source: the emitters of Node's adapters, such as
/// `@socket.io/redis-emitter`, whose id is `emitter`.
public struct SocketIOClusterEmitter: Sendable {
    private let publisher: any SocketIOClusterPublisher
    private var name = "/"
    private var targets = SocketIOTargets()
    private var flags = SocketIOEmitFlags()

    /// Creates an emitter for the namespace `/`. Use ``namespace(_:)`` for another one.
    ///
    /// - Parameter publisher: The connection to the cluster.
    public init(_ publisher: any SocketIOClusterPublisher) {
        self.publisher = publisher
    }

    /// Returns an emitter for another namespace.
    public func namespace(_ name: String) -> SocketIOClusterEmitter { self.with { $0.name = name.hasPrefix("/") ? name : "/" + name } }

    /// Adds rooms. Without rooms, the emit targets the whole namespace.
    public func to(_ rooms: String...) -> SocketIOClusterEmitter { self.with { $0.targets.rooms.formUnion(rooms) } }

    /// Excludes the members of these rooms. A socket's id is the name of its own room.
    public func except(_ rooms: String...) -> SocketIOClusterEmitter { self.with { $0.targets.except.formUnion(rooms) } }

    /// Drops the event for a client that cannot receive it now.
    public var volatile: SocketIOClusterEmitter { self.with { $0.flags.isVolatile = true } }

    /// Sets whether the transport may compress the event. Default: `true`.
    public func compress(_ isCompressed: Bool) -> SocketIOClusterEmitter { self.with { $0.flags.isCompressed = isCompressed } }

    /// Sends an event to every recipient.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        self.publish(.broadcast(event: event, arguments: arguments, targets: self.targets, flags: self.flags, request: nil))
    }

    /// Sends an event with these arguments, each encoded by its `Encodable` conformance. `Data` is
    /// sent as a binary attachment.
    ///
    /// - Throws: `SocketIOError.Code.invalidUse` with the encoder's error as its cause.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) throws(SocketIOError) {
        self.emit(event, arguments: try SocketIOArguments.encode(repeat each arguments))
    }

    /// Makes the sockets join these rooms.
    public func socketsJoin(_ rooms: String...) { self.publish(.join(targets: self.targets, rooms: rooms)) }

    /// Makes the sockets leave these rooms.
    public func socketsLeave(_ rooms: String...) { self.publish(.leave(targets: self.targets, rooms: rooms)) }

    /// Disconnects the sockets from the namespace or, with `close`, closes their connections.
    public func disconnectSockets(close: Bool = false) { self.publish(.disconnect(targets: self.targets, close: close)) }

    /// Sends an event to the servers, not to their clients. See
    /// ``SocketIONamespace/onServerSideEvent(_:_:)``.
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
