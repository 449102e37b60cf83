public import ApusSocketIOProtocol

/// Identifies a listener, for ``SocketIOClient/off(_:)-(SocketListener)``.
public struct SocketListener: Hashable, Sendable {
    let id: Int
}

/// A listener that receives the arguments as values, and the ack.
public typealias SocketEventHandler = @Sendable (_ data: [SocketIOValue], _ ack: SocketAck) -> Void

/// A stored listener, which decodes the arguments it needs.
typealias SocketPayloadHandler = @Sendable (_ arguments: SocketIOPayload, _ ack: SocketAck) -> Void

/// A listener for all events.
public typealias SocketAnyEventHandler = @Sendable (_ event: String, _ data: [SocketIOValue]) -> Void

/// The listeners of a socket. They run in the order in which they were added.
struct SocketHandlers {
    struct Entry<Handler: Sendable>: Sendable {
        var id: Int
        var handler: Handler
        var isOnce = false
        /// Whether this is a stream of the library, which is called on the event loop regardless of
        /// ``SocketManagerConfiguration/callbacks``.
        var isInline = false
    }

    struct LifecycleEntry: Sendable {
        var id: Int
        /// The kind of event, or nil for all kinds.
        var kind: SocketLifecycleEvent.Kind?
        var handler: @Sendable (SocketLifecycleEvent) -> Void
        var isInline = false
    }

    private var events = SocketIONameTable<[Entry<SocketPayloadHandler>]>()
    private(set) var any: [Entry<SocketAnyEventHandler>] = []
    private(set) var anyOutgoing: [Entry<SocketAnyEventHandler>] = []
    private var lifecycle: [LifecycleEntry] = []

    mutating func add(_ entry: Entry<SocketPayloadHandler>, for event: String) {
        self.events[event] = (self.events[event] ?? []) + [entry]
    }

    mutating func addAny(_ entry: Entry<SocketAnyEventHandler>, first: Bool) {
        self.any.insert(entry, at: first ? 0 : self.any.count)
    }

    mutating func addAnyOutgoing(_ entry: Entry<SocketAnyEventHandler>, first: Bool) {
        self.anyOutgoing.insert(entry, at: first ? 0 : self.anyOutgoing.count)
    }

    mutating func addLifecycle(_ entry: LifecycleEntry) {
        self.lifecycle.append(entry)
    }

    mutating func removeLifecycle(_ kind: SocketLifecycleEvent.Kind) {
        self.lifecycle.removeAll { $0.kind == kind }
    }

    func lifecycle(_ kind: SocketLifecycleEvent.Kind) -> [LifecycleEntry] {
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
    mutating func take(for event: String) -> [Entry<SocketPayloadHandler>] {
        guard let entries = self.events[event] else { return [] }
        if entries.contains(where: \.isOnce) {
            let rest = entries.filter { !$0.isOnce }
            self.events[event] = rest.isEmpty ? nil : rest
        }
        return entries
    }
}
