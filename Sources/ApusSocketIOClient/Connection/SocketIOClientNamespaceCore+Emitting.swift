import ApusEngineIOProtocol
import ApusEventLoop
import ApusSocketIOProtocol
import NIOCore

// Sending events, and the pending acks.
extension SocketIOClientNamespaceCore {
    typealias AckCompletion = (Result<[SocketIOValue], any Error>) -> Void

    /// A caller that awaits a server's ack.
    struct PendingServerAck {
        var completion: AckCompletion
        var event: String
        /// The timeout of the wait; `nil` for an event that is retried, since each try has its own
        /// timeout.
        var timeout: Duration?
        /// Whether the event was sent. A buffered event survives the loss of a connection.
        var wasSent: Bool
    }

    /// Returns the id of a packet, never reused, so that a late ack cannot end another wait.
    private func takeAckID() -> Int {
        defer { self.nextAckID += 1 }
        return self.nextAckID
    }

    func emit(_ event: String, _ arguments: [SocketIOValue], _ flags: SocketIOClientEmitFlags) {
        if flags.isVolatile {
            guard self.canSendAtOnce else { return }
        } else if self.retries != nil {
            return self.enqueue(event, arguments, flags, ackID: self.takeAckID(), isAwaited: false)
        }
        do throws(SocketIOError) {
            self.dispatch(try self.encode(event, arguments, ackID: nil), ackID: nil, isCompressed: flags.isCompressed)
        } catch {
            self.report(.error(error))
        }
    }

    /// Emits an event with an ack. The completion runs exactly once. Returns the ack's id for
    /// ``endAck(_:_:)``, or `nil` if the event has failed before it had an id.
    func emit(
        _ event: String, _ arguments: [SocketIOValue], _ flags: SocketIOClientEmitFlags, completion: @escaping AckCompletion
    ) -> Int? {
        if flags.isVolatile, !self.canSendAtOnce {
            completion(
                .failure(
                    SocketIOError(
                        .notConnected, message: "the volatile event \"\(event)\" was dropped: the connection cannot send it immediately")))
            return nil
        }
        let isRepeated = self.retries != nil && !flags.isVolatile
        let timeout = flags.timeout ?? self.configuration.ackTimeout
        guard self.acks.count < self.configuration.maximumPendingAcks else {
            completion(
                .failure(
                    SocketIOError(
                        .bufferFull,
                        message:
                            "the namespace \(self.name) has reached the maximum of \(self.acks.count) pending acks (`maximumPendingAcks`)"))
            )
            return nil
        }
        let id = self.takeAckID()
        // An event that is retried outlives the connection over which it was sent, so it does not
        // count as sent.
        let pending = PendingServerAck(
            completion: completion, event: event, timeout: isRepeated ? nil : timeout,
            wasSent: self.hot.machine.isConnected && !isRepeated)
        self.acks.add(pending, id: id, endingIn: pending.timeout)
        if isRepeated {
            self.enqueue(event, arguments, flags, ackID: id, isAwaited: true)
            return id
        }
        do throws(SocketIOError) {
            self.dispatch(try self.encode(event, arguments, ackID: id), ackID: id, isCompressed: flags.isCompressed)
        } catch {
            self.endAck(id, error)
        }
        return id
    }

    private var canSendAtOnce: Bool { self.hot.machine.isConnected && self.manager?.isWritable == true }

    private func encode(_ content: SocketIOPacket.Content) throws(SocketIOError) -> [EngineIOMessage] {
        try self.configuration.parser.encode(SocketIOPacket(namespace: self.name, content: content))
    }

    /// Encodes an event, and calls the listeners for outgoing events.
    private func encode(_ event: String, _ arguments: [SocketIOValue], ackID: Int?) throws(SocketIOError) -> [EngineIOMessage] {
        let content = SocketIOPacket.Content.event(name: event, arguments: SocketIOPayload(arguments), ackID: ackID)
        let packet = try self.encode(content)
        let listeners = self.hot.handlers.events.outgoing
        if !listeners.isEmpty {
            self.call(isBounded: true) { for listener in listeners { listener.handler(event, arguments) } }
        }
        return packet
    }

    private func dispatch(_ packet: [EngineIOMessage], ackID: Int?, isCompressed: Bool) {
        guard !self.hot.machine.isConnected else {
            if self.manager?.send(packet, isCompressed: isCompressed) != true { self.sendFailed(.queue, ackID: ackID) }
            return
        }
        switch self.buffer.append(SocketIOClientBuffer.Item(packet: packet, ackID: ackID)) {
        case .kept(let dropped): for item in dropped { self.sendFailed(.buffer, ackID: item.ackID) }
        case .refused: self.sendFailed(.buffer, ackID: ackID)
        }
    }

    private enum FullStore {
        /// The bytes that the connection has not written.
        case queue
        /// The events that wait for a connection or for their retry.
        case buffer
    }

    private func sendFailed(_ full: FullStore, ackID: Int?) {
        let reason =
            switch full {
            case .queue: "the outgoing queue is full (`maximumQueuedBytes`)"
            case .buffer: "the buffer for events is full (`maximumBufferedEvents`, `maximumBufferedBytes`)"
            }
        let error = SocketIOError(.bufferFull, message: "an event of the namespace \(self.name) was not sent: \(reason)")
        if let ackID { self.endAck(ackID, error) } else { self.report(.error(error)) }
    }

