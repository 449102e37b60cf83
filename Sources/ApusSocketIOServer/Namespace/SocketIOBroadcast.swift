public import ApusJSON
public import ApusSocketIOProtocol

/// A type that can emit to many sockets: a namespace, a socket, or a ``SocketIOBroadcast`` with
/// targets and flags. Its methods return a broadcast with further targets or flags.
public protocol SocketIOBroadcasting: Sendable {
    /// The broadcast to the sockets that this value selects.
    var broadcast: SocketIOBroadcast { get }
}

// Targets.
extension SocketIOBroadcasting {
    /// Adds rooms. Without rooms, the emit targets the whole namespace. A socket in several of the
    /// rooms receives the event once.
    public func to(_ rooms: String...) -> SocketIOBroadcast { self.to(rooms) }

    /// Adds rooms. An empty array changes nothing.
    public func to(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.with { $0.targets.rooms.formUnion(rooms) } }

    /// Adds rooms; an alias of `to`.
    public func `in`(_ rooms: String...) -> SocketIOBroadcast { self.to(rooms) }

    /// Adds rooms; an alias of `to`.
    public func `in`(_ rooms: [String]) -> SocketIOBroadcast { self.to(rooms) }

    /// Excludes the members of these rooms. A socket's id is the name of its own room.
    public func except(_ rooms: String...) -> SocketIOBroadcast { self.except(rooms) }

    /// Excludes the members of these rooms. A socket's id is the name of its own room.
    public func except(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.with { $0.targets.except.formUnion(rooms) } }

    /// Limits the emit to the sockets of this server.
    public var local: SocketIOBroadcast { self.broadcast.with { $0.flags.isLocal = true } }
}

// Flags.
extension SocketIOBroadcasting {
    /// Drops the event for a client that cannot receive it now.
    public var volatile: SocketIOBroadcast { self.broadcast.with { $0.flags.isVolatile = true } }

    /// Sets whether the transport may compress the event. Default: `true`. Pass `false` for data
    /// that is compressed already.
    public func compress(_ isCompressed: Bool) -> SocketIOBroadcast { self.broadcast.with { $0.flags.isCompressed = isCompressed } }

    /// Sets the time that `emitWithAck` waits for acks, and `fetchSockets` for other servers.
    /// Default: the configuration's `ackTimeout` and `clusterTimeout`.
    public func timeout(_ timeout: Duration) -> SocketIOBroadcast { self.broadcast.with { $0.flags.timeout = timeout } }
}

/// An emit to many sockets: the targets, the flags, and `emit`. An emit encodes the event once,
/// regardless of the number of recipients.
///
/// In a cluster, an emit reaches the sockets of every server, unless the broadcast is
/// ``SocketIOBroadcasting/local``.
public struct SocketIOBroadcast: SocketIOBroadcasting {
    let namespace: SocketIONamespace
    var targets: SocketIOTargets
    var flags = SocketIOEmitFlags()

    init(namespace: SocketIONamespace, targets: SocketIOTargets = .init()) {
        self.namespace = namespace
        self.targets = targets
    }

    /// This broadcast.
    public var broadcast: SocketIOBroadcast { self }

    func with(_ change: (inout SocketIOBroadcast) -> Void) -> SocketIOBroadcast {
        var copy = self
        change(&copy)
        return copy
    }

    /// The cluster; `nil` if there is no cluster or the broadcast is local.
    var cluster: SocketIOClusterNode? { self.flags.isLocal ? nil : self.namespace.cluster }

    func publish(_ content: @autoclosure () -> SocketIOClusterMessage.Content) {
        if let cluster = self.cluster { cluster.publish(content(), in: self.namespace.name) }
    }

    /// Registers the servers that a pending request waits for, including this one.
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
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    public func emit(_ event: String, arguments: [SocketIOValue]) { self.emit(event, payload: SocketIOPayload(arguments)) }

    /// Sends the event with received arguments, without decoding and encoding them again unless
    /// connection state recovery is enabled. A message to other servers contains decoded arguments.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - payload: The received arguments.
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
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do {
            self.emit(event, arguments: try SocketIOArguments.encode(repeat each arguments))
        } catch {
            self.broadcast.namespace.reportUnencodable(event, error)
        }
    }
}

