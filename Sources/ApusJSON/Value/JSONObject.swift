/// The members of a JSON object, in order.
///
/// Names are unique. If a text repeats a name, the last value takes precedence and the first
/// position is kept, as in JavaScript. Names compare by their UTF-8 bytes, as in other JSON
/// implementations: `é` as one scalar and `é` as two are different names. Equality ignores the
/// order. Lookup and assignment take constant time; removal takes linear time.
public struct JSONObject: Sendable {
    /// One member.
    public typealias Element = (key: String, value: JSONValue)

    /// The number of members up to which a linear search is faster than a hash table, and needs no
    /// memory.
    static let searchableCount = 16

    private var members: ContiguousArray<Element>
    /// The index of each name. Empty up to `searchableCount` members.
    private var positions: [UTF8Key: Int]

    /// Creates an empty object.
    public init() {
        self.members = []
        self.positions = [:]
    }

    /// Creates an object of these members; the last of equal names takes precedence. Linear time.
    public init(_ members: some Sequence<Element>) {
        self.init(unchecked: ContiguousArray(members))
    }

    /// Creates an object of members whose names may repeat. Members without repeated names, the
    /// common case, are not copied.
    init(unchecked members: ContiguousArray<Element>) {
        self.members = members
        self.positions = [:]
        if members.count > Self.searchableCount {
            self.indexMembers()
        } else if Self.hasRepeatedName(members) {
            self.members.removeAll(keepingCapacity: true)
            for member in members { self[member.key] = member.value }
        }
    }

    /// The number of members.
    public var count: Int { self.members.count }
    /// Whether the object has no members.
    public var isEmpty: Bool { self.members.isEmpty }
    /// The names, in order.
    public var keys: some RandomAccessCollection<String> & Sendable { self.members.map { $0.key } }
    /// The values, in order.
    public var values: some RandomAccessCollection<JSONValue> & Sendable { self.members.map { $0.value } }

    /// Returns the member at an index, which must be valid.
    func member(at place: Int) -> Element { self.members[place] }

    /// The value of a name. Setting an unknown name appends it. Setting `nil` removes the member,
    /// in linear time.
    public subscript(key: String) -> JSONValue? {
        get { self.position(of: key).map { self.members[$0].value } }
        set {
            switch (self.position(of: key), newValue) {
            case (let position?, let value?): self.members[position].value = value
            case (nil, let value?): self.append((key, value))
            case (let position?, nil): self.remove(at: position)
            case (nil, nil): break
            }
        }
    }

    private func position(of key: String) -> Int? {
        if self.members.count > Self.searchableCount { return self.positions[UTF8Key(key)] }
        return self.members.firstIndex { UTF8Key.areEqual($0.key, key) }
    }

    private mutating func append(_ member: Element) {
        self.members.append(member)
        if self.members.count == Self.searchableCount + 1 {
            self.indexMembers()
        } else if self.members.count > Self.searchableCount {
            self.positions[UTF8Key(member.key)] = self.members.count - 1
        }
    }

    private mutating func remove(at position: Int) {
        self.members.remove(at: position)
        self.positions.removeAll()
        if self.members.count > Self.searchableCount { self.indexMembers() }
    }

    /// Fills `positions` and removes repeated names.
    private mutating func indexMembers() {
        self.positions.reserveCapacity(self.members.count)
        var kept = 0
        for index in self.members.indices {
            let name = UTF8Key(self.members[index].key)
            if let first = self.positions[name] {
                self.members[first].value = self.members[index].value
                continue
            }
            self.positions[name] = kept
            if kept != index { self.members[kept] = self.members[index] }
            kept += 1
        }
        self.members.removeSubrange(kept...)
        if kept <= Self.searchableCount { self.positions.removeAll() }
    }

    private static func hasRepeatedName(_ members: ContiguousArray<Element>) -> Bool {
        for later in members.indices.dropFirst() {
            for earlier in 0..<later where UTF8Key.areEqual(members[earlier].key, members[later].key) { return true }
        }
        return false
    }
}

extension JSONObject: Sequence {
    /// Returns an iterator over the members, in order.
    public func makeIterator() -> ContiguousArray<Element>.Iterator { self.members.makeIterator() }
    /// The number of members.
    public var underestimatedCount: Int { self.members.count }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates an object with the members in the order written; the last of equal names takes
    /// precedence.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.lazy.map { (key: $0, value: $1) })
    }
}

extension JSONObject: Hashable {
    /// Returns whether both objects have the same members, in any order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
    }

    /// Hashes the members independently of their order.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for member in self.members {
            var one = Hasher()
            one.combine(UTF8Key(member.key))
            one.combine(member.value)
            sum &+= one.finalize()
        }
        hasher.combine(self.count)
        hasher.combine(sum)
    }
}
