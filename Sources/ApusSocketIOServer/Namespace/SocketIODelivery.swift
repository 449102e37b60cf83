import ApusJSON
import ApusSocketIOProtocol
import NIOCore

/// An event for some of this server's sockets of a namespace, our own or from another server of the cluster.
struct SocketIODelivery: Sendable {
    var event: String
    var arguments: [SocketIOValue]
    var targets = SocketIOTargets()
    var flags = SocketIOEmitFlags()
    /// Asks every client for an ack under this id.
    var ackID: Int?
    /// What is told of each ack, on the loop of its socket: the arguments, or `nil` when the client left first.
    var answered: (@Sendable ([SocketIOValue]?) -> Void)?
}

extension SocketIONamespace {
    /// Sends an event to this server's sockets, encoded once, one hop a loop. The one way every broadcast gets to them.
    ///
    /// - Returns: The sockets it went to.
    /// - Throws: What the encoder says of an event that has no form on the wire.
    @discardableResult
    func deliver(_ delivery: SocketIODelivery) throws(SocketIOError) -> [SocketIOServerSocket] {
        let content = SocketIOPacket.Content.event(name: delivery.event, arguments: delivery.arguments, ackID: delivery.ackID)
        let outbound = try self.encode(content, shared: true, isCompressed: delivery.flags.isCompressed)
        let sockets = self.sockets(in: delivery.targets)
        for group in Dictionary(grouping: sockets, by: { ObjectIdentifier($0.eventLoop) }).values {
            guard let eventLoop = group.first?.eventLoop else { continue }
            let deliver = { @Sendable in
                for socket in group {
                    guard let id = delivery.ackID, let answered = delivery.answered else {
                        socket.deliver(outbound, isVolatile: delivery.flags.isVolatile)
                        continue
                    }
                    let waiting = WaitingAck(resume: { answered(try? $0.get()) }, timer: nil)
                    _ = socket.deliver(outbound, isVolatile: delivery.flags.isVolatile, ackID: id, waiting)
                }
            }
            if eventLoop.inEventLoop { deliver() } else { eventLoop.execute(deliver) }
        }
        return sockets
    }
}