// Broadcasts that request an ack from each client.
extension SocketIOBroadcasting {
    /// Sends the event to every recipient and waits until all of them have acknowledged it, or
    /// until the timeout has elapsed.
    ///
    /// The timeout is set with ``timeout(_:)``; the default is
    /// ``SocketIOServerConfiguration/ackTimeout``. It is one deadline for all recipients, and
    /// starts with this call on this server. In a cluster, the other servers do not extend it: an
    /// ack that they forward later is discarded. The timeout is not an error: the acks received so
    /// far are returned, with ``SocketIOResponses/end`` `timedOut`. No event is sent again.
    ///
    /// If a client of this server disconnects, its ack is no longer awaited. Other servers of a
    /// cluster do not report that a client has disconnected, so the wait then lasts until the
    /// timeout. Cancelling the task ends the wait.
    ///
    /// - Returns: The arguments of each ack, in order of arrival, and whether any ack is missing.
    /// - Throws: `SocketIOError` with `invalidUse` if the event cannot be encoded, or `bufferFull`
    ///   if ``SocketIOServerConfiguration/maximumPendingRequests`` is reached; `CancellationError`.
    public func emitWithAck(_ event: String, arguments: [SocketIOValue]) async throws -> SocketIOResponses<[SocketIOValue]> {
        let broadcast = self.broadcast
        let ending = CompletionHook()
        do {
            let outcome = try await broadcast.namespace.pendingRequests.request(timeout: broadcast.ackTimeout) { id in
                try broadcast.requestAcks(id, event, arguments, ending)
            }
            ending.end(outcome.ackEnd)
            return SocketIOResponses(values: outcome)
        } catch {
            ending.end(.cancelled)
            throw error
        }
    }

    /// Sends the event, waits as ``emitWithAck(_:arguments:)`` does, and decodes the first argument
    /// of each ack.
    ///
    /// - Throws: The errors of ``emitWithAck(_:arguments:)``, and `invalidPayload` with the
    ///   decoder's error as its cause if the first argument of an ack does not decode.
    public func emitWithAck<Answer: Decodable & Sendable, each Argument: Encodable & Sendable>(
        _ event: String, _ arguments: repeat each Argument, as type: Answer.Type
    ) async throws -> SocketIOResponses<Answer> {
        let answers = try await self.emitWithAck(event, arguments: try SocketIOArguments.encode(repeat each arguments))
        return try answers.map { try SocketIOArguments.decode(values: $0, as: type) }
    }

    /// Sends the event and calls `completion` once, on any thread, with the result of
    /// ``emitWithAck(_:arguments:)``.
    public func emitWithAck(
        _ event: String, arguments: [SocketIOValue],
        completion: @escaping @Sendable (Result<SocketIOResponses<[SocketIOValue]>, any Error>) -> Void
    ) {
        let broadcast = self.broadcast
        let ending = CompletionHook()
        let id = broadcast.namespace.pendingRequests.begin(timeout: broadcast.ackTimeout) { result in
            ending.end((try? result.get())?.ackEnd ?? .cancelled)
            completion(result.map { SocketIOResponses(values: $0) })
        }
        guard let id else { return }
        do { try broadcast.requestAcks(id, event, arguments, ending) } catch { broadcast.namespace.pendingRequests.fail(id, error) }
    }
}

extension SocketIOBroadcast {
    fileprivate var ackTimeout: Duration { self.flags.timeout ?? self.namespace.ackTimeout }

    /// Sends the event and requests the acks for a pending request.
    fileprivate func requestAcks(_ id: String, _ event: String, _ arguments: [SocketIOValue], _ ending: CompletionHook) throws {
        let (pendingRequests, node) = (self.namespace.pendingRequests, self.namespace.pendingRequests.node)
        let delivery = SocketIODelivery(event: event, arguments: .init(arguments), targets: self.targets, flags: self.flags)
        let (count, stop) = try self.namespace.deliverRequestingAcks(delivery) { values in
            pendingRequests.replied(id, from: node, values.map { .values($0) })
        }
        ending.set(stop)
        // Publish before this server reports: the pending request must not complete before the
        // other servers are registered.
        var flags = self.flags
        flags.timeout = self.ackTimeout
        self.publish(.broadcast(event: event, arguments: arguments, targets: self.targets, flags: flags, request: id))
        self.ask(id)
        pendingRequests.reported(id, from: node, announcing: count)
    }
}

extension PendingRequests.Outcome {
    /// The reason why the acks that are still pending on this server are no longer awaited. Without
    /// a timeout, none is pending.
    fileprivate var ackEnd: SocketIOAckEnd { self.hasTimedOut ? .timedOut : .disconnected }
}

extension SocketIOResponses<[SocketIOValue]> {
    init(values outcome: PendingRequests.Outcome) {
        let answers = outcome.replies.compactMap { reply -> [SocketIOValue]? in if case .values(let values) = reply { values } else { nil }
        }
        self.init(answers, expectedCount: outcome.announced, silentServers: outcome.silentServers, hasTimedOut: outcome.hasTimedOut)
    }
}

