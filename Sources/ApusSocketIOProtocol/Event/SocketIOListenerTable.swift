public import ApusJSON

/// A listener to events that are sent.
@usableFromInline
package typealias SocketIOOutgoingListener = @Sendable (_ event: String, _ arguments: [SocketIOValue]) -> Void

/// The listeners of one socket of a client or server. They run in the order of their lists.
///
/// `Handler` handles events of one name, `AnyHandler` all events. Inlinable, as
/// ``SocketIONameTable``.
@usableFromInline
package struct SocketIOListenerTable<Handler, AnyHandler> {
    @usableFromInline
    package struct Entry<Value> {
        /// The id of the listener, unique in the process.
        @usableFromInline package let id: Int
        @usableFromInline package let handler: Value

        @inlinable init(id: Int, handler: Value) {
            self.id = id
            self.handler = handler
        }
    }

    /// The listeners of one event. The usual case of one listener needs no allocation.
    @usableFromInline
    package enum Entries {
        case one(Entry<Handler>)
        case many([Entry<Handler>])

        /// Returns `nil` for an empty array.
        @inlinable init?(_ entries: [Entry<Handler>]) {
            guard let first = entries.first else { return nil }
            self = entries.count == 1 ? .one(first) : .many(entries)
        }

        @inlinable var all: [Entry<Handler>] {
            switch self {
            case .one(let entry): [entry]
            case .many(let entries): entries
            }
        }

        @inlinable package func forEach(_ body: (Handler) -> Void) {
            switch self {
            case .one(let entry): body(entry.handler)
            case .many(let entries): for entry in entries { body(entry.handler) }
            }
        }

        @inlinable package func contains(where predicate: (Handler) -> Bool) -> Bool {
            switch self {
            case .one(let entry): predicate(entry.handler)
            case .many(let entries): entries.contains { predicate($0.handler) }
            }
        }
    }

    @usableFromInline var byEvent = SocketIONameTable<Entries>()
    /// The listeners to remove after one event. If the set is empty, `take(_:)` removes none.
    @usableFromInline var once: Set<Int> = []
    /// The listeners that apply to all events. They are stored in an object, because most sockets
    /// have none.
    @usableFromInline var wide: Wide?

    @usableFromInline
    final class Wide {
        @usableFromInline var any: [Entry<AnyHandler>] = []
        @usableFromInline var outgoing: [Entry<SocketIOOutgoingListener>] = []
        @usableFromInline var middleware: [AnyHandler] = []

        @inlinable init() {}
    }

    @inlinable package init() {}

    /// The listeners to all received events.
    @inlinable package var any: [Entry<AnyHandler>] { self.wide?.any ?? [] }
    /// The listeners to all sent events.
    @inlinable package var outgoing: [Entry<SocketIOOutgoingListener>] { self.wide?.outgoing ?? [] }
    /// The checks of all received events.
    @inlinable package var middleware: [AnyHandler] { self.wide?.middleware ?? [] }

    /// Whether any listener or middleware applies to all received events.
    @inlinable package var hasCatchAllListeners: Bool {
        guard let wide else { return false }
        return !wide.any.isEmpty || !wide.middleware.isEmpty
    }

    @inlinable mutating func makeWide() -> Wide {
        let wide = self.wide ?? Wide()
        self.wide = wide
        return wide
    }

    @inlinable package mutating func add(_ handler: Handler, id: Int, for event: String, isOnce: Bool = false) {
        let entry = Entry(id: id, handler: handler)
        let present = self.byEvent[event]?.all ?? []
        self.byEvent[event] = present.isEmpty ? .one(entry) : .many(present + [entry])
        if isOnce { self.once.insert(id) }
    }

    @inlinable package mutating func addAny(_ handler: AnyHandler, id: Int, first: Bool) {
        let wide = self.makeWide()
        wide.any.insert(Entry(id: id, handler: handler), at: first ? 0 : wide.any.endIndex)
    }

    @inlinable package mutating func addOutgoing(_ handler: @escaping SocketIOOutgoingListener, id: Int, first: Bool) {
        let wide = self.makeWide()
        wide.outgoing.insert(Entry(id: id, handler: handler), at: first ? 0 : wide.outgoing.endIndex)
    }

    @inlinable package mutating func addMiddleware(_ handler: AnyHandler) {
        self.makeWide().middleware.append(handler)
    }

    /// Returns the listeners to call for an event and removes those that were added with `once`.
    @inlinable package mutating func take(_ event: String) -> Entries? {
        guard let entries = self.byEvent[event] else { return nil }
        if !self.once.isEmpty { self.removeEntries(of: event) { [once] in once.contains($0) } }
        return entries
    }

    /// Removes a listener of any kind.
    @inlinable package mutating func remove(id: Int) {
        if let wide {
            self.replace(wide.any.filter { $0.id != id }, in: wide, \.any)
            self.replace(wide.outgoing.filter { $0.id != id }, in: wide, \.outgoing)
        }
        for event in self.byEvent.names { self.removeEntries(of: event) { $0 == id } }
    }

    /// Removes the listeners of an event and returns their ids.
    @inlinable @discardableResult
    package mutating func removeAll(for event: String) -> [Int] {
        let ids = self.byEvent[event]?.all.map(\.id) ?? []
        self.removeEntries(of: event) { _ in true }
        return ids
    }

    /// Removes all listeners and returns the ids of those of one event.
    @inlinable package mutating func removeAll() -> [Int] {
        let gone = self
        self = Self()
        return gone.byEvent.names.flatMap { gone.byEvent[$0]?.all.map(\.id) ?? [] }
    }

    @inlinable package mutating func removeAllAny() { if let wide { self.replace([], in: wide, \.any) } }

    @inlinable package mutating func removeAllOutgoing() { if let wide { self.replace([], in: wide, \.outgoing) } }

    /// Replaces a list. The old list is released after the write access ends: deinitializing its
    /// listeners may run application code that reads the list.
    @inlinable func replace<Value>(_ value: [Value], in wide: Wide, _ list: ReferenceWritableKeyPath<Wide, [Value]>) {
        let gone = wide[keyPath: list]
        wide[keyPath: list] = value
        withExtendedLifetime(gone) {}
    }

    @inlinable mutating func removeEntries(of event: String, where isUnwanted: (Int) -> Bool) {
        guard let entries = self.byEvent[event]?.all, entries.contains(where: { isUnwanted($0.id) }) else { return }
        for entry in entries where isUnwanted(entry.id) { self.once.remove(entry.id) }
        self.byEvent[event] = Entries(entries.filter { !isUnwanted($0.id) })
        withExtendedLifetime(entries) {}  // deinitializing a listener may run application code
    }
}

extension SocketIOListenerTable.Entry: Sendable where Value: Sendable {}
extension SocketIOListenerTable.Entries: Sendable where Handler: Sendable {}
