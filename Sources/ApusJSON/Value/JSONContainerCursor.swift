/// Iterates over the values of one array or object, for traversing a tree without recursion.
package struct JSONContainerCursor {
    private let elements: [JSONValue]
    private let members: JSONObject
    private var place = 0

    /// Whether the container is an object.
    package let isObject: Bool

    /// Creates a cursor before the first value; `nil` if `value` is not a container.
    package init?(_ value: JSONValue) {
        switch value {
        case .array(let elements): (self.elements, self.members, self.isObject) = (elements, JSONObject(), false)
        case .object(let members): (self.elements, self.members, self.isObject) = ([], members, true)
        case .null, .bool, .integer, .double, .string, .binary, .date: return nil
        }
    }

    /// The number of values.
    package var count: Int { self.isObject ? self.members.count : self.elements.count }

    /// Whether the cursor is before the first value.
    package var isAtStart: Bool { self.place == 0 }

    /// Returns the next value, with its name in an object; `nil` after the last.
    package mutating func next() -> (name: String?, value: JSONValue)? {
        guard self.place < self.count else { return nil }
        defer { self.place += 1 }
        guard self.isObject else { return (nil, self.elements[self.place]) }
        let member = self.members.member(at: self.place)
        return (member.key, member.value)
    }
}

extension JSONValue {
    /// Returns this value with some of its nested values replaced. It does not recurse.
    ///
    /// - Parameter replacement: Called for each value, outer ones first. It returns the
    ///   replacement, or `nil` to keep the value. Values inside a replaced one are skipped.
    package func replacing<Failure: Error>(
        _ replacement: (JSONValue) throws(Failure) -> JSONValue?
    ) throws(Failure) -> JSONValue {
        if let replaced = try replacement(self) { return replaced }
        guard var current = JSONContainerCursor(self) else { return self }
        return try JSONTreeBuilder.build { builder throws(Failure) in
            var outer: [JSONContainerCursor] = []
            builder.open(isObject: current.isObject)
            while true {
                guard let (name, value) = current.next() else {
                    let whole = builder.close()
                    guard let last = outer.popLast() else { return whole }
                    builder.append(whole)
                    current = last
                    continue
                }
                if let name { builder.append(name: name) }
                if let replaced = try replacement(value) {
                    builder.append(replaced)
                } else if let inner = JSONContainerCursor(value) {
                    outer.append(current)
                    current = inner
                    builder.open(isObject: current.isObject)
                } else {
                    builder.append(value)
                }
            }
        }
    }
}
