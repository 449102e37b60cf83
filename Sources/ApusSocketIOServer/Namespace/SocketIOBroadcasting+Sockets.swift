import ApusSocketIOProtocol

// Operations on many sockets at once, on every server of the cluster.
extension SocketIOBroadcasting {
    /// Returns the targeted sockets of every server of the cluster that responds within the
    /// timeout.
    ///
    /// - Returns: A snapshot of the sockets, and whether a server's response is missing.
    /// - Throws: ``SocketIOError`` with `bufferFull` when too many such requests are pending;
    ///   `CancellationError`.
    public func fetchSockets() async throws -> SocketIOResponses<SocketIORemoteSocket> {
        let broadcast = self.broadcast
        let timeout = broadcast.flags.timeout ?? broadcast.namespace.clusterTimeout
        let outcome = try await broadcast.namespace.pendingRequests.request(timeout: timeout) {
            id in broadcast.requestSockets(id)
        }
        return SocketIOResponses(sockets: outcome, broadcast)
    }

    /// Fetches the sockets and calls `completion` once, on an event loop.
    public func fetchSockets(completion: @escaping @Sendable (Result<SocketIOResponses<SocketIORemoteSocket>, any Error>) -> Void) {
        let broadcast = self.broadcast
        let timeout = broadcast.flags.timeout ?? broadcast.namespace.clusterTimeout
        let id = broadcast.namespace.pendingRequests.begin(timeout: timeout) { result in
            completion(result.map { SocketIOResponses(sockets: $0, broadcast) })
        }
        if let id { broadcast.requestSockets(id) }
    }

    /// Fetches the descriptions of the sockets. Passes an empty array to `completion` when too many
    /// such requests are pending.
    func fetchDescriptions(completion: @escaping @Sendable ([SocketIOSocketDescription]) -> Void) {
        let broadcast = self.broadcast
        let timeout = broadcast.flags.timeout ?? broadcast.namespace.clusterTimeout
        let id = broadcast.namespace.pendingRequests.begin(timeout: timeout) { result in
            let replies = (try? result.get())?.replies ?? []
            completion(replies.compactMap { if case .socket(let description) = $0 { description } else { nil } })
        }
        if let id { broadcast.requestSockets(id) }
    }

    /// Makes the sockets enter these rooms.
    public func socketsJoin(_ rooms: String...) { self.socketsJoin(rooms) }

    /// Makes the sockets enter these rooms.
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
        self.init(sockets, expectedCount: outcome.announced, silentServers: outcome.silentServers)
    }
}
