public import ApusSocketIOProtocol

/// Identifies a listener, for ``SocketIOClient/off(_:)-(SocketIOClientListener)``.
public struct SocketIOClientListener: Hashable, Sendable {
    let id: Int
}

/// A listener that receives the arguments as values, and the ack.
public typealias SocketIOClientHandler = @Sendable (_ data: [SocketIOValue], _ ack: SocketIOClientAck) -> Void

/// A stored listener, which decodes the arguments that it needs.
typealias SocketIOClientPayloadHandler = @Sendable (_ arguments: SocketIOPayload, _ ack: SocketIOClientAck) -> Void

/// A listener for all events.
public typealias SocketIOClientAnyHandler = @Sendable (_ event: String, _ data: [SocketIOValue]) -> Void

/// The listeners of a socket. They run in the order in which they were added.
struct SocketIOClientListeners {
    struct Handler: Sendable {
        var body: SocketIOClientPayloadHandler
        /// Whether the listener feeds a stream. It is then called on the event loop regardless of
        /// ``SocketIOManagerConfiguration/callbacks``.
        var isInline = false
    }

    struct LifecycleEntry: Sendable {
        var id: Int
        /// The kind of event, or `nil` for all kinds.
        var kind: SocketIOClientLifecycleEvent.Kind?
        var handler: @Sendable (SocketIOClientLifecycleEvent) -> Void
        var isInline = false
    }

    /// The listeners to events.
    var events = SocketIOListenerTable<Handler, SocketIOClientAnyHandler>()
    private var lifecycle: [LifecycleEntry] = []

    mutating func addLifecycle(_ entry: LifecycleEntry) {
        self.lifecycle.append(entry)
    }

    mutating func removeLifecycle(_ kind: SocketIOClientLifecycleEvent.Kind) {
        self.lifecycle.removeAll { $0.kind == kind }
    }

    func lifecycle(_ kind: SocketIOClientLifecycleEvent.Kind) -> [LifecycleEntry] {
        self.lifecycle.filter { $0.kind == nil || $0.kind == kind }
    }

    mutating func remove(id: Int) {
        self.events.remove(id: id)
        self.lifecycle.removeAll { $0.id == id }
    }

    /// Removes all listeners except those that feed lifecycle streams. Returns the ids of the
    /// removed listeners to events.
    mutating func removeAll() -> [Int] {
        self.lifecycle.removeAll { !$0.isInline }
        return self.events.removeAll()
    }
}
