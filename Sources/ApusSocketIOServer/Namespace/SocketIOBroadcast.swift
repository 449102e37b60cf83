public import ApusJSON
public import ApusSocketIOProtocol

/// An emit to many sockets: who gets it, how it travels, and then `emit`. The event is encoded once, whoever many get it.
///
/// With a cluster it reaches the sockets of every server, unless it is ``SocketIOBroadcasting/local``.
public struct SocketIOBroadcast: SocketIOBroadcasting {
    let namespace: SocketIONamespace
    var targets: SocketIOTargets
    var flags = SocketIOEmitFlags()

    init(namespace: SocketIONamespace, targets: SocketIOTargets = .init()) {
        self.namespace = namespace
        self.targets = targets
    }

    /// Itself.
    public var broadcast: SocketIOBroadcast { self }

    func with(_ change: (inout SocketIOBroadcast) -> Void) -> SocketIOBroadcast {
        var copy = self
        change(&copy)
        return copy
    }

    /// The cluster, if there is one and it is meant.
    var cluster: SocketIOClusterNode? { self.flags.isLocal ? nil : self.namespace.cluster }

    func publish(_ content: @autoclosure () -> SocketIOClusterMessage.Content) {
        if let cluster = self.cluster { cluster.publish(content(), in: self.namespace.name) }
    }

    /// Asks the servers that are meant, this one included, and tells who they are.
    func ask(_ id: String) {
        if let cluster = self.cluster {
            cluster.ask(id, in: self.namespace.name, andSelf: true)
        } else {
            self.namespace.pendingRequests.asked(id, .count(0), andSelf: true)
        }
    }

}

extension SocketIOBroadcasting {
    /// Sends the event. What cannot be encoded is logged and not sent.
    public func emit(_ event: String, arguments: [SocketIOValue]) { self.emit(event, payload: SocketIOPayload(arguments)) }

    /// Sends the event with the arguments of another as they came: they are not decoded and not encoded anew, unless other servers get them.
    public func emit(_ event: String, payload: SocketIOPayload) {
        let broadcast = self.broadcast
        do throws(SocketIOError) {
            let (targets, flags) = (broadcast.targets, broadcast.flags)
            try broadcast.namespace.deliver(SocketIODelivery(event: event, arguments: payload, targets: targets, flags: flags))
            broadcast.publish(.broadcast(event: event, arguments: payload.arguments, targets: targets, flags: flags, request: nil))
        } catch {
            broadcast.namespace.reportUnencodable(event, error)
        }
    }

    /// Sends the event with these arguments, each encoded as its `Encodable` says; `Data` travels as binary.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do {
            self.emit(event, arguments: try SocketIOArguments.encode(repeat each arguments))
        } catch {
            self.broadcast.namespace.reportUnencodable(event, error)
        }
    }
}
