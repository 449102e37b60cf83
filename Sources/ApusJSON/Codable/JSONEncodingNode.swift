/// A value that is being encoded: what a container writes into.
///
/// Members and elements are final values, except those in `pending`, whose containers may still be written to; they are filled in last.
final class JSONEncodingNode {
    private enum Kind { case empty, value, array, object }

    private var kind = Kind.empty
    private var value = JSONValue.null
    private var elements: [JSONValue] = []
    private var members: ContiguousArray<JSONObject.Element> = []
    /// The places in `elements` or `members` whose values come from nodes.
    private var pending: [(place: Int, node: JSONEncodingNode)] = []

    /// The number of elements.
    var count: Int { self.elements.count }

    /// What was encoded; `nil` when nothing was.
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

    /// Asking for a second, different container is a mistake in an `encode(to:)`, not in its data; every encoder stops there.
    private func become(_ kind: Kind) {
        precondition(self.kind == .empty || self.kind == kind, "encode(to:) asked for two different kinds of container")
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

    /// A repeated key replaces, when the object is made.
    func append(_ value: JSONValue, key: String) { self.members.append((key, value)) }

    /// The node of a nested container. Asked for twice, it is the same, so that a subclass may add to what its superclass wrote.
    func node(key: String) -> JSONEncodingNode {
        if let known = self.pending.first(where: { UTF8Key.areEqual(self.members[$0.place].key, key) }) { return known.node }
        let node = JSONEncodingNode()
        self.pending.append((self.members.count, node))
        self.members.append((key, .null))
        return node
    }
}
