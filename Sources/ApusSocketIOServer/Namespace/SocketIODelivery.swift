import ApusEngineIOServer
import ApusJSON
package import ApusSocketIOProtocol
import NIOCore

/// An event for some of this server's sockets of a namespace, emitted by this server or by another
/// server of the cluster.
struct SocketIODelivery: Sendable {
    var event: String
    var arguments: SocketIOPayload
    var targets = SocketIOTargets()
    var flags = SocketIOEmitFlags()
}

/// A closure that receives each ack on the event loop of its socket: the arguments, or `nil` if no
/// ack arrived because the client disconnected, the event was dropped, or the broadcast was
/// cancelled or timed out.
typealias SocketIOAckListener = @Sendable (_ values: [SocketIOValue]?) -> Void

extension SocketIONamespace {
    /// Sends an event to this server's sockets. Used by every broadcast without acks. Schedules one
    /// task per event loop. Without recovery, encodes the event once.
    ///
    /// - Throws: The encoder's error for an event that cannot be encoded.
    func deliver(_ delivery: SocketIODelivery) throws(SocketIOError) {
        if !delivery.flags.isVolatile, let recovery = self.recovery { return try recovery.deliver(delivery, in: self) }
        let content = SocketIOPacket.Content.event(
            name: delivery.event, arguments: delivery.arguments, ackID: self.ackIDWithoutOffset(delivery.arguments))
        let outbound = try self.encode(content, shared: true, isCompressed: delivery.flags.isCompressed)
        let isVolatile = delivery.flags.isVolatile
        for group in self.recipients(of: delivery.targets).groups { group.forEach { $0.deliver(outbound, isVolatile: isVolatile) } }
    }

    /// Sends an event to distinct sockets of this server. Encodes the event once and schedules one
    /// task per event loop. Sockets that are not writable receive it later.
    package func emit(_ event: String, payload: SocketIOPayload, to sockets: some Sequence<SocketIOServerSocket>) {
        guard let outbound = self.outbound(event, payload) else { return }
        for group in Recipients(sockets).groups { group.forEach { $0.deliver(outbound, isVolatile: false) } }
    }

    /// Encodes an event for several sockets.
    ///
    /// - Returns: The encoded event; `nil` if it cannot be encoded, which is reported.
    func outbound(_ event: String, _ payload: SocketIOPayload) -> SocketIOOutbound? {
        do throws(SocketIOError) {
            return try self.encode(.event(name: event, arguments: payload, ackID: nil), shared: true, isCompressed: true)
        } catch {
            self.reportUnencodable(event, error)
            return nil
        }
    }

    /// Returns the ack id of an event without an offset; `nil` for most events.
    ///
    /// A client with recovery treats the last argument of an event without an ack id as the offset
    /// if it is a string. If that argument begins like an offset, the event is sent with an ack id.
    /// The ack is ignored.
    func ackIDWithoutOffset(_ arguments: SocketIOPayload) -> Int? {
        guard let recovery, recovery.endsLikeOffset(arguments) else { return nil }
        return self.makeAckID()
    }

    /// Sends an event to this server's sockets and requests an ack from each.
    ///
    /// - Returns: The number of recipients, and a closure that ends the wait for their acks with a
    ///   reason.
    func deliverRequestingAcks(
        _ delivery: SocketIODelivery, _ answered: @escaping SocketIOAckListener
    ) throws(SocketIOError) -> (count: Int, stop: @Sendable (SocketIOAckEnd) -> Void) {
        let id = self.makeAckID()
        let content = SocketIOPacket.Content.event(name: delivery.event, arguments: delivery.arguments, ackID: id)
        let outbound = try self.encode(content, shared: true, isCompressed: delivery.flags.isCompressed)
        let isVolatile = delivery.flags.isVolatile
        let groups = self.recipients(of: delivery.targets).groups
        for group in groups {
            group.forEach { socket in
                let pending = PendingClientAck(completion: { answered(try? $0.get()) }, event: delivery.event, timeout: nil)
                socket.deliver(outbound, isVolatile: isVolatile, ackID: id, pending)
            }
        }
        let stop = { @Sendable (end: SocketIOAckEnd) in
            for group in groups { group.forEach { $0.endAck(id, end) } }
        }
        return (groups.reduce(0) { $0 + $1.sockets.count }, stop)
    }
}

/// The sockets of a namespace, grouped by event loop. A broadcast iterates over arrays and
/// schedules one task per event loop.
struct Recipients {
    /// The sockets of one event loop.
    struct Group: Sendable {
        let eventLoop: any EventLoop
        fileprivate(set) var sockets: [SocketIOServerSocket] = []

        /// Calls `body` for each socket, on the event loop.
        func forEach(_ body: @escaping @Sendable (SocketIOServerSocket) -> Void) {
            self.sockets.first?.session.runOnLoop(delivering: self.sockets.count) { for socket in self.sockets { body(socket) } }
        }
    }

    private(set) var groups: [Group] = []

    /// Groups distinct sockets by event loop.
    init(_ sockets: some Sequence<SocketIOServerSocket> = []) {
        for socket in sockets { self.groups[self.group(of: socket)].sockets.append(socket) }
    }

    /// Adds a socket and stores its index in the socket. Therefore only the mutable instance of the
    /// socket's namespace may add it.
    mutating func add(_ socket: SocketIOServerSocket) {
        let group = self.group(of: socket)
        socket.indexInRecipients = self.groups[group].sockets.count
        self.groups[group].sockets.append(socket)
    }

    mutating func remove(_ socket: SocketIOServerSocket) {
        let (group, place) = (self.group(of: socket), socket.indexInRecipients)
        guard self.groups[group].sockets.indices.contains(place), self.groups[group].sockets[place] === socket else { return }
        let last = self.groups[group].sockets.removeLast()
        guard last !== socket else { return }
        last.indexInRecipients = place
        self.groups[group].sockets[place] = last
    }

    /// Returns the index of the group of the socket's event loop, and adds the group if it is new.
    /// The search is linear, because a process has few event loops.
    private mutating func group(of socket: SocketIOServerSocket) -> Int {
        if let known = self.groups.firstIndex(where: { $0.eventLoop === socket.eventLoop }) { return known }
        self.groups.append(Group(eventLoop: socket.eventLoop))
        return self.groups.count - 1
    }

    /// Returns a copy without these sockets.
    func without(_ excluded: [SocketIOServerSocket]) -> Recipients {
        let excluded = Set(excluded.map { ObjectIdentifier($0) })
        guard !excluded.isEmpty else { return self }
        var copy = self
        for index in copy.groups.indices { copy.groups[index].sockets.removeAll { excluded.contains(ObjectIdentifier($0)) } }
        return copy
    }
}
