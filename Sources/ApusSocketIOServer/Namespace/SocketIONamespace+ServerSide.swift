public import ApusJSON
public import ApusSocketIOProtocol

// Events between the servers of a cluster. Clients do not receive them.
extension SocketIONamespace {
    /// Listens to an event that another server or a ``SocketIOClusterEmitter`` sends with
    /// ``serverSideEmit(_:arguments:)``.
    ///
    /// The handler runs on the thread that delivers the event and must not block. If the other
    /// server requested an ack, the handler must send it, immediately or later.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - handler: The closure to call with each event of this name.
    public func onServerSideEvent(_ event: String, _ handler: @escaping @Sendable (SocketIOServerSideEvent) -> Void) {
        self.addServerSideHandler(event, handler)
    }

    /// Sends an event to the other servers of the cluster, excluding this one. Does nothing without
    /// a cluster.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    public func serverSideEmit(_ event: String, arguments: [SocketIOValue]) {
        self.cluster?.publish(.serverSideEmit(event: event, arguments: arguments, request: nil), in: self.name)
    }

    /// Sends an event with these arguments to the other servers of the cluster. An event that
    /// cannot be encoded is logged and not sent.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    public func serverSideEmit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do {
            self.serverSideEmit(event, arguments: try SocketIOArguments.encode(repeat each arguments))
        } catch {
            self.reportUnencodable(event, error)
        }
    }

    /// Sends an event to the other servers of the cluster and waits for the ack of each server's
    /// handler.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    ///   - timeout: The time to wait for all servers, from this call. Default: the configured
    ///     `clusterTimeout`.
    /// - Returns: One value per server, in order of arrival, and whether a server's ack is missing.
    ///   Without a cluster, a complete result without values.
    /// - Throws: `SocketIOError` with `bufferFull` if
    ///   ``SocketIOServerConfiguration/maximumPendingRequests`` is reached; `CancellationError`.
    public func serverSideEmitWithAck(
        _ event: String, arguments: [SocketIOValue], timeout: Duration? = nil
    ) async throws -> SocketIOResponses<SocketIOValue> {
        let outcome = try await self.pendingRequests.request(timeout: timeout ?? self.clusterTimeout) { id in
            self.requestAnswers(id, event, arguments)
        }
        return SocketIOResponses(serverSide: outcome)
    }

    /// Sends an event to the other servers and calls `completion` once, on any thread, with the
    /// result or an error of ``serverSideEmitWithAck(_:arguments:timeout:)``.
    public func serverSideEmitWithAck(
        _ event: String, arguments: [SocketIOValue], timeout: Duration? = nil,
        completion: @escaping @Sendable (Result<SocketIOResponses<SocketIOValue>, any Error>) -> Void
    ) {
        let id = self.pendingRequests.begin(timeout: timeout ?? self.clusterTimeout) { result in
            completion(result.map { SocketIOResponses(serverSide: $0) })
        }
        if let id { self.requestAnswers(id, event, arguments) }
    }

    private func requestAnswers(_ id: String, _ event: String, _ arguments: [SocketIOValue]) {
        guard let cluster = self.cluster else { return self.pendingRequests.asked(id, .count(0), andSelf: false) }
        cluster.publish(.serverSideEmit(event: event, arguments: arguments, request: id), in: self.name)
        cluster.ask(id, in: self.name, andSelf: false)
    }
}

extension SocketIOResponses<SocketIOValue> {
    init(serverSide outcome: PendingRequests.Outcome) {
        let answers = outcome.replies.compactMap { reply -> SocketIOValue? in if case .value(let value) = reply { value } else { nil } }
        // A server that did not respond counts as one missing ack.
        self.init(
            answers, expectedCount: outcome.announced + outcome.silentServers, silentServers: outcome.silentServers,
            hasTimedOut: outcome.hasTimedOut)
    }
}
