import ApusEngineIOProtocol
import ApusSocketIOProtocol
import NIOCore

// Incoming events: catch-all listeners, then middleware, then the listeners of the event.
extension SocketIOServerSocket {
    /// - Parameter bytes: The size of the event on the wire.
    func received(_ name: consuming String, _ arguments: consuming SocketIOPayload, ackID: Int?, bytes: Int) {
        if ackID != nil { self.owedAcks += 1 }
        let event = SocketIOEvent(name: name, payload: arguments, ack: ackID.map { SocketIOAck(socket: self, id: $0) }, bytes: bytes)
        if self.listeners.hasCatchAllListeners {
            for entry in self.listeners.any { self.run(entry.handler, event) }
            let middleware = self.listeners.middleware
            guard middleware.isEmpty else { return self.check(event, middleware[...]) }
        }
        self.dispatch(event)
    }

    private func dispatch(_ event: SocketIOEvent) {
        guard case .open = self.state else { return }  // the client left during an asynchronous check
        guard let entries = self.listeners.take(event.name) else { return }
        switch entries {
        case .one(let entry): self.run(entry.handler, event)
        case .many(let entries): for entry in entries { self.run(entry.handler, event) }
        }
    }

    /// Runs the middleware in order, and then the listeners.
    private func check(_ event: SocketIOEvent, _ middleware: ArraySlice<SocketIOHandler>) {
        var rest = middleware
        while let check = rest.popFirst() {
            switch check {
            case .synchronous(let body):
                do { try body(event) } catch { return self.report(error, event) }
            case .asynchronous(let body):
                let remaining = rest
                let event = event.detached  // stored until the check runs
                // The queue keeps the events in order: the next event is checked when this one has
                // passed.
                return self.enqueue(event.bytes) {
                    do {
                        try await body(event)
                        try? await self.eventLoop.submit { self.check(event, remaining) }.get()
                    } catch {
                        self.report(error, event)
                    }
                }
            }
        }
        self.dispatch(event)
    }

    private func run(_ handler: SocketIOHandler, _ event: SocketIOEvent) {
        switch handler {
        case .synchronous(let body):
            do { try body(event) } catch { self.report(error, event) }
        case .asynchronous(let body):
            let event = event.detached  // stored until the handler runs
            self.enqueue(event.bytes) {
                do { try await body(event) } catch { self.report(error, event) }
            }
        }
    }

    private func enqueue(_ bytes: Int, _ work: @escaping @Sendable () async -> Void) {
        self.eventLoop.assertInEventLoop()
        guard case .open = self.state, let connection = self.connection else { return }
        let queue =
            self.asyncQueue
            ?? SocketIOHandlerQueue(maximumWaiting: self.limits.maximumWaitingEvents, waitingBytes: connection.waitingEvents)
        self.asyncQueue = queue
        let bound: String
        switch queue.enqueue(bytes: bytes, work) {
        case .taken: return
        case .tooMany: bound = "\(self.limits.maximumWaitingEvents) events"
        case .tooLarge: bound = "\(connection.waitingEvents.maximum) bytes of events"
        }
        // Handlers this far behind rarely catch up. No DISCONNECT packet is sent: the client may
        // reconnect.
        connection.close(.forcedClose, detail: "more than \(bound) wait for their handlers")
    }

    private func report(_ error: any Error, _ event: SocketIOEvent) {
        if let hook = self.limits.onHandlerError { return hook(error, event, self) }
        self.namespace.reportHandlerError(error, event)
    }
}
