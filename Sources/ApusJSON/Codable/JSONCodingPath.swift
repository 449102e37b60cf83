/// Where an encoder or decoder stands: a list that grows at its leaf, so that going down a level copies nothing.
indirect enum JSONCodingPath {
    case root
    case child(of: JSONCodingPath, key: any CodingKey)

    /// The keys from the root down, as errors carry them.
    var keys: [any CodingKey] {
        var keys: [any CodingKey] = []
        var place = self
        while case .child(of: let parent, let key) = place {
            keys.append(key)
            place = parent
        }
        return keys.reversed()
    }

    /// The path of a member or an element; the path itself without a key.
    func appending(_ key: (any CodingKey)?) -> JSONCodingPath {
        guard let key else { return self }
        return .child(of: self, key: key)
    }
}

/// A key that is no case of a user's enum: an index, the name of a superclass's part, a member of a ``JSONObject``.
struct JSONCodingKey: CodingKey {
    private enum Value { case name(String), index(Int) }

    private let value: Value

    init(stringValue: String) { self.value = .name(stringValue) }
    init(intValue: Int) { self.value = .index(intValue) }

    var stringValue: String {
        switch self.value {
        case .name(let name): name
        case .index(let index): "Index \(index)"
        }
    }

    var intValue: Int? {
        if case .index(let index) = self.value { index } else { nil }
    }

    /// The key Foundation's coders use for `superEncoder()` and `superDecoder()`.
    static let superclass = JSONCodingKey(stringValue: "super")
}

/// Takes a value of type `From` for one of type `To`, after the caller has found both to be the same type.
///
/// A dynamic cast would do the same at ten times the cost.
@inline(__always)
func sameType<From, To>(_ value: From, as type: To.Type) -> To {
    assert(From.self == To.self)
    return unsafeBitCast(value, to: To.self)
}
