public import ApusSocketIOProtocol

/// Identifies a listener, for ``SocketIOClient/off(_:)-(SocketIOClientListener)``.
public struct SocketIOClientListener: Hashable, Sendable {
    let id: Int
}

/// A listener that receives the arguments as values, and the ack.
public typealias SocketIOClientHandler = @Sendable (_ data: [SocketIOValue], _ ack: SocketIOClientAck) -> Void

/// A stored listener, which decodes the arguments it needs.
typealias SocketIOClientPayloadHandler = @Sendable (_ arguments: SocketIOPayload, _ ack: SocketIOClientAck) -> Void

/// A listener for all events.
public typealias SocketIOClientAnyHandler = @Sendable (_ event: String, _ data: [SocketIOValue]) -> Void

/// The listeners of a socket. They run in the order in which they were added.
struct SocketIOClientListeners {
    struct Entry<Handler: Sendable>: Sendable {
        var id: Int
        var handler: Handler
        var isOnce = false
        /// Whether this is a stream of the library, which is called on the event loop regardless of
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

    private var events = SocketIONameTable<[Entry<SocketIOClientPayloadHandler>]>()
    private(set) var any: [Entry<SocketIOClientAnyHandler>] = []
    private(set) var anyOutgoing: [Entry<SocketIOClientAnyHandler>] = []
    private var lifecycle: [LifecycleEntry] = []

    mutating func add(_ entry: Entry<SocketIOClientPayloadHandler>, for event: String) {
        self.events[event] = (self.events[event] ?? []) + [entry]
    }

    mutating func addAny(_ entry: Entry<SocketIOClientAnyHandler>, first: Bool) {
        self.any.insert(entry, at: first ? 0 : self.any.count)
    }

    mutating func addAnyOutgoing(_ entry: Entry<SocketIOClientAnyHandler>, first: Bool) {
        self.anyOutgoing.insert(entry, at: first ? 0 : self.anyOutgoing.count)
    }

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
        for event in self.events.names {
            guard let entries = self.events[event], entries.contains(where: { $0.id == id }) else { continue }
            self.events[event] = entries.count == 1 ? nil : entries.filter { $0.id != id }
        }
        self.any.removeAll { $0.id == id }
        self.anyOutgoing.removeAll { $0.id == id }
        self.lifecycle.removeAll { $0.id == id }
    }

    /// Returns the ids of the removed listeners.
    mutating func removeAll(for event: String) -> [Int] {
        defer { self.events[event] = nil }
        return self.events[event]?.map(\.id) ?? []
    }

    /// Removes all but the lifecycle streams, which belong to the library. Returns the ids of the
    /// removed listeners.
    mutating func removeAll() -> [Int] {
        let ids = self.events.names.flatMap { self.events[$0]?.map(\.id) ?? [] }
        self.events = SocketIONameTable()
        self.any = []
        self.anyOutgoing = []
        self.lifecycle.removeAll { !$0.isInline }
        return ids
    }

    /// Returns the listeners to call for an event, and removes those of `once`.
    mutating func take(for event: String) -> [Entry<SocketIOClientPayloadHandler>] {
        guard let entries = self.events[event] else { return [] }
        if entries.contains(where: \.isOnce) {
            let rest = entries.filter { !$0.isOnce }
            self.events[event] = rest.isEmpty ? nil : rest
        }
        return entries
    }
}
