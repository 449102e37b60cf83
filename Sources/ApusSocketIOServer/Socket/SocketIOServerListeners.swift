import ApusSocketIOProtocol
import Atomics

/// Identifies a listener of a socket, for its removal with
/// ``SocketIOServerSocket/off(_:)-(SocketIOServerListener)``.
public struct SocketIOServerListener: Hashable, Sendable {
    /// Shared by all sockets: a listener added from any thread gets its number immediately.
    private static let next = ManagedAtomic<UInt64>(0)
    private let number: UInt64

    init() {
        self.number = Self.next.wrappingIncrementThenLoad(ordering: .relaxed)
    }
}

/// The listeners of one socket. They run in the order of their lists.
struct SocketIOServerListeners {
    struct Entry {
        let listener: SocketIOServerListener
        let handler: SocketIOHandler
    }

    /// The listeners of one event. The usual case of one listener needs no allocation.
    enum Entries {
        case one(Entry)
        case many([Entry])

        /// Returns `nil` for an empty array.
        fileprivate init?(_ entries: [Entry]) {
            guard let first = entries.first else { return nil }
            self = entries.count == 1 ? .one(first) : .many(entries)
        }

        fileprivate var all: [Entry] {
            switch self {
            case .one(let entry): [entry]
            case .many(let entries): entries
            }
        }
    }

    struct OutgoingEntry {
        let listener: SocketIOServerListener
        let handler: SocketIOOutgoingHandler
    }

    private var byEvent = SocketIONameTable<Entries>()
    /// The listeners for one event only. If the set is empty, `take(_:)` skips the check.
    private var once: Set<SocketIOServerListener> = []
    /// The listeners that apply to all events. In an object, because most sockets have none.
    private var wide: Wide?

    private final class Wide {
        var any: [Entry] = []
        var outgoing: [OutgoingEntry] = []
        var middleware: [SocketIOHandler] = []
    }

    var any: [Entry] { self.wide?.any ?? [] }
    var outgoing: [OutgoingEntry] { self.wide?.outgoing ?? [] }
    var middleware: [SocketIOHandler] { self.wide?.middleware ?? [] }

    /// Whether any listener or middleware applies to all incoming events.
    var hasCatchAllListeners: Bool {
        guard let wide else { return false }
        return !wide.any.isEmpty || !wide.middleware.isEmpty
    }

    private mutating func makeWide() -> Wide {
        let wide = self.wide ?? Wide()
        self.wide = wide
        return wide
    }

    mutating func add(_ entry: Entry, for event: String, isOnce: Bool = false) {
        let present = self.byEvent[event]?.all ?? []
        self.byEvent[event] = present.isEmpty ? .one(entry) : .many(present + [entry])
        if isOnce { self.once.insert(entry.listener) }
    }

    mutating func addAny(_ entry: Entry, first: Bool) {
        let wide = self.makeWide()
        wide.any.insert(entry, at: first ? 0 : wide.any.endIndex)
    }

    mutating func addOutgoing(_ entry: OutgoingEntry, first: Bool) {
        let wide = self.makeWide()
        wide.outgoing.insert(entry, at: first ? 0 : wide.outgoing.endIndex)
    }

    mutating func addMiddleware(_ handler: SocketIOHandler) {
        self.makeWide().middleware.append(handler)
    }

    /// Returns the listeners to call for an event and removes those that were added with `once`.
    mutating func take(_ event: String) -> Entries? {
        guard let entries = self.byEvent[event] else { return nil }
        if !self.once.isEmpty { self.removeEntries(of: event) { [once] in once.contains($0.listener) } }
        return entries
    }

    mutating func remove(_ listener: SocketIOServerListener) {
        if let wide {
            self.replace(wide.any.filter { $0.listener != listener }, in: wide, \.any)
            self.replace(wide.outgoing.filter { $0.listener != listener }, in: wide, \.outgoing)
        }
        for event in self.byEvent.names { self.removeEntries(of: event) { $0.listener == listener } }
    }

    mutating func removeAll(for event: String) {
        self.removeEntries(of: event) { _ in true }
    }

    mutating func removeAllAny() { if let wide { self.replace([], in: wide, \.any) } }

    mutating func removeAllOutgoing() { if let wide { self.replace([], in: wide, \.outgoing) } }

    /// Replaces a list. The old list is released after the write access ends: deinitializing its
    /// listeners may run application code that reads the list.
    private func replace<Value>(_ value: [Value], in wide: Wide, _ list: ReferenceWritableKeyPath<Wide, [Value]>) {
        let gone = wide[keyPath: list]
        wide[keyPath: list] = value
        withExtendedLifetime(gone) {}
    }

    private mutating func removeEntries(of event: String, where isUnwanted: (Entry) -> Bool) {
        guard let entries = self.byEvent[event]?.all, entries.contains(where: isUnwanted) else { return }
        for entry in entries where isUnwanted(entry) { self.once.remove(entry.listener) }
        self.byEvent[event] = Entries(entries.filter { !isUnwanted($0) })
        withExtendedLifetime(entries) {}  // deinitializing a listener may run application code
    }
}
