import Testing

@testable import ApusChatTerminal

@Suite("Keys of a terminal")
struct KeyReaderTests {
    private static let escape = "\u{1B}"

    /// The sequences of xterm, rxvt, the console of Linux, and a terminal in application mode.
    private static let sequences: [(String, [Key])] = [
        ("\u{1}", [.control("a")]), ("\u{4}", [.control("d")]), ("\u{11}", [.control("q")]), ("\u{1A}", [.control("z")]),
        ("\u{8}", [.backspace]), ("\u{7F}", [.backspace]), ("\t", [.tab]), ("\r", [.enter]), ("\n", [.newline]),
        ("\u{1B}\r", [.newline]), ("\u{1B}\n", [.newline]), ("\u{1B}\u{7F}", [.control("w")]),
        ("\u{1B}b", [.alt("b")]), ("\u{1B}d", [.alt("d")]), ("\u{1B}f", [.alt("f")]),
        ("\u{1B}[A", [.up]), ("\u{1B}OA", [.up]), ("\u{1B}[B", [.down]), ("\u{1B}OB", [.down]), ("\u{1B}[C", [.right]),
        ("\u{1B}OC", [.right]), ("\u{1B}[D", [.left]), ("\u{1B}OD", [.left]), ("\u{1B}[1;5A", [.markUp]), ("\u{1B}[1;3A", [.markUp]),
        ("\u{1B}[1;5B", [.markDown]), ("\u{1B}[1;3B", [.markDown]), ("\u{1B}[1;5C", [.wordRight]), ("\u{1B}[1;3C", [.wordRight]),
        ("\u{1B}[1;5D", [.wordLeft]), ("\u{1B}[1;3D", [.wordLeft]), ("\u{1B}[1;2A", [.up]), ("\u{1B}[H", [.home]), ("\u{1B}OH", [.home]),
        ("\u{1B}[1~", [.home]), ("\u{1B}[7~", [.home]), ("\u{1B}[F", [.end]), ("\u{1B}OF", [.end]), ("\u{1B}[4~", [.end]),
        ("\u{1B}[8~", [.end]), ("\u{1B}[3~", [.delete]), ("\u{1B}[5~", [.pageUp]), ("\u{1B}[6~", [.pageDown]), ("\u{1B}[Z", [.backTab]),
        ("\u{1B}OP", [.function(1)]), ("\u{1B}OS", [.function(4)]), ("\u{1B}[11~", [.function(1)]), ("\u{1B}[15~", [.function(5)]),
        ("\u{1B}[[A", [.function(1)]), ("\u{1B}[[E", [.function(5)]),
        ("a", [.character("a")]), ("~", [.character("~")]), ("é", [.character("é")]), ("你", [.character("你")]), ("👍", [.character("👍")]),
        // Unused keys and replies of a terminal are ignored.
        ("\u{1B}[2~", []), ("\u{1B}[24~", []), ("\u{1B}[I", []), ("\u{1B}[O", []), ("\u{1B}[?62;22c", []), ("\u{1B}[12;40R", []),
        ("\u{1B}[[F", []), ("\u{1B}[201~", []), ("\u{0}", []), ("\u{1C}", []), ("\u{1F}", []),
    ]

    @Test(arguments: Self.sequences)
    func aSequenceIsItsKey(sequence: String, keys: [Key]) {
        var reader = KeyReader()
        #expect(reader.read(Array((sequence + "x").utf8)) == keys + [.character("x")])
        #expect(reader.flush().isEmpty)
    }

    /// A sequence may arrive in two pieces or byte by byte.
    @Test(arguments: Self.sequences)
    func aSequenceMayArriveInPieces(sequence: String, keys: [Key]) {
        let bytes = Array(sequence.utf8)
        for cut in bytes.indices {
            var reader = KeyReader()
            var read = reader.read(bytes[..<cut])
            read += reader.read(bytes[cut...])
            #expect(read == keys, "cut at \(cut)")
        }
        var reader = KeyReader()
        #expect(bytes.flatMap { reader.read([$0]) } == keys)
    }

    @Test(arguments: [
        ("\u{1B}", [Key.escape]), ("", []), ("a", []), ("\u{1B}[", []), ("\u{1B}[1;5", []), ("\u{1B}O", []),
    ])
    func aLoneEscapeIsAKeyOnceNothingFollows(bytes: String, keys: [Key]) {
        var reader = KeyReader()
        _ = reader.read(Array(bytes.utf8))
        #expect(reader.flush() == keys)
    }

    @Test func escapeIsAKeyBeforeAnotherOne() {
        var reader = KeyReader()
        #expect(reader.read(Array("\u{1B}\u{1B}[A".utf8)) == [.escape, .up])
        #expect(reader.read(Array("\u{1B}x".utf8)) == [.escape, .character("x")])
        #expect(reader.read(Array("\u{1B}é".utf8)) == [.escape, .character("é")])
        #expect(reader.read(Array("\u{1B}\u{1B}".utf8)) == [.escape])
        #expect(reader.flush() == [.escape])
        #expect(reader.flush() == [])
    }

