public import ApusJSON
public import ApusSocketIOProtocol
import NIOCore

/// An emit to many sockets: who gets it, and then `emit`. The event is encoded once, whoever many get it.
public struct SocketIOBroadcast: Sendable {
    private let namespace: SocketIONamespace
    private var rooms: Set<String> = []
    private var excluded: Set<String> = []
    private var isVolatile = false

    init(namespace: SocketIONamespace, excluding excluded: Set<String> = []) {
        self.namespace = namespace
        self.excluded = excluded
    }

    /// Adds rooms. Without any, everybody in the namespace is meant. A socket in several of them gets the event once.
    public func to(_ rooms: String...) -> SocketIOBroadcast { self.to(rooms) }

    /// Leaves out the members of these rooms.
    public func except(_ rooms: String...) -> SocketIOBroadcast { self.except(rooms) }

    /// Lets the event be lost for a client that is not ready to receive it now.
    public var volatile: SocketIOBroadcast {
        var copy = self
        copy.isVolatile = true
        return copy
    }

    func to(_ rooms: [String]) -> SocketIOBroadcast {
        var copy = self
        copy.rooms.formUnion(rooms)
        return copy
    }

    func except(_ rooms: [String]) -> SocketIOBroadcast {
        var copy = self
        copy.excluded.formUnion(rooms)
        return copy
    }

    /// Sends the event. What cannot be encoded is logged and not sent.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        let outbound: SocketIOOutbound
        do {
            let packet = SocketIOPacket(namespace: self.namespace.name, content: .event(name: event, arguments: arguments, ackID: nil))
            outbound = try SocketIOOutbound(packet, shared: true)
        } catch {
            return self.namespace.reportUnencodable(event, error)
        }
        let sockets = self.namespace.targets(rooms: self.rooms, excluding: self.excluded)
        let isVolatile = self.isVolatile
        // One hop a loop, not one a socket.
        for group in Dictionary(grouping: sockets, by: { ObjectIdentifier($0.eventLoop) }).values {
            guard let eventLoop = group.first?.eventLoop else { continue }
            let deliver = { @Sendable in for socket in group { socket.deliver(outbound, isVolatile: isVolatile) } }
            if eventLoop.inEventLoop { deliver() } else { eventLoop.execute(deliver) }
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
