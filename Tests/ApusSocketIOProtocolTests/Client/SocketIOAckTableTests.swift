import ApusSocketIOProtocol
import Testing

@Suite struct SocketIOAckTableTests {
    @Test func everyAckIsRemovedOnce() {
        var table = SocketIOAckTable<String>(maximumCount: 3)
        #expect(table.add("a", wasSent: true) == 0)
        #expect(table.add("b", wasSent: false) == 1)
        #expect(table.add("c", wasSent: true) == 2)
        #expect(table.add("d", wasSent: true) == nil)
        #expect(table.take(2) == "c")
        #expect(table.take(2) == nil)
        #expect(table.take(99) == nil)
        // Ids are not reused.
        #expect(table.add("e", wasSent: true) == 3)
        #expect(table.takeSent() == ["a", "e"])
        table.markSent(1)
        table.markSent(77)
        #expect(table.takeSent() == ["b"])
        _ = table.add("f", wasSent: false)
        #expect(table.takeID() == 5)
        #expect(table[4] == "f")
        #expect(table[5] == nil)
        #expect(table.takeAll() == ["f"])
        #expect(table.count == 0)
    }
}
