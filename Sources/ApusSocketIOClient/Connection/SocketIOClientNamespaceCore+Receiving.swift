import ApusEngineIOProtocol
import ApusEventLoop
import ApusSocketIOProtocol
import NIOConcurrencyHelpers

// Received packets, and calls to the listeners.
extension SocketIOClientNamespaceCore {
    /// Handles a packet, with its size on the wire in bytes.
    func receivedPacket(_ content: SocketIOPacket.Content, bytes: Int) {
        switch self.hot.machine.receivedPacket(content, bytes: bytes) {
        case .connected(let id, let early, let isRecovered): self.connected(id: id, early: early, isRecovered: isRecovered)
        case .refused(let error): self.refused(error)
        case .deliver(let event): self.deliver(event, bytes: bytes)
        case .resolveAck(let id, let arguments): self.receivedAck(id, arguments)
        case .disconnected: self.left(.serverDisconnect, wasConnected: true)
        case .serverIsVersion4: self.manager?.serverIsVersion4()
        case .fail(let error): self.manager?.fail(EngineIOError(.malformedPacket, message: error.message, cause: error))
        case .doNothing: break
        }
    }

    func deliver(_ event: SocketIOClientNamespace.Event, bytes: Int = 0) {
        let any = self.hot.handlers.events.any
        let named = self.hot.handlers.events.take(event.name)
        guard !any.isEmpty || named != nil else { return }
        let ack: SocketIOClientAck
        if let ackID = event.ackID, let session = self.hot.machine.id {
            let reference = self.reference
            ack = SocketIOClientAck { arguments in reference.onLoop { $0.acknowledge(ackID, arguments, session: session) } }
        } else {
            ack = .none
        }
        guard let callbacks = self.callbacks else {
            for entry in any { entry.handler(event.name, event.arguments.arguments) }
            named?.forEach { $0.body(event.arguments, ack) }
            return
        }
        named?.forEach { if $0.isInline { $0.body(event.arguments, ack) } }
        guard !any.isEmpty || named?.contains(where: { !$0.isInline }) == true else { return }
        let arguments = event.arguments.detached  // they may be queued
        let isAccepted = callbacks.post(isBounded: true, bytes: bytes) {
            for entry in any { entry.handler(event.name, arguments.arguments) }
            named?.forEach { if !$0.isInline { $0.body(arguments, ack) } }
        }
        guard !isAccepted else { return }
        self.report(
            .error(
                SocketIOError(
                    .bufferFull,
                    message:
                        "the event \"\(event.name)\" was dropped: the queue for `callbacks` is full (`maximumPendingCallbacks`, `maximumPendingCallbackBytes`)"
                )))
    }

    /// Calls the application's code in the configured context.
    func call(isBounded: Bool, _ body: @escaping @Sendable () -> Void) {
        if let callbacks = self.callbacks { callbacks.post(isBounded: isBounded, body) } else { body() }
    }

    func report(_ event: SocketIOClientLifecycleEvent) {
        for entry in self.hot.handlers.lifecycle(event.kind) {
            if let callbacks = self.callbacks, !entry.isInline {
                callbacks.post(isBounded: event.isFrequent) { entry.handler(event) }
            } else {
                entry.handler(event)
            }
        }
    }

    func setState(_ state: SocketIOClientState, id: String? = nil, isRecovered: Bool = false) {
        let changed = self.status.withLockedValue { status in
            defer { status = Status(state: state, id: id, isRecovered: isRecovered) }
            return status.state != state
        }
        guard changed else { return }
        for continuation in self.stateStreams.values { continuation.yield(state) }
        self.report(.statusChange(state))
    }

    func addStateStream(_ continuation: EventStream<SocketIOClientState>.Continuation, id: Int) {
        self.stateStreams[id] = continuation
        continuation.yield(self.status.withLockedValue { $0.state })
    }

    func removeStateStream(id: Int) {
        self.stateStreams[id] = nil
    }
}
