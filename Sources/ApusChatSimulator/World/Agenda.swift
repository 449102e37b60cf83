import ApusChatCore
import ApusChatStorage

/// The timers of a run, ordered by time.
final class Agenda {
    enum Entry {
        /// A timer of a device, valid for one connection.
        case device(Int, connection: SocketKey, ClientTimer)
        /// Send the next frame of changed heads to a connection.
        case frame(SocketKey)
        /// Test the storage. Valid until the server restarts.
        case probe(life: Int)
        /// Send the newest positions of quiet logs. Valid until the server restarts.
        case digest(life: Int)
        /// Resume the data transfer of the connections of devices.
        case heal([Int])
        /// Make a device read its connection again.
        case reads(Connection)
        /// Close a connection if it is still stalled.
        case stall(SocketKey)
        /// Check that a connection received the changed positions after a stall. Valid until the
        /// connection stalls again.
        case owed(SocketKey, due: Int64)
        /// Deliver the linked page of a text. Valid until the server restarts.
        case page(life: Int, EventAddress, body: String)
        /// Handle the timer of a call. Valid until the server restarts or starts another timer of
        /// the call.
        case call(life: Int, EventAddress, timer: Int)
    }

    private struct Item {
        let due: Int64
        let order: Int
        let entry: Entry

        func precedes(_ other: Item) -> Bool { (self.due, self.order) < (other.due, other.order) }
    }

    /// A binary heap, whose first item is the earliest.
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

    /// Removes and returns the earliest entry that is due; nil if no entry is due.
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
