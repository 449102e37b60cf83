import ApusSocketIOProtocol
import Testing

/// Whatever is put in and taken out, it is what a set would be.
@Suite struct SocketIONamesTests {
    @Test func theSameAsASet() {
        var names = SocketIONames()
        var set: Set<String> = []
        var generator = SplitMix(state: 7)
        for _ in 0..<2000 {
            let name = String(UInt8.random(in: 0..<4, using: &generator))
            if Bool.random(using: &generator) {
                #expect(names.insert(name) == set.insert(name).inserted)
            } else {
                #expect(names.remove(name) == (set.remove(name) != nil))
            }
            #expect(names.set == set && names.count == set.count && names.isEmpty == set.isEmpty)
            #expect(names.sorted() == set.sorted())
        }
    }

    @Test func ofASet() {
        #expect(SocketIONames(["a", "b"]).sorted() == ["a", "b"])
        #expect(SocketIONames([]).isEmpty)
    }

    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            self.state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = self.state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
