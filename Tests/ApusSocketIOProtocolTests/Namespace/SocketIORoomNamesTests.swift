import ApusSeededRandom
import ApusSocketIOProtocol
import Testing

/// Compares the type with a `Set` over random insertions and removals.
@Suite struct SocketIORoomNamesTests {
    @Test func theSameAsASet() {
        var names = SocketIORoomNames()
        var set: Set<String> = []
        var generator = SplitMix64(state: 7)
        for _ in 0..<2000 {
            let name = String(UInt8.random(in: 0..<4, using: &generator))
            if Bool.random(using: &generator) {
                #expect(names.insert(name) == set.insert(name).inserted)
            } else {
                #expect(names.remove(name) == (set.remove(name) != nil))
            }
            #expect(names.count == set.count && names.isEmpty == set.isEmpty)
            #expect(names.sorted() == set.sorted())
        }
    }

    @Test func ofASet() {
        #expect(SocketIORoomNames(["a", "b"]).sorted() == ["a", "b"])
        #expect(SocketIORoomNames([]).isEmpty)
    }

    /// Canonically equivalent names are different rooms: `é` as one and as two scalars, `K` and the
    /// Kelvin sign, `;` and the Greek question mark.
    @Test(arguments: [("\u{e9}", "e\u{301}"), ("K", "\u{212A}"), (";", "\u{37E}"), ("\u{AC00}", "\u{1100}\u{1161}")])
    func comparesByBytes(one: String, other: String) {
        #expect(one == other)
        var names: SocketIORoomNames = [one]
        #expect(!names.contains(other) && names != [other])
        let isNew = names.insert(other)
        #expect(isNew)
        #expect(names.count == 2 && names.contains(one) && names.contains(other))
        #expect(names.isDisjoint(with: ["x"]) && !names.isDisjoint(with: [other]))
        names.subtract([one])
        #expect(names == [other] && names != [one])
        #expect(SocketIORoomNames([one, other]).hashValue == SocketIORoomNames([other, one]).hashValue)
    }
}
