import ApusSocketIOProtocol
import Atomics

/// Names a listener of a socket, to remove it with ``SocketIOServerSocket/off(_:)-(SocketIOListener)``.
public struct SocketIOListener: Hashable, Sendable {
    /// Listeners are added from any thread and at once have a name, so the numbers are shared by all sockets.
    private static let next = ManagedAtomic<UInt64>(0)
    private let number: UInt64

    init() {
        self.number = Self.next.wrappingIncrementThenLoad(ordering: .relaxed)
    }
}

/// Who listens to what on one socket. Listeners run in the order of their lists.
struct SocketIOListeners {
    struct Entry {
        let listener: SocketIOListener
        let handler: SocketIOHandler
    }

    /// Those of one event: nearly always one, for which nothing is allocated.
    enum Entries {
        case one(Entry)
        case many([Entry])

        /// `nil` when there are none.
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
        let listener: SocketIOListener
        let handler: SocketIOOutgoingHandler
    }

    private var byEvent = SocketIONameTable<Entries>()
    /// Those of them that want one event only: while there are none, nothing is looked through.
    private var once: Set<SocketIOListener> = []
    private(set) var any: [Entry] = []
    private(set) var outgoing: [OutgoingEntry] = []
    private(set) var middleware: [SocketIOHandler] = []

    /// Whether anybody wants events of every name.
    var hearsAll: Bool { !self.any.isEmpty || !self.middleware.isEmpty }

    mutating func add(_ entry: Entry, for event: String, isOnce: Bool = false) {
        let present = self.byEvent[event]?.all ?? []
        self.byEvent[event] = present.isEmpty ? .one(entry) : .many(present + [entry])
        if isOnce { self.once.insert(entry.listener) }
    }

    mutating func addAny(_ entry: Entry, first: Bool) {
        self.any.insert(entry, at: first ? 0 : self.any.endIndex)
    }

    mutating func addOutgoing(_ entry: OutgoingEntry, first: Bool) {
        self.outgoing.insert(entry, at: first ? 0 : self.outgoing.endIndex)
    }

    mutating func addMiddleware(_ handler: SocketIOHandler) {
        self.middleware.append(handler)
    }

    /// Those to call for an event; the ones that wanted it once are gone with that.
    mutating func take(_ event: String) -> Entries? {
        guard let entries = self.byEvent[event] else { return nil }
        if !self.once.isEmpty { self.removeEntries(of: event) { [once] in once.contains($0.listener) } }
        return entries
    }

    mutating func remove(_ listener: SocketIOListener) {
        self.any.removeAll { $0.listener == listener }
        self.outgoing.removeAll { $0.listener == listener }
        for event in self.byEvent.names { self.removeEntries(of: event) { $0.listener == listener } }
    }

    mutating func removeAll(for event: String) {
        self.removeEntries(of: event) { _ in true }
    }

    mutating func removeAllAny() { self.any = [] }

    mutating func removeAllOutgoing() { self.outgoing = [] }

    private mutating func removeEntries(of event: String, where isUnwanted: (Entry) -> Bool) {
        guard let entries = self.byEvent[event]?.all, entries.contains(where: isUnwanted) else { return }
        for entry in entries where isUnwanted(entry) { self.once.remove(entry.listener) }
        self.byEvent[event] = Entries(entries.filter { !isUnwanted($0) })
    }
}
