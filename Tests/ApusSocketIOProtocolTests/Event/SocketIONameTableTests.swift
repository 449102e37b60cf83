import ApusSocketIOProtocol
import Testing

@Suite struct SocketIONameTableTests {
    @Test(arguments: [1, 15, 16, 17, 18, 40]) func findsStoredValues(count: Int) {
        var table = SocketIONameTable<Int>()
        for number in 0..<count { table["event \(number)"] = number }
        #expect(table.names.count == count)
        for number in 0..<count { #expect(table["event \(number)"] == number) }
        #expect(table["event \(count)"] == nil)
        table["event 0"] = -1
        #expect(table["event 0"] == -1)
        #expect(table.names.count == count)
    }

    @Test(arguments: [0, 40]) func namesOfOtherBytesAreOtherNames(others: Int) {
        var table = SocketIONameTable<Int>()
        for number in 0..<others { table["event \(number)"] = number }
        table["\u{e9}"] = 1
        table["K"] = 2
        #expect(table["e\u{301}"] == nil && table["\u{212A}"] == nil)
        table["e\u{301}"] = 3
        #expect(table["\u{e9}"] == 1 && table["e\u{301}"] == 3 && table["K"] == 2)
    }

    /// Removes names until the lookup changes from hashing to a search.
    @Test func removedNamesAreNotFound() {
        var table = SocketIONameTable<Int>()
        for number in 0..<20 { table["\(number)"] = number }
        for number in 0..<20 {
            table["\(number)"] = nil
            table["\(number)"] = nil
            #expect(table["\(number)"] == nil)
            for later in number + 1..<20 { #expect(table["\(later)"] == later) }
        }
        #expect(table.names.isEmpty)
    }
}
