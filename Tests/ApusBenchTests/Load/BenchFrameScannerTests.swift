import Testing

@testable import ApusBench

struct BenchFrameScannerTests {
    private struct Found: Equatable {
        var opcode: UInt8
        var text: String
    }

    /// Passes `bytes` in pieces of a size, as a connection does: bytes not consumed are passed
    /// again.
    private static func scan(_ bytes: [UInt8], piece: Int) -> [Found]? {
        var scanner = BenchFrameScanner()
        var found: [Found] = []
        var held: [UInt8] = []
        var start = 0
        while start < bytes.count {
            held += bytes[start..<min(start + piece, bytes.count)]
            start += piece
            let taken = held.withUnsafeBytes { buffer in
                scanner.scan(buffer) { found.append(Found(opcode: $0, text: String(decoding: $1, as: UTF8.self))) }
            }
            guard let taken else { return nil }
            held.removeFirst(taken)
        }
        return held.isEmpty ? found : nil
    }

    @Test(arguments: [1, 2, 3, 7, 126, 200, 1 << 20])
    func messagesAreFoundInPiecesOfAnySize(piece: Int) {
        let long = [UInt8](repeating: 0x78, count: 300)
        let longest = [UInt8](repeating: 0x79, count: 70_000)
        let bytes: [UInt8] =
            [0x81, 2] + Array("ab".utf8)
            + [0x81, 126, 1, 44] + long
            + [0x01, 2] + Array("cd".utf8) + [0x89, 1, 0x70] + [0x80, 1, 0x65]  // a text in two fragments, a ping between them
            + [0x82, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70] + longest
            + [0x81, 0]
        let shown = String(repeating: "x", count: BenchFrameScanner.shownBytes)
        let found = Self.scan(bytes, piece: piece)
        #expect(
            found == [
                Found(opcode: 1, text: "ab"), Found(opcode: 1, text: shown), Found(opcode: 9, text: "p"), Found(opcode: 1, text: "cde"),
                Found(opcode: 2, text: shown.replacing("x", with: "y")), Found(opcode: 1, text: ""),
            ])
    }

    @Test(
        arguments: [
            [0x81, 0x81, 0, 0, 0, 0, 0x61],  // masked
            [0xc1, 1, 0x61],  // compressed, which was not negotiated
            [0x82, 127, 0xff, 0, 0, 0, 0, 0, 0, 0],  // a length above `Int.max`
        ] as [[UInt8]])
    func invalidFramesAreRefused(bytes: [UInt8]) {
        #expect(Self.scan(bytes, piece: 1 << 20) == nil)
    }
}
