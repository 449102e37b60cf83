import ApusJSON

/// A set of room names. The id of a socket is also the name of a room.
///
/// Names compare by their UTF-8 bytes, as in every other Socket.IO server: `é` as one scalar and
/// `é` as two scalars are two rooms, which a `Set<String>` would treat as one. The order of the
/// elements is undefined.
public struct SocketIORoomNames: Sendable, Hashable {
    /// A set of one name needs no allocation. Most sockets are only in the room named by their id.
    private enum Storage: Sendable {
        case one(String)
        case many(Set<UTF8Key>)
    }

    private var storage: Storage

    /// Creates an empty set.
    public init() { self.storage = .many([]) }

    /// Creates a set of rooms.
    ///
    /// - Parameter names: The names of the rooms.
    public init(_ names: some Sequence<String>) {
        self.init()
        self.formUnion(names)
    }

    /// Whether the set is empty.
    public var isEmpty: Bool { self.count == 0 }

    /// The number of rooms.
    public var count: Int {
        switch self.storage {
        case .one: 1
        case .many(let names): names.count
        }
    }

    /// Returns whether the set contains this room.
    public func contains(_ name: String) -> Bool {
        switch self.storage {
        case .one(let present): UTF8Key.areEqual(present, name)
        case .many(let names): !names.isEmpty && names.contains(UTF8Key(name))
        }
    }

    /// Adds a room.
    ///
    /// - Returns: `false` if the set contained the room already.
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
            self.storage = .many([])  // released, so that the set is mutated in place
            defer { self.storage = .many(names) }
            return names.insert(UTF8Key(name)).inserted
        }
    }

    /// Removes a room.
    ///
    /// - Returns: `false` if the set did not contain the room.
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

    /// Removes these rooms.
    public mutating func subtract(_ names: some Sequence<String>) {
        for name in names { self.remove(name) }
    }

    /// Returns whether the sets have no room in common.
    public func isDisjoint(with other: SocketIORoomNames) -> Bool {
        self.count <= other.count ? !self.contains { other.contains($0) } : other.isDisjoint(with: self)
    }

    /// Returns whether both sets contain the same rooms.
    public static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.allSatisfy { right.contains($0) }
    }

    /// Hashes the rooms independently of their order.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for name in self { sum &+= UTF8Key(name).hashValue }
        hasher.combine(sum)
    }
}

extension SocketIORoomNames: Sequence {
    /// Iterates over the rooms, in no particular order.
    public struct Iterator: IteratorProtocol {
        fileprivate var one: String?
        fileprivate var many: Set<UTF8Key>.Iterator?

        /// Returns the next room, or `nil` after the last.
        public mutating func next() -> String? { self.many?.next()?.string ?? self.one.take() }
    }

    /// Returns an iterator over the rooms.
    public func makeIterator() -> Iterator {
        switch self.storage {
        case .one(let name): Iterator(one: name)
        case .many(let names): Iterator(many: names.makeIterator())
        }
    }
}

extension SocketIORoomNames: ExpressibleByArrayLiteral, CustomStringConvertible {
    /// Creates a set of these rooms.
    public init(arrayLiteral names: String...) { self.init(names) }

    /// The sorted names.
    public var description: String { self.sorted().description }
}
