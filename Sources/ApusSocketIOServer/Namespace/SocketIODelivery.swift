import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol

/// An event for some of this server's sockets of a namespace, emitted by this server or by another
/// server of the cluster.
struct SocketIODelivery: Sendable {
    var event: String
    var arguments: SocketIOPayload
    var targets = SocketIOTargets()
    var flags = SocketIOEmitFlags()
}

/// Receives each ack, on the event loop of its socket: the arguments, or `nil` when the client has
/// disconnected.
typealias SocketIOAckListener = @Sendable (_ values: [SocketIOValue]?) -> Void

extension SocketIONamespace {
    /// Sends an event to this server's sockets. Every broadcast without acks takes this path: it
    /// encodes once and schedules one task per event loop.
    ///
    /// - Throws: The encoder's error for an event that has no wire form.
    func deliver(_ delivery: SocketIODelivery) throws(SocketIOError) {
        if !delivery.flags.isVolatile, let recovery = self.recovery { return try recovery.deliver(delivery, in: self) }
        let content = UndecodedPacket.Content.event(
            name: delivery.event, arguments: delivery.arguments, ackID: self.ackIDWithoutOffset(delivery.arguments))
        let outbound = try self.encode(content, shared: true, isCompressed: delivery.flags.isCompressed)
        let isVolatile = delivery.flags.isVolatile
        for group in self.recipients(of: delivery.targets).groups { group.forEach { $0.deliver(outbound, isVolatile: isVolatile) } }
    }

    /// The ack id of an event without an offset; `nil` for most events.
    ///
    /// A client with recovery takes the last text argument of an event without an ack id for its
    /// offset. If that argument begins like an offset, the event carries an ack id, and the ack is
    /// ignored.
    func ackIDWithoutOffset(_ arguments: SocketIOPayload) -> Int? {
        guard let recovery, recovery.endsLikeOffset(arguments) else { return nil }
        return self.makeAckID()
    }

    /// Sends an event to this server's sockets and requests an ack from each.
    ///
    /// - Returns: The number of recipients, and a closure that ends the wait for their acks.
    func deliverRequestingAcks(
        _ delivery: SocketIODelivery, _ answered: @escaping SocketIOAckListener
    ) throws(SocketIOError) -> (count: Int, stop: @Sendable () -> Void) {
        let id = self.makeAckID()
        let content = UndecodedPacket.Content.event(name: delivery.event, arguments: delivery.arguments, ackID: id)
        let outbound = try self.encode(content, shared: true, isCompressed: delivery.flags.isCompressed)
        let isVolatile = delivery.flags.isVolatile
        let groups = self.recipients(of: delivery.targets).groups
        for group in groups {
            group.forEach { socket in
                let waiting = WaitingAck(resume: { answered(try? $0.get()) }, event: delivery.event, timeout: nil)
                _ = socket.deliver(outbound, isVolatile: isVolatile, ackID: id, waiting)
            }
        }
        let stop = { @Sendable in
            for group in groups { group.forEach { $0.endWait(id, .failure(SocketIOError(.ackTimeout, message: "Ack timed out"))) } }
        }
        return (groups.reduce(0) { $0 + $1.sockets.count }, stop)
    }
}
