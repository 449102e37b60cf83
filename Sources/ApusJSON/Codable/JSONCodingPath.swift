/// A coding path as a linked list that grows at its end, so that a new level copies nothing.
indirect enum JSONCodingPath {
    case root
    case child(of: JSONCodingPath, key: any CodingKey)

    /// The keys from the root, as in the errors of `Codable`.
    var keys: [any CodingKey] {
        var keys: [any CodingKey] = []
        var place = self
        while case .child(of: let parent, let key) = place {
            keys.append(key)
            place = parent
        }
        return keys.reversed()
    }

    /// Returns the path of a member or an element; the path itself for a `nil` key.
    func appending(_ key: (any CodingKey)?) -> JSONCodingPath {
        guard let key else { return self }
        return .child(of: self, key: key)
    }
}

/// A key that is not a case of the application's enumeration: an index, the key of a superclass, or
/// a member of a ``JSONObject``.
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

    /// The key of `superEncoder()` and `superDecoder()`, the same as in Foundation.
    static let superclass = JSONCodingKey(stringValue: "super")
}

/// Returns a value of type `From` as one of type `To`. The caller has verified that the types are
/// equal.
///
/// A dynamic cast takes ten times as long.
@inline(__always)
func sameType<From, To>(_ value: From, as type: To.Type) -> To {
    assert(From.self == To.self)
    return unsafeBitCast(value, to: To.self)
}
