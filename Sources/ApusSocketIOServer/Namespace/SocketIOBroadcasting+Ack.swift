public import ApusJSON
public import ApusSocketIOProtocol

// Broadcasts that request an ack from each client.
extension SocketIOBroadcasting {
    /// Sends the event and waits until every client has acknowledged it or the timeout has passed.
    /// After the timeout it returns the acks received so far.
    ///
    /// It does not wait for clients that have disconnected, as far as their server reports it.
    /// Cancelling the task ends the wait.
    ///
    /// The timeout is that of ``timeout(_:)``, otherwise the configuration's `ackTimeout`.
    ///
    /// - Returns: The arguments of each ack, in order of arrival, and whether any ack is missing.
    /// - Throws: ``SocketIOError`` with `invalidArguments`, or with `bufferFull` when too many such
    ///   requests are pending; `CancellationError`.
    public func emitWithAck(_ event: String, arguments: [SocketIOValue]) async throws -> SocketIOResponses<[SocketIOValue]> {
        let broadcast = self.broadcast
        let ending = CompletionHook()
        defer { ending.end() }
        let outcome = try await broadcast.namespace.pendingRequests.request(timeout: broadcast.ackTimeout) { id in
            try broadcast.requestAcks(id, event, arguments, ending)
        }
        return SocketIOResponses(values: outcome)
    }

    /// Sends the event, waits as ``emitWithAck(_:arguments:)`` does, and decodes the first argument
    /// of each ack.
    ///
    /// - Throws: The errors of ``emitWithAck(_:arguments:)``, and the decoder's error for an answer
    ///   of another type.
    public func emitWithAck<Answer: Decodable & Sendable, each Argument: Encodable & Sendable>(
        _ event: String, _ arguments: repeat each Argument, as type: Answer.Type
    ) async throws -> SocketIOResponses<Answer> {
        let answers = try await self.emitWithAck(event, arguments: try SocketIOArguments.encode(repeat each arguments))
        return try answers.map { try SocketIOArguments.decode(values: $0, as: type) }
    }

    /// Sends the event and calls `completion` once, on an event loop, when every client has
    /// acknowledged it or the timeout has passed.
    public func emitWithAck(
        _ event: String, arguments: [SocketIOValue],
        completion: @escaping @Sendable (Result<SocketIOResponses<[SocketIOValue]>, any Error>) -> Void
    ) {
        let broadcast = self.broadcast
        let ending = CompletionHook()
        let id = broadcast.namespace.pendingRequests.begin(timeout: broadcast.ackTimeout) { result in
            ending.end()
            completion(result.map { SocketIOResponses(values: $0) })
        }
        guard let id else { return }
        do { try broadcast.requestAcks(id, event, arguments, ending) } catch { broadcast.namespace.pendingRequests.fail(id, error) }
    }
}

extension SocketIOBroadcast {
    fileprivate var ackTimeout: Duration { self.flags.timeout ?? self.namespace.ackTimeout }

    /// Sends the event as part of a pending request.
    fileprivate func requestAcks(_ id: String, _ event: String, _ arguments: [SocketIOValue], _ ending: CompletionHook) throws {
        let (pendingRequests, node) = (self.namespace.pendingRequests, self.namespace.pendingRequests.node)
        let delivery = SocketIODelivery(event: event, arguments: .init(arguments), targets: self.targets, flags: self.flags)
        let (count, stop) = try self.namespace.deliverRequestingAcks(delivery) { values in
            pendingRequests.replied(id, from: node, values.map { .values($0) })
        }
        ending.set(stop)
        // Before this server's own report: the request cannot complete until the other servers are
        // known.
        var flags = self.flags
        flags.timeout = self.ackTimeout
        self.publish(.broadcast(event: event, arguments: arguments, targets: self.targets, flags: flags, request: id))
        self.ask(id)
        pendingRequests.reported(id, from: node, announcing: count)
    }
}

extension SocketIOResponses<[SocketIOValue]> {
    init(values outcome: PendingRequests.Outcome) {
        let answers = outcome.replies.compactMap { reply -> [SocketIOValue]? in if case .values(let values) = reply { values } else { nil }
        }
        self.init(answers, expectedCount: outcome.announced, silentServers: outcome.silentServers)
    }
}