// Operations on several sockets, on every server of the cluster.
extension SocketIOBroadcasting {
    /// Returns the targeted sockets of every server of the cluster that responds within the
    /// timeout.
    ///
    /// - Returns: A snapshot of the sockets, and whether a server's response is missing.
    /// - Throws: `SocketIOError` with `bufferFull` if
    ///   ``SocketIOServerConfiguration/maximumPendingRequests`` is reached; `CancellationError`.
    public func fetchSockets() async throws -> SocketIOResponses<SocketIORemoteSocket> {
        let broadcast = self.broadcast
        let timeout = broadcast.flags.timeout ?? broadcast.namespace.clusterTimeout
        let outcome = try await broadcast.namespace.pendingRequests.request(timeout: timeout) {
            id in broadcast.requestSockets(id)
        }
        return SocketIOResponses(sockets: outcome, broadcast)
    }

    /// Fetches the sockets and calls `completion` once, on any thread.
    public func fetchSockets(completion: @escaping @Sendable (Result<SocketIOResponses<SocketIORemoteSocket>, any Error>) -> Void) {
        let broadcast = self.broadcast
        let timeout = broadcast.flags.timeout ?? broadcast.namespace.clusterTimeout
        let id = broadcast.namespace.pendingRequests.begin(timeout: timeout) { result in
            completion(result.map { SocketIOResponses(sockets: $0, broadcast) })
        }
        if let id { broadcast.requestSockets(id) }
    }

    /// Fetches the descriptions of the sockets. Passes an empty array to `completion` if
    /// ``SocketIOServerConfiguration/maximumPendingRequests`` is reached.
    func fetchDescriptions(completion: @escaping @Sendable ([SocketIOSocketDescription]) -> Void) {
        let broadcast = self.broadcast
        let timeout = broadcast.flags.timeout ?? broadcast.namespace.clusterTimeout
        let id = broadcast.namespace.pendingRequests.begin(timeout: timeout) { result in
            let replies = (try? result.get())?.replies ?? []
            completion(replies.compactMap { if case .socket(let description) = $0 { description } else { nil } })
        }
        if let id { broadcast.requestSockets(id) }
    }

    /// Makes the sockets join these rooms.
    public func socketsJoin(_ rooms: String...) { self.socketsJoin(rooms) }

    /// Makes the sockets join these rooms.
    public func socketsJoin(_ rooms: [String]) {
        let broadcast = self.broadcast
        broadcast.namespace.join(broadcast.namespace.sockets(in: broadcast.targets), rooms)
        broadcast.publish(.join(targets: broadcast.targets, rooms: rooms))
    }

    /// Makes the sockets leave these rooms.
    public func socketsLeave(_ rooms: String...) { self.socketsLeave(rooms) }

    /// Makes the sockets leave these rooms.
    public func socketsLeave(_ rooms: [String]) {
        let broadcast = self.broadcast
        broadcast.namespace.leave(broadcast.namespace.sockets(in: broadcast.targets), rooms)
        broadcast.publish(.leave(targets: broadcast.targets, rooms: rooms))
    }

    /// Disconnects the sockets from this namespace or, with `close`, closes their connections.
    public func disconnectSockets(close: Bool = false) {
        let broadcast = self.broadcast
        for socket in broadcast.namespace.sockets(in: broadcast.targets) { socket.disconnect(close: close) }
        broadcast.publish(.disconnect(targets: broadcast.targets, close: close))
    }
}

extension SocketIOBroadcast {
    func requestSockets(_ id: String) {
        let own = self.namespace.descriptions(of: self.targets)
        self.publish(.fetchSockets(targets: self.targets, request: id))
        self.ask(id)
        let requests = self.namespace.pendingRequests
        requests.reported(id, from: requests.node, announcing: own.count, own.map { .socket($0) })
    }
}

extension SocketIOResponses<SocketIORemoteSocket> {
    init(sockets outcome: PendingRequests.Outcome, _ broadcast: SocketIOBroadcast) {
        let sockets = outcome.replies.compactMap { reply -> SocketIORemoteSocket? in
            guard case .socket(let description) = reply else { return nil }
            return SocketIORemoteSocket(description, namespace: broadcast.namespace, isLocal: broadcast.flags.isLocal)
        }
        self.init(sockets, expectedCount: outcome.announced, silentServers: outcome.silentServers, hasTimedOut: outcome.hasTimedOut)
    }
}
