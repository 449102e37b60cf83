import ApusJSON

/// A table from event names to values. Names compare by their UTF-8 bytes.
///
/// Up to ``searchableCount`` names, a linear search is faster than hashing. Most sockets listen to
/// fewer names. The type is inlinable because an unspecialized search allocates memory for every
/// name.
@usableFromInline
package struct SocketIONameTable<Value> {
    @usableFromInline static var searchableCount: Int { 16 }

    @usableFromInline var entries: [(name: String, value: Value)] = []
    /// The index of each name in `entries`. Empty up to `searchableCount` names.
    @usableFromInline var places: [SocketIONameKey: Int] = [:]

    @inlinable package init() {}

    @inlinable package var names: [String] { self.entries.map { $0.name } }

    /// The value of a name. Setting `nil` removes the name, in linear time.
    @inlinable package subscript(name: String) -> Value? {
        get {
            guard let place = self.place(of: name) else { return nil }
            return self.entries[place].value
        }
        set {
            switch (self.place(of: name), newValue) {
            case (let place?, let value?): self.entries[place].value = value
            case (nil, let value?): self.append(name, value)
            case (let place?, nil): self.remove(at: place)
            case (nil, nil): break
            }
        }
    }

    @inlinable func place(of name: String) -> Int? {
        if self.entries.count > Self.searchableCount { return self.places[SocketIONameKey(name)] }
        for place in self.entries.indices where SocketIONameKey.areEqual(self.entries[place].name, name) { return place }
        return nil
    }

    @inlinable mutating func append(_ name: String, _ value: Value) {
        self.entries.append((name, value))
        if self.entries.count == Self.searchableCount + 1 {
            self.indexNames()
        } else if self.entries.count > Self.searchableCount {
            self.places[SocketIONameKey(name)] = self.entries.count - 1
        }
    }

    @inlinable mutating func remove(at place: Int) {
        self.entries.remove(at: place)
        self.indexNames()
    }

    @inlinable mutating func indexNames() {
        self.places = [:]
        guard self.entries.count > Self.searchableCount else { return }
        for (place, entry) in self.entries.enumerated() { self.places[SocketIONameKey(entry.name)] = place }
    }
}

extension SocketIONameTable: Sendable where Value: Sendable {}

/// A wrapper of ``UTF8Key``, which inlinable code cannot use directly: it is a `package` type of
/// another module.
@usableFromInline
struct SocketIONameKey: Hashable, Sendable {
    private let key: UTF8Key

    @usableFromInline init(_ name: String) { self.key = UTF8Key(name) }

    @usableFromInline static func areEqual(_ left: String, _ right: String) -> Bool { UTF8Key.areEqual(left, right) }

    @usableFromInline static func == (left: Self, right: Self) -> Bool { left.key == right.key }

    @usableFromInline func hash(into hasher: inout Hasher) { self.key.hash(into: &hasher) }
}
