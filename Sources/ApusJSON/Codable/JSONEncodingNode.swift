/// A value that is being encoded, which a container writes to.
///
/// Members and elements are final values, except those in `pending`, whose containers may still be
/// written to. The values in `pending` are resolved last.
final class JSONEncodingNode {
    private enum Kind { case empty, value, array, object }

    private var kind = Kind.empty
    private var value = JSONValue.null
    private var elements: [JSONValue] = []
    private var members: ContiguousArray<JSONObject.Element> = []
    /// The indices in `elements` or `members` whose values come from nodes.
    private var pending: [(place: Int, node: JSONEncodingNode)] = []

    /// The number of elements.
    var count: Int { self.elements.count }

    /// Returns the encoded value; `nil` if nothing was encoded.
    func resolved() -> JSONValue? {
        switch self.kind {
        case .empty: return nil
        case .value: return self.value
        case .array:
            for (place, node) in self.pending { self.elements[place] = node.resolved() ?? .object([:]) }
            return .array(self.elements)
        case .object:
            for (place, node) in self.pending { self.members[place].value = node.resolved() ?? .object([:]) }
            return .object(JSONObject(unchecked: self.members))
        }
    }

    func becomeArray() { self.become(.array) }
    func becomeObject() { self.become(.object) }

    /// Sets the kind of the value. A request for a second, different container is a programming
    /// error in `encode(to:)`, and traps, as in Foundation's encoders.
    private func become(_ kind: Kind) {
        precondition(self.kind == .empty || self.kind == kind, "`encode(to:)` must request only one kind of container")
        self.kind = kind
    }

    func set(_ value: JSONValue) {
        self.become(.value)
        self.value = value
    }

    func append(_ value: JSONValue) { self.elements.append(value) }

    func append(_ node: JSONEncodingNode) {
        self.pending.append((self.elements.count, node))
        self.elements.append(.null)
    }

    /// Appends a member. A repeated key replaces the earlier one when the object is created.
    func append(_ value: JSONValue, key: String) { self.members.append((key, value)) }

    /// Returns the node of a nested container. A second call with a key returns the same node, so
    /// that a subclass can add members to those of its superclass.
    func node(key: String) -> JSONEncodingNode {
        if let known = self.pending.first(where: { UTF8Key.areEqual(self.members[$0.place].key, key) }) { return known.node }
        let node = JSONEncodingNode()
        self.pending.append((self.members.count, node))
        self.members.append((key, .null))
        return node
    }
}