    /// A byte that does not continue a sequence ends it, and is read as a key.
    @Test(arguments: [
        ("\u{1B}[1\u{7F}a", [Key.backspace, .character("a")]), ("\u{1B}[\r", [.enter]), ("\u{1B}[1;\u{3}", [.control("c")]),
        ("\u{1B}[5\u{1B}[6~", [.pageDown]), ("\u{1B}O你", [.character("你")]),
    ])
    func aBrokenSequenceEatsNoOtherKey(bytes: String, keys: [Key]) {
        var reader = KeyReader()
        #expect(reader.read(Array(bytes.utf8)) == keys)
    }

    @Test(
        arguments: [
            ([0x80, 0x61], [Key.character("\u{FFFD}"), .character("a")]),
            ([0xC0, 0x61], [.character("\u{FFFD}"), .character("a")]),
            ([0xF5, 0x61], [.character("\u{FFFD}"), .character("a")]),
            ([0xE4, 0xBD, 0x61], [.character("\u{FFFD}"), .character("a")]),
            ([0xE4, 0x61], [.character("\u{FFFD}"), .character("a")]),
            ([0xF0, 0x9F, 0x91, 0x0D], [.character("\u{FFFD}"), .enter]),
            // A surrogate, an overlong form, and a value above U+10FFFF.
            ([0xED, 0xA0, 0x80], [.character("\u{FFFD}")]),
            ([0xE0, 0x80, 0x80], [.character("\u{FFFD}")]),
            ([0xF4, 0x90, 0x80, 0x80], [.character("\u{FFFD}")]),
        ] as [([UInt8], [Key])])
    func invalidUTF8IsReplaced(bytes: [UInt8], keys: [Key]) {
        var reader = KeyReader()
        #expect(reader.read(bytes) == keys)
    }

    @Test func anEndlessSequenceIsDropped() {
        var reader = KeyReader()
        #expect(reader.read(Array("\u{1B}[".utf8) + Array(repeating: UInt8(ascii: "1"), count: 10_000)) == [])
        #expect(reader.read(Array("a".utf8)) == [.character("a")])
    }

    // MARK: Paste

    @Test func theMarksOfAPasteMayBeCutAnywhere() {
        let bytes = Array("x\u{1B}[200~one\r\ntwo\rthree\n你\u{1B}[201~y".utf8)
        for cut in bytes.indices {
            var reader = KeyReader()
            let keys = reader.read(bytes[..<cut]) + reader.flush() + reader.read(bytes[cut...])
            // An escape byte at the end of a piece cannot be distinguished from the Escape key.
            if cut == 2 { continue }
            #expect(keys == [.character("x"), .paste("one\ntwo\nthree\n你"), .character("y")], "cut at \(cut)")
        }
    }

    @Test func keysInsideOfAPasteAreText() {
        var reader = KeyReader()
        let text = "\u{1B}[A\u{3}\u{1B}[200~q"
        #expect(reader.read(Array("\u{1B}[200~\(text)\u{1B}[201~".utf8)) == [.paste(text)])
        #expect(reader.read(Array("\u{1B}[200~\u{1B}[201~".utf8)) == [.paste("")])
    }

    @Test func anEscapeInAnUnfinishedPasteIsNotAKey() {
        var reader = KeyReader()
        #expect(reader.read(Array("\u{1B}[200~\u{1B}".utf8)) == [])
        #expect(reader.flush() == [])
        #expect(reader.read(Array("a\u{1B}[201~".utf8)) == [.paste("\u{1B}a")])
    }

    @Test func aLongPasteKeepsItsStart() {
        var reader = KeyReader()
        var keys: [Key] = []
        keys += reader.read(Array("\u{1B}[200~start".utf8))
        for _ in 0..<40 { keys += reader.read([UInt8](repeating: 0x61, count: 5_000)) }
        keys += reader.read(Array("\u{1B}[201~z".utf8))
        guard case .paste(let text)? = keys.first, keys.count == 2 else {
            Issue.record("not a paste and a key: \(keys.count) keys")
            return
        }
        #expect(text.hasPrefix("starta") && text.utf8.count <= 65_536 && keys.last == .character("z"))
    }

    // MARK: Any bytes

    @Test func anyByteAloneIsReadOrKept() {
        for byte in UInt8.min...UInt8.max {
            var reader = KeyReader()
            let keys = reader.read([byte]) + reader.flush()
            #expect(keys.count <= 1)
            // At most the first later key is read as part of a sequence with the byte.
            #expect(reader.read(Array("\r\r".utf8)).last == .enter)
        }
    }

    @Test(arguments: 0..<40)
    func anyBytesInAnyPiecesAreTheSameKeys(seed: Int) {
        var generator = SeededGenerator(seed)
        let pieces: [[UInt8]] = [
            Array("\u{1B}[".utf8), Array("\u{1B}".utf8), Array("1;5".utf8), Array("A".utf8), Array("~".utf8), Array("你👍é".utf8),
            [0xFF], [0xE4], [0x80], [0x0D], [0x7F], Array("\u{1B}[200~".utf8), Array("\u{1B}[201~".utf8), Array("[".utf8), [0x00],
        ]
        var bytes: [UInt8] = []
        for _ in 0..<60 { bytes += generator.pick(pieces) }
        bytes += Array("\u{1B}[201~".utf8)
        var whole = KeyReader()
        let expected = whole.read(bytes)
        var parts = KeyReader()
        var keys: [Key] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = min(rest.count, Int.random(in: 1...4, using: &generator))
            keys += parts.read(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        #expect(keys == expected)
    }
}
