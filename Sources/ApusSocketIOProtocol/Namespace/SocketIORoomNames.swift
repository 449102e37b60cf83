import ApusJSON

/// A set of rooms. A socket's id is the name of a room too.
///
/// Names compare by their UTF-8 bytes, as every other Socket.IO server compares them: `é` written as one scalar and as two are
/// two rooms. (`Set<String>` would take them for one.) Elements come in no order.
public struct SocketIORoomNames: Sendable, Hashable {
    /// Mostly a single name, for which nothing is allocated: every socket is alone in the room of its id.
    private enum Storage: Sendable {
        case one(String)
        case many(Set<UTF8Key>)
    }

    private var storage: Storage

    /// No rooms.
    public init() { self.storage = .many([]) }

    /// These rooms, each once.
    public init(_ names: some Sequence<String>) {
        self.init()
        self.formUnion(names)
    }

    /// Whether there are none.
    public var isEmpty: Bool { self.count == 0 }

    /// The number of rooms.
    public var count: Int {
        switch self.storage {
        case .one: 1
        case .many(let names): names.count
        }
    }

    /// Whether a room is among them.
    public func contains(_ name: String) -> Bool {
        switch self.storage {
        case .one(let present): UTF8Key.areEqual(present, name)
        case .many(let names): !names.isEmpty && names.contains(UTF8Key(name))
        }
    }

    /// Adds a room.
    ///
    /// - Returns: `false` when it was there already.
    @discardableResult
    public mutating func insert(_ name: String) -> Bool {
        switch self.storage {
        case .one(let present) where UTF8Key.areEqual(present, name): return false
        case .one(let present):
            self.storage = .many([UTF8Key(present), UTF8Key(name)])
            return true
        case .many(let names) where names.isEmpty:
            self.storage = .one(name)
            return true
        case .many(var names):
            self.storage = .many([])  // released, so that the set is changed in place
            defer { self.storage = .many(names) }
            return names.insert(UTF8Key(name)).inserted
        }
    }

    /// Takes a room out.
    ///
    /// - Returns: `false` when it was not there.
    @discardableResult
    public mutating func remove(_ name: String) -> Bool {
        switch self.storage {
        case .one(let present):
            guard UTF8Key.areEqual(present, name) else { return false }
            self.storage = .many([])
            return true
        case .many(var names):
            self.storage = .many([])
            defer { self.storage = .many(names) }
            return names.remove(UTF8Key(name)) != nil
        }
    }

    /// Adds these rooms.
    public mutating func formUnion(_ names: some Sequence<String>) {
        for name in names { self.insert(name) }
    }

    /// Takes these rooms out.
    public mutating func subtract(_ names: some Sequence<String>) {
        for name in names { self.remove(name) }
    }

    /// Whether no room is in both sets.
    public func isDisjoint(with other: SocketIORoomNames) -> Bool {
        self.count <= other.count ? !self.contains { other.contains($0) } : other.isDisjoint(with: self)
    }

    /// Whether both have the same rooms.
    public static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.allSatisfy { right.contains($0) }
    }

    /// Feeds the rooms to the hasher so that their order does not matter.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for name in self { sum &+= UTF8Key(name).hashValue }
        hasher.combine(sum)
    }
}

extension SocketIORoomNames: Sequence {
    /// Goes through the rooms, in no order.
    public struct Iterator: IteratorProtocol {
        fileprivate var one: String?
        fileprivate var many: Set<UTF8Key>.Iterator?

        /// The next room; nil after the last.
        public mutating func next() -> String? { self.many?.next()?.string ?? self.one.take() }
    }

    /// An iterator over the rooms.
    public func makeIterator() -> Iterator {
        switch self.storage {
        case .one(let name): Iterator(one: name)
        case .many(let names): Iterator(many: names.makeIterator())
        }
    }
}

extension SocketIORoomNames: ExpressibleByArrayLiteral, CustomStringConvertible {
    /// These rooms, each once.
    public init(arrayLiteral names: String...) { self.init(names) }

    /// The names, sorted.
    public var description: String { self.sorted().description }
}
