import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol

/// An event for some of this server's sockets of a namespace, our own or from another server of the cluster.
struct SocketIODelivery: Sendable {
    var event: String
    var arguments: SocketIOPayload
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
        if !delivery.flags.isVolatile, let recovery = self.recovery { return try recovery.deliver(delivery, in: self) }
        let content = UndecodedPacket.Content.event(
            name: delivery.event, arguments: delivery.arguments, ackID: self.ackIDOfUnnumbered(delivery.arguments))
        let outbound = try self.encode(content, shared: true, isCompressed: delivery.flags.isCompressed)
        let isVolatile = delivery.flags.isVolatile
        for group in self.recipients(of: delivery.targets).groups { group.forEach { $0.deliver(outbound, isVolatile: isVolatile) } }
    }

    /// The ack id of an event that is not numbered, mostly none.
    ///
    /// Clients that can come back take the last text of an event for its offset, unless the event asks for an ack: where that would be wrong one is asked
    /// for, and nobody waits for it.
    func ackIDOfUnnumbered(_ arguments: SocketIOPayload) -> Int? {
        guard let recovery, recovery.hasLookalike(arguments) else { return nil }
        return self.makeAckID()
    }

    /// Sends an event to this server's sockets and asks each for an ack.
    ///
    /// - Returns: The sockets it went to, and how to stop waiting for them.
    func deliverAskingAcks(
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
            for group in groups { group.forEach { $0.endWait(id, .failure(SocketIOError(.ackTimeout, message: "No ack in time"))) } }
        }
        return (groups.reduce(0) { $0 + $1.sockets.count }, stop)
    }
}
