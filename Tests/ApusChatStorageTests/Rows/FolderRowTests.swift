import ApusChatProtocol
import ApusChatStorage
import Testing

/// The slots of folders. A slot is a bit of the rows of members, so a slot that moves to another
/// folder would move the conversations with it.
@Suite struct FolderRowTests {
    /// Creates rows from texts such as `Work 3`.
    private static func rows(_ texts: [String]) -> [FolderRow] {
        texts.map { text in
            let parts = text.split(separator: " ")
            return FolderRow(Folder(name: String(parts[0])), slot: Int(parts[1]) ?? -1)
        }
    }

    private static func text(_ rows: [FolderRow]) -> [String] { rows.map { "\($0.folder.name) \($0.slot)" } }

    @Test(
        arguments: [
            // known, new, arranged, removed slots
            ([], [], [], []),
            ([], ["A", "B"], ["A 0", "B 1"], []),
            (["A 0", "B 1"], ["A", "B"], ["A 0", "B 1"], []),
            (["A 0", "B 1"], ["B", "A"], ["B 1", "A 0"], []),
            (["A 0", "B 1"], ["B"], ["B 1"], [0]),
            (["A 0", "B 1"], [], [], [0, 1]),
            // A new folder takes no slot of a removed one: the rows of members still have its bit.
            (["A 0"], ["B", "C"], ["B 1", "C 2"], [0]),
            (["A 0", "B 1"], ["A", "B", "C"], ["A 0", "B 1", "C 2"], []),
            (["A 2", "B 0"], ["A", "B", "C"], ["A 2", "B 0", "C 1"], []),
            // With the same number of folders, a new name in place of an old one renames the
            // folder.
            (["A 0", "B 1"], ["A", "C"], ["A 0", "C 1"], []),
            (["A 5", "B 1"], ["C", "D"], ["C 5", "D 1"], []),
            (["A 0", "B 1"], ["B", "C"], ["B 1", "C 2"], [0]),
            // Letters of another case are another name.
            (["A 0"], ["a"], ["a 0"], []), (["A 0"], ["a", "b"], ["a 1", "b 2"], [0]),
            // The order distinguishes folders with the same name.
            (["A 0", "A 1"], ["A", "A"], ["A 0", "A 1"], []),
            (["A 0", "A 1"], ["A"], ["A 0"], [1]),
            (["A 3"], ["A", "A"], ["A 3", "A 0"], []),
        ] as [([String], [String], [String], [Int])])
    func foldersKeepTheirSlots(known: [String], new: [String], expected: [String], removed: [Int]) {
        let (rows, mask) = FolderRow.arranged(new.map { Folder(name: $0) }, after: Self.rows(known))
        #expect(Self.text(rows) == expected)
        #expect(mask == removed.reduce(UInt64(0)) { $0 | 1 << UInt64($1) })
    }

    @Test func aFilterIsReplaced() {
        let known = [FolderRow(Folder(name: "A", filter: "unread"), slot: 4)]
        let (rows, removed) = FolderRow.arranged([Folder(name: "A", filter: "groups")], after: known)
        #expect(rows == [FolderRow(Folder(name: "A", filter: "groups"), slot: 4)] && removed == 0)
    }

    @Test(arguments: [(0, 1), (1, 2), (63, 1 << 63), (64, 0), (-1, 0), (.max, 0), (.min, 0)] as [(Int, UInt64)])
    func aSlotIsOneBit(slot: Int, mask: UInt64) { #expect(FolderRow(Folder(name: "A"), slot: slot).mask == mask) }

    /// After 64 slots a folder has none, instead of that of another folder.
    @Test func slotsEnd() {
        let known = (0..<63).map { FolderRow(Folder(name: "\($0)"), slot: $0) }
        let names = known.map(\.folder) + [Folder(name: "last"), Folder(name: "beyond")]
        let (rows, removed) = FolderRow.arranged(names, after: known)
        #expect(rows.map(\.slot) == Array(0...64) && rows.last?.mask == 0 && removed == 0)
    }

    /// After any sequence of changes, no two folders share a bit, and a folder that remains keeps
    /// its bit. The bits of the others are removed or belong to their new names.
    @Test(arguments: 1...20) func noTwoFoldersShareASlot(seed: Int) {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var known: [FolderRow] = []
        for _ in 0..<100 {
            var names = known.map(\.folder.name)
            for _ in 0...random(3) {
                switch random(4) {
                case 0 where !names.isEmpty: names.remove(at: random(names.count))
                case 1 where !names.isEmpty: names[random(names.count)] = "n\(random(30))"
                case 2 where names.count > 1: names.swapAt(random(names.count), random(names.count))
                default: if names.count < ChatLimits.folders { names.append("n\(random(30))") }
                }
            }
            // The server refuses a repeated name.
            var seen: Set<String> = []
            names = names.filter { seen.insert($0).inserted }
            let (rows, removed) = FolderRow.arranged(names.map { Folder(name: $0) }, after: known)
            #expect(rows.map(\.folder.name) == names)
            #expect(Set(rows.map(\.slot)).count == rows.count && rows.allSatisfy { (0..<64).contains($0.slot) })
            for row in rows {
                #expect(row.mask & removed == 0, "the bit of \(row.folder.name) is cleared")
                if let before = known.first(where: { $0.folder.name == row.folder.name }) { #expect(row.slot == before.slot) }
            }
            let (before, now) = (known.reduce(UInt64(0)) { $0 | $1.mask }, rows.reduce(UInt64(0)) { $0 | $1.mask })
            #expect(before & ~now == removed)
            known = rows
        }
    }
}
