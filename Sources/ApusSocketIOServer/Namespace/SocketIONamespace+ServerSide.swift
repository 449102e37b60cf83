public import ApusJSON
public import ApusSocketIOProtocol

// Events between the servers of a cluster. No client sees them.
extension SocketIONamespace {
    /// Listens to an event that another server sends with ``serverSideEmit(_:arguments:)``.
    ///
    /// The handler runs on the thread that brings the event: it must not block. The ack, if the other server waits for one, is the handler's to
    /// send, at once or later.
    public func onServerSideEvent(_ event: String, _ handler: @escaping @Sendable (SocketIOServerSideEvent) -> Void) {
        self.addServerSideHandler(event, handler)
    }

    /// Sends an event to the other servers of the cluster, not to this one. Without a cluster it does nothing.
    public func serverSideEmit(_ event: String, arguments: [SocketIOValue]) {
        self.cluster?.publish(.serverSideEmit(event: event, arguments: arguments, request: nil), in: self.name)
    }

    /// Sends an event with these arguments to the other servers of the cluster. What cannot be encoded is logged and not sent.
    public func serverSideEmit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do {
            self.serverSideEmit(event, arguments: try SocketIOArguments.encode(repeat each arguments))
        } catch {
            self.reportUnencodable(event, error)
        }
    }

    /// Sends an event to the other servers of the cluster and waits for what the handler of each answers.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: Its arguments.
    ///   - timeout: How long to wait. Default: the configuration's `clusterTimeout`.
    /// - Returns: One value a server, in the order of their coming, and whether a server is missing. Without a cluster: none, and complete.
    /// - Throws: ``SocketIOError`` with `bufferFull` when too many such requests wait; `CancellationError`.
    public func serverSideEmitWithAck(
        _ event: String, arguments: [SocketIOValue], timeout: Duration? = nil
    ) async throws -> SocketIOResponses<SocketIOValue> {
        let outcome = try await self.pendingRequests.request(timeout: timeout ?? self.clusterTimeout) { id in
            self.askServers(id, event, arguments)
        }
        return SocketIOResponses(serverSide: outcome)
    }

    /// Sends an event to the other servers and calls `completion` once, on any thread, with what their handlers answered.
    public func serverSideEmitWithAck(
        _ event: String, arguments: [SocketIOValue], timeout: Duration? = nil,
        completion: @escaping @Sendable (Result<SocketIOResponses<SocketIOValue>, any Error>) -> Void
    ) {
        let id = self.pendingRequests.begin(timeout: timeout ?? self.clusterTimeout) { result in
            completion(result.map { SocketIOResponses(serverSide: $0) })
        }
        if let id { self.askServers(id, event, arguments) }
    }

    private func askServers(_ id: String, _ event: String, _ arguments: [SocketIOValue]) {
        guard let cluster = self.cluster else { return self.pendingRequests.asked(id, .count(0), andSelf: false) }
        cluster.publish(.serverSideEmit(event: event, arguments: arguments, request: id), in: self.name)
        cluster.ask(id, in: self.name, andSelf: false)
    }
}

extension SocketIOResponses<SocketIOValue> {
    init(serverSide outcome: PendingRequests.Outcome) {
        let answers = outcome.replies.compactMap { reply -> SocketIOValue? in if case .value(let value) = reply { value } else { nil } }
        // A silent server is one answer that was to come, too.
        self.init(answers, expectedCount: outcome.announced + outcome.silentServers, silentServers: outcome.silentServers)
    }
}
