import ApusFramedProtocol
import NIOCore
import Testing

@Suite struct DelimitedFramesTests {
    private func frames(_ text: String, _ delimiter: Delimiter, step: Int = .max, ends: Bool = true) -> ([String], FramedError.Code?) {
        let result = decodeAll(Array(text.utf8), with: DelimiterDecoder(delimiter: delimiter), step: step, ends: ends)
        return (result.parts.map { String(buffer: $0) }, result.error?.code)
    }

    @Test(arguments: steps)
    func linesAreCut(step: Int) throws {
        #expect(self.frames("one\n\ntwo\r\n", .lineFeed, step: step) == (["one", "", "two\r"], nil))
        #expect(self.frames("a\r\nb\rc\r\r\n\r\n", .carriageReturnLineFeed, step: step) == (["a", "b\rc\r", ""], nil))
        #expect(self.frames("a\0\0", .zero, step: step) == (["a", ""], nil))
        #expect(self.frames("x--boundaryy--boundar--boundary", try Delimiter("--boundary".utf8), step: step) == (["x", "y--boundar"], nil))
    }

    /// Compares the decoder with a naive search, for all texts over two letters and all delimiters
    /// of up to four bytes.
    @Test func noDelimiterIsMissed() throws {
        func words(_ length: Int) -> [[UInt8]] {
            length == 0 ? [[]] : words(length - 1).flatMap { [$0 + [97], $0 + [98]] }
        }
        for delimiter in (1...4).flatMap(words) {
            for text in words(9) {
                var expected: [[UInt8]] = []
                var frame: [UInt8] = []
                for byte in text {
                    frame.append(byte)
                    guard frame.suffix(delimiter.count).elementsEqual(delimiter) else { continue }
                    expected.append(frame.dropLast(delimiter.count))
                    frame = []
                }
                for step in [1, 4, 9] {
                    let result = decodeAll(text, with: DelimiterDecoder(delimiter: try Delimiter(delimiter)), step: step, ends: false)
                    #expect(result.parts.map { Array($0.readableBytesView) } == expected)
                }
            }
        }
    }

    @Test(arguments: steps)
    func theBoundIsCheckedBeforeTheDelimiterComes(step: Int) {
        let decoder = DelimiterDecoder(delimiter: .carriageReturnLineFeed, maximumFrameBytes: 4)
        func result(_ text: String) -> ([ByteBuffer], FramedError.Code?) {
            let result = decodeAll(Array(text.utf8), with: decoder, step: step, ends: false)
            return (result.parts, result.error?.code)
        }
        #expect(result("abcd\r\n") == ([ByteBuffer(string: "abcd")], nil))
        #expect(result("abcd\r") == ([], nil))
        #expect(result("abcd\r\r").1 == .frameTooLarge)
        #expect(result("abcde").1 == .frameTooLarge)
        #expect(result("abcde\r\n").1 == .frameTooLarge)
    }

    @Test func theEndWithoutADelimiterIsAnError() {
        #expect(self.frames("a\nb", .lineFeed) == (["a"], .truncated))
        #expect(self.frames("a\nb", .lineFeed, ends: false) == (["a"], nil))
    }

    @Test func aDelimiterHasBytes() {
        #expect(code { _ = try Delimiter([UInt8]()) } == .invalidUse)
    }

    @Test func aFrameHoldsNoDelimiter() throws {
        func encode(_ frame: String, _ delimiter: Delimiter) throws -> String {
            var buffer = ByteBuffer()
            try DelimiterEncoder(delimiter: delimiter).encode(data: ByteBuffer(string: frame), out: &buffer)
            return String(buffer: buffer)
        }
        #expect(try encode("a", .lineFeed) == "a\n")
        #expect(try encode("", .carriageReturnLineFeed) == "\r\n")
        #expect(try encode("a\r", .carriageReturnLineFeed) == "a\r\r\n")
        #expect(code { _ = try encode("a\nb", .lineFeed) } == .invalidUse)
        #expect(code { _ = try encode("a\n", .lineFeed) } == .invalidUse)
        // The peer would decode "a" and "aa" as "" and "a".
        #expect(code { _ = try encode("a", try Delimiter("aa".utf8)) } == .invalidUse)
    }
}
