import ApusJSON
import ApusSocketIOProtocol
import NIOCore

/// An event for some of this server's sockets of a namespace, our own or from another server of the cluster.
struct SocketIODelivery: Sendable {
    var event: String
    var arguments: [SocketIOValue]
    var targets = SocketIOTargets()
    var flags = SocketIOEmitFlags()
}

/// Told of each ack, on the loop of its socket: the arguments, or `nil` when the client is gone.
typealias SocketIOAckListener = @Sendable (_ values: [SocketIOValue]?) -> Void

extension SocketIONamespace {
    /// Sends an event to this server's sockets, encoded once, one hop a loop. The one way every broadcast without acks gets to them.
    ///
    /// - Throws: What the encoder says of an event that has no form on the wire.
    func deliver(_ delivery: SocketIODelivery) throws(SocketIOError) {
        let content = SocketIOPacket.Content.event(name: delivery.event, arguments: delivery.arguments, ackID: nil)
        let outbound = try self.encode(content, shared: true, isCompressed: delivery.flags.isCompressed)
        let isVolatile = delivery.flags.isVolatile
        self.sockets(in: delivery.targets).onEachLoop { socket in socket.deliver(outbound, isVolatile: isVolatile) }
    }

    /// Sends an event to this server's sockets and asks each for an ack.
    ///
    /// - Returns: The sockets it went to, and how to stop waiting for them.
    func deliverAskingAcks(
        _ delivery: SocketIODelivery, _ answered: @escaping SocketIOAckListener
    ) throws(SocketIOError) -> (count: Int, stop: @Sendable () -> Void) {
        let id = self.makeAckID()
        let content = SocketIOPacket.Content.event(name: delivery.event, arguments: delivery.arguments, ackID: id)
        let outbound = try self.encode(content, shared: true, isCompressed: delivery.flags.isCompressed)
        let isVolatile = delivery.flags.isVolatile
        let sockets = self.sockets(in: delivery.targets)
        sockets.onEachLoop { socket in
            let waiting = WaitingAck(resume: { answered(try? $0.get()) }, timer: nil)
            _ = socket.deliver(outbound, isVolatile: isVolatile, ackID: id, waiting)
        }
        let stop = { @Sendable in
            sockets.onEachLoop { $0.endWait(id, .failure(SocketIOError(.ackTimeout, message: "No ack in time"))) }
        }
        return (sockets.count, stop)
    }
}

extension [SocketIOServerSocket] {
    /// Calls `body` for each socket on its loop; one hop a loop, not one a socket.
    fileprivate func onEachLoop(_ body: @escaping @Sendable (SocketIOServerSocket) -> Void) {
        for group in Dictionary(grouping: self, by: { ObjectIdentifier($0.eventLoop) }).values {
            guard let eventLoop = group.first?.eventLoop else { continue }
            let deliver = { @Sendable in for socket in group { body(socket) } }
            if eventLoop.inEventLoop { deliver() } else { eventLoop.execute(deliver) }
        }
    }
}
