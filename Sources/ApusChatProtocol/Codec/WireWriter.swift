package import ApusJSON

/// Encodes the fields of one JSON object, in the order of the calls.
///
/// Methods with an optional value omit nil. Methods with a list omit an empty list.
package struct WireWriter: Sendable {
    private var members: ContiguousArray<JSONObject.Element> = []

    package init() { self.members.reserveCapacity(10) }

    package var object: JSONObject { JSONObject(self.members) }

    package mutating func write(_ name: String, _ value: JSONValue) { self.members.append((name, value)) }

    package mutating func write(_ name: String, _ value: JSONObject) { self.write(name, .object(value)) }

    package mutating func write(_ name: String, _ value: Double) { self.write(name, .double(value)) }

    package mutating func write(_ name: String, _ value: Int64) { self.write(name, .integer(value)) }

    package mutating func write(_ name: String, _ value: String) { self.write(name, .string(value)) }

    package mutating func write(_ name: String, _ value: Bool) { self.write(name, .bool(value)) }

    package mutating func write(_ name: String, _ value: some WireText) { self.write(name, .string(value.wireText)) }

    package mutating func write(_ name: String, _ value: some WireChoice) { self.write(name, .string(value.rawValue)) }

    package mutating func write(_ name: String, _ value: some WireObject) { self.write(name, value.json) }

    package mutating func write(_ name: String, ifPresent value: Int64?) {
        if let value { self.write(name, value) }
    }

    package mutating func write(_ name: String, ifPresent value: String?) {
        if let value { self.write(name, value) }
    }

    package mutating func write(_ name: String, ifPresent value: Double?) {
        if let value { self.write(name, value) }
    }

    package mutating func write(_ name: String, ifPresent value: JSONObject?) {
        if let value { self.write(name, value) }
    }

    package mutating func write(_ name: String, ifPresent value: Bool?) {
        if let value { self.write(name, value) }
    }

    package mutating func write(_ name: String, ifPresent value: (some WireText)?) {
        if let value { self.write(name, value) }
    }

    package mutating func write(_ name: String, ifPresent value: (some WireChoice)?) {
        if let value { self.write(name, value) }
    }

    package mutating func write(_ name: String, ifPresent value: (some WireObject)?) {
        if let value { self.write(name, value) }
    }

    /// Encodes a list, even if it is empty. Omits nil.
    package mutating func write(_ name: String, ifPresent values: [String]?) {
        if let values { self.write(name, all: values) }
    }

    /// Encodes `true`. Omits the field for `false`.
    package mutating func write(_ name: String, ifTrue value: Bool) {
        if value { self.write(name, .bool(true)) }
    }

    /// Encodes a list, even if it is empty.
    package mutating func write(_ name: String, all values: [some WireObject]) {
        self.write(name, .array(values.map { $0.json }))
    }

    /// Encodes a list, even if it is empty.
    package mutating func write(_ name: String, all values: [some WireText]) {
        self.write(name, .array(values.map { .string($0.wireText) }))
    }

    package mutating func write(_ name: String, all values: [Int64]) { self.write(name, .array(values.map { .integer($0) })) }

    package mutating func write(_ name: String, all values: [String]) { self.write(name, .array(values.map { .string($0) })) }

    package mutating func write(_ name: String, ifAny values: [some WireObject]) {
        if !values.isEmpty { self.write(name, all: values) }
    }

    package mutating func write(_ name: String, ifAny values: [some WireText]) {
        if !values.isEmpty { self.write(name, all: values) }
    }

    package mutating func write(_ name: String, ifAny values: [Int64]) {
        if !values.isEmpty { self.write(name, all: values) }
    }

    package mutating func write(_ name: String, ifAny values: [String]) {
        if !values.isEmpty { self.write(name, all: values) }
    }
}
