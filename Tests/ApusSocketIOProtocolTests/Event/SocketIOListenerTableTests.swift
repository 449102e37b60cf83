import ApusSocketIOProtocol
import Testing

@Suite struct SocketIOListenerTableTests {
    private typealias Table = SocketIOListenerTable<String, String>

    private func take(_ event: String, from table: inout Table) -> [String] {
        var handlers: [String] = []
        table.take(event)?.forEach { handlers.append($0) }
        return handlers
    }

    @Test func listenersRunInTheOrderAdded() {
        var table = Table()
        #expect(self.take("a", from: &table) == [])
        table.add("1", id: 1, for: "a")
        table.add("2", id: 2, for: "b")
        #expect(self.take("a", from: &table) == ["1"])
        table.add("3", id: 3, for: "a")
        #expect(self.take("a", from: &table) == ["1", "3"])
        #expect(self.take("b", from: &table) == ["2"])
        #expect(table.take("a")?.contains { $0 == "3" } == true)
        #expect(table.take("b")?.contains { $0 == "3" } == false)
    }

    @Test func onceIsForOneEvent() {
        var table = Table()
        table.add("1", id: 1, for: "a", isOnce: true)
        table.add("2", id: 2, for: "a")
        table.add("3", id: 3, for: "a", isOnce: true)
        table.add("4", id: 4, for: "b", isOnce: true)
        #expect(self.take("a", from: &table) == ["1", "2", "3"])
        #expect(self.take("a", from: &table) == ["2"])
        #expect(self.take("b", from: &table) == ["4"])
        #expect(self.take("b", from: &table) == [])
    }

    @Test func aListenerIsRemovedById() {
        var table = Table()
        table.add("1", id: 1, for: "a")
        table.add("2", id: 2, for: "a", isOnce: true)
        table.addAny("3", id: 3, first: false)
        table.addOutgoing({ _, _ in }, id: 4, first: false)
        for id in [1, 3, 4, 99] { table.remove(id: id) }
        #expect(table.any.isEmpty && table.outgoing.isEmpty && !table.hasCatchAllListeners)
        #expect(self.take("a", from: &table) == ["2"])
        table.remove(id: 2)
        #expect(self.take("a", from: &table) == [])
    }

    @Test func allListenersOfAnEventAreRemoved() {
        var table = Table()
        table.add("1", id: 1, for: "a")
        table.add("2", id: 2, for: "a", isOnce: true)
        table.add("3", id: 3, for: "b")
        #expect(table.removeAll(for: "a") == [1, 2])
        #expect(table.removeAll(for: "a") == [])
        // An id that was added with `once` is not remembered.
        table.add("4", id: 2, for: "a")
        #expect(self.take("a", from: &table) == ["4"])
        #expect(self.take("a", from: &table) == ["4"])
        #expect(self.take("b", from: &table) == ["3"])
    }

    @Test func catchAllListenersHaveTwoEnds() {
        var table = Table()
        #expect(!table.hasCatchAllListeners)
        table.addAny("2", id: 2, first: false)
        table.addAny("3", id: 3, first: false)
        table.addAny("1", id: 1, first: true)
        #expect(table.any.map(\.handler) == ["1", "2", "3"])
        table.addOutgoing({ _, _ in }, id: 5, first: false)
        table.addOutgoing({ _, _ in }, id: 4, first: true)
        #expect(table.outgoing.map(\.id) == [4, 5])
        table.removeAllOutgoing()
        #expect(table.outgoing.isEmpty && table.hasCatchAllListeners)
        table.removeAllAny()
        #expect(!table.hasCatchAllListeners)
        table.addMiddleware("check")
        #expect(table.middleware == ["check"] && table.hasCatchAllListeners)
    }

    @Test func allListenersAreRemoved() {
        var table = Table()
        table.add("1", id: 1, for: "a")
        table.add("2", id: 2, for: "b", isOnce: true)
        table.addAny("3", id: 3, first: false)
        #expect(table.removeAll() == [1, 2])
        #expect(table.any.isEmpty)
        #expect(self.take("a", from: &table) == [] && self.take("b", from: &table) == [])
    }
}
