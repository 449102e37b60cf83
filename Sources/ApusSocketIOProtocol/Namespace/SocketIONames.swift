/// A set of names that is mostly a single one, for which nothing is allocated: every socket is alone in the room of its id.
package struct SocketIONames: Sendable {
    private enum Storage: Sendable {
        case one(String)
        case many(Set<String>)
    }

    private var storage: Storage

    /// No names.
    package init() { self.storage = .many([]) }

    /// These names.
    package init(_ names: Set<String>) { self.storage = .many(names) }

    package var isEmpty: Bool { self.count == 0 }

    package var count: Int {
        switch self.storage {
        case .one: 1
        case .many(let names): names.count
        }
    }

    /// All of them as a set.
    package var set: Set<String> {
        switch self.storage {
        case .one(let name): [name]
        case .many(let names): names
        }
    }

    func contains(_ name: String) -> Bool {
        switch self.storage {
        case .one(let present): present == name
        case .many(let names): names.contains(name)
        }
    }

    /// Puts a name in. `false`: it was there.
    package mutating func insert(_ name: String) -> Bool {
        switch self.storage {
        case .one(let present) where present == name: return false
        case .one(let present):
            self.storage = .many([present, name])
            return true
        case .many(let names) where names.isEmpty:
            self.storage = .one(name)
            return true
        case .many(var names):
            self.storage = .many([])  // let go of, so that the set is changed in place
            defer { self.storage = .many(names) }
            return names.insert(name).inserted
        }
    }

    /// Takes a name out. `false`: it was not there.
    package mutating func remove(_ name: String) -> Bool {
        switch self.storage {
        case .one(let present):
            guard present == name else { return false }
            self.storage = .many([])
            return true
        case .many(var names):
            self.storage = .many([])
            defer { self.storage = .many(names) }
            return names.remove(name) != nil
        }
    }
}

extension SocketIONames: Sequence {
    package struct Iterator: IteratorProtocol {
        fileprivate var one: String?
        fileprivate var many: Set<String>.Iterator?

        package mutating func next() -> String? { self.many?.next() ?? self.one.take() }
    }

    package func makeIterator() -> Iterator {
        switch self.storage {
        case .one(let name): Iterator(one: name)
        case .many(let names): Iterator(many: names.makeIterator())
        }
    }
}
