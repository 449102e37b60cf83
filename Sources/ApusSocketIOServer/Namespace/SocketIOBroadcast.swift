public import ApusJSON
public import ApusSocketIOProtocol

/// An emit to many sockets: the targets, the flags, and `emit`. It encodes the event once,
/// regardless of the number of recipients.
///
/// In a cluster it reaches the sockets of every server, unless it is
/// ``SocketIOBroadcasting/local``.
public struct SocketIOBroadcast: SocketIOBroadcasting {
    let namespace: SocketIONamespace
    var targets: SocketIOTargets
    var flags = SocketIOEmitFlags()

    init(namespace: SocketIONamespace, targets: SocketIOTargets = .init()) {
        self.namespace = namespace
        self.targets = targets
    }

    /// Returns `self`.
    public var broadcast: SocketIOBroadcast { self }

    func with(_ change: (inout SocketIOBroadcast) -> Void) -> SocketIOBroadcast {
        var copy = self
        change(&copy)
        return copy
    }

    /// The cluster; `nil` without one and for a local broadcast.
    var cluster: SocketIOClusterNode? { self.flags.isLocal ? nil : self.namespace.cluster }

    func publish(_ content: @autoclosure () -> SocketIOClusterMessage.Content) {
        if let cluster = self.cluster { cluster.publish(content(), in: self.namespace.name) }
    }

    /// Registers the servers that the request waits for, including this one.
    func ask(_ id: String) {
        if let cluster = self.cluster {
            cluster.ask(id, in: self.namespace.name, andSelf: true)
        } else {
            self.namespace.pendingRequests.asked(id, .count(0), andSelf: true)
        }
    }

}

extension SocketIOBroadcasting {
    /// Sends the event. An event that cannot be encoded is logged and not sent.
    public func emit(_ event: String, arguments: [SocketIOValue]) { self.emit(event, payload: SocketIOPayload(arguments)) }

    /// Sends the event with received arguments, without decoding and encoding them again. A cluster
    /// message carries them decoded.
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

    /// Sends the event with these arguments, each encoded by its `Encodable` conformance. `Data` is
    /// sent as a binary attachment.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do {
            self.emit(event, arguments: try SocketIOArguments.encode(repeat each arguments))
        } catch {
            self.broadcast.namespace.reportUnencodable(event, error)
        }
    }
}