    /// Sends the buffered events after the namespace was joined.
    func sendWaiting() {
        for item in self.buffer.takeAll() {
            guard self.hot.machine.isConnected else {
                // A listener disconnected the namespace after a failure. Awaited events have
                // failed; keep the others for the next connection.
                if item.ackID == nil { _ = self.buffer.append(item) }
                continue
            }
            if let ackID = item.ackID { self.acks.update(ackID) { $0.wasSent = true } }
            if self.manager?.send(item.packet) != true { self.sendFailed(.queue, ackID: item.ackID) }
        }
        guard self.hot.machine.isConnected else { return }
        self.retries?.connected()
        self.sendNext()
    }

    // MARK: - Acks

    /// Sends an ack.
    func acknowledge(_ id: Int, _ arguments: [SocketIOValue], session: String) {
        guard self.hot.machine.id == session else { return }
        do throws(SocketIOError) {
            let content = SocketIOPacket.Content.ack(id: id, arguments: SocketIOPayload(arguments))
            let packet = try self.encode(content)
            if self.manager?.send(packet) != true { self.sendFailed(.queue, ackID: nil) }
        } catch {
            self.report(.error(error))
        }
    }

    /// Handles an ack from the server.
    func receivedAck(_ id: Int, _ arguments: [SocketIOValue]) {
        self.settle(id)
        guard let pending = self.acks.take(id) else { return }  // late, duplicate or unexpected
        pending.completion(.success(arguments))
    }

    /// Fails an ack at its deadline. Not called for events that are retried.
    func ackTimedOut(_ id: Int, _ pending: PendingServerAck) {
        self.buffer.remove(ackID: id)
        let timeout = pending.timeout.map { " within \($0)" } ?? ""
        pending.completion(.failure(SocketIOError(.ackTimeout, message: "the server did not acknowledge \"\(pending.event)\"\(timeout)")))
    }

    /// Fails a pending ack, and removes its event if the event is still buffered.
    func endAck(_ id: Int, _ error: any Error) {
        self.buffer.remove(ackID: id)
        self.settle(id)
        guard let pending = self.acks.take(id) else { return }
        pending.completion(.failure(error))
    }

    func fail(_ acks: [PendingServerAck], _ error: SocketIOError) {
        for ack in acks { ack.completion(.failure(error)) }
    }

    /// Fails all pending acks after the namespace was left.
    func failAll(_ error: SocketIOError) {
        self.retryTimer?.cancel()
        self.retries?.left()
        // Keep events without an ack for the next connection. Events reported as failed must not be
        // sent.
        for item in self.buffer.takeAll() where item.ackID == nil { _ = self.buffer.append(item) }
        self.fail(self.acks.takeAll(), error)
    }

    // MARK: - Events with retries

    private func enqueue(_ event: String, _ arguments: [SocketIOValue], _ flags: SocketIOClientEmitFlags, ackID: Int, isAwaited: Bool) {
        do throws(SocketIOError) {
            let packet = try self.encode(event, arguments, ackID: ackID)
            let item = SocketIORetryQueue.Item(
                ackID: ackID, packet: packet, bytes: packet.reduce(0) { $0 + $1.readableBytes },
                timeout: flags.timeout ?? self.configuration.ackTimeout,
                isAwaited: isAwaited)
            guard self.retries?.append(item) == true else { return self.sendFailed(.buffer, ackID: isAwaited ? ackID : nil) }
            self.sendNext()
        } catch {
            if isAwaited { self.endAck(ackID, error) } else { self.report(.error(error)) }
        }
    }

    private func sendNext() {
        guard let item = self.retries?.next() else { return }
        self.retryTimer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(item.timeout)) { [weak self] in
            guard let self, let action = self.retries?.tryTimedOut(ackID: item.ackID) else { return }
            self.tryFailed(action, SocketIOError(.ackTimeout, message: "the server did not acknowledge the event within \(item.timeout)"))
            self.sendNext()
        }
        // If the send queue is full, this try is lost and the timer starts the next one.
        _ = self.manager?.send(item.packet)
    }

    /// Counts the outstanding try as failed after the connection was lost.
    func tryWasLost(_ error: SocketIOError) {
        self.retryTimer?.cancel()
        guard let action = self.retries?.disconnected() else { return }
        self.tryFailed(action, error)
    }

    private func tryFailed(_ action: SocketIORetryQueue<[EngineIOMessage]>.FailureAction, _ error: SocketIOError) {
        guard case .giveUp(let id) = action else { return }
        let error = SocketIOError(
            error.code, message: "the event failed after \(1 + self.configuration.retries) tries: \(error.message)", cause: error.cause)
        guard let pending = self.acks.take(id) else { return self.report(.error(error)) }
        pending.completion(.failure(error))
    }

    /// Ends the retries of an event.
    private func settle(_ id: Int) {
        guard self.retries?.remove(ackID: id) == true else { return }
        self.retryTimer?.cancel()
        self.sendNext()
    }
}
