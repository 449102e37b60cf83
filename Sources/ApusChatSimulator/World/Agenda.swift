import ApusChatCore

/// The timers of a run, in the order of their times.
final class Agenda {
    enum Entry {
        /// A timer of a device, valid for one connection.
        case device(Int, connection: SocketKey, ClientTimer)
        /// The next frame of changed heads of a connection.
        case frame(SocketKey)
        /// The server tests its storage. Valid for one life of the server.
        case probe(life: Int)
        /// The ends of quiet logs are told. Valid for one life of the server.
        case digest(life: Int)
        /// The connections of devices pass bytes again.
        case heal([Int])
    }

    private struct Item {
        let due: Int64
        let order: Int
        let entry: Entry

        func precedes(_ other: Item) -> Bool { (self.due, self.order) < (other.due, other.order) }
    }

    /// A binary heap, the earliest item first.
    private var items: [Item] = []
    private var order = 0

    var isEmpty: Bool { self.items.isEmpty }
    var firstDue: Int64? { self.items.first?.due }

    func add(_ entry: Entry, at due: Int64) {
        self.order += 1
        self.items.append(Item(due: due, order: self.order, entry: entry))
        var child = self.items.count - 1
        while child > 0, self.items[child].precedes(self.items[(child - 1) / 2]) {
            self.items.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes the earliest entry that is due.
    func next(at time: Int64) -> Entry? {
        guard let first = self.items.first, first.due <= time else { return nil }
        self.items.swapAt(0, self.items.count - 1)
        self.items.removeLast()
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < self.items.count else { break }
            if child + 1 < self.items.count, self.items[child + 1].precedes(self.items[child]) { child += 1 }
            guard self.items[child].precedes(self.items[parent]) else { break }
            self.items.swapAt(child, parent)
            parent = child
        }
        return first.entry
    }
}
