import ApusFramedProtocol
import NIOCore
import Testing

@Suite struct FramePrefaceTests {
    private func read(_ bytes: [UInt8], allowsFixedHeader: Bool = false) throws(FramedError) -> (FramePreface.Verdict, left: Int) {
        var buffer = ByteBuffer(bytes: bytes)
        let verdict = try FramePreface.read(&buffer, allowsFixedHeader: allowsFixedHeader)
        return (verdict, buffer.readableBytes)
    }

    @Test func thePrefaceIsConsumedWhenComplete() throws {
        #expect(FramePreface.bytes == Array("APUS".utf8) + [2, 0, 0, 0])
        for count in 0..<8 {
            #expect(try self.read(Array(FramePreface.bytes.prefix(count))) == (.needsMore, count))
        }
        #expect(try self.read(FramePreface.bytes + [7]) == (.version2, 1))
    }

    @Test func oldPeersOpenABrace() throws {
        #expect(try self.read(Array("{\"bodyL".utf8), allowsFixedHeader: true) == (.fixedHeader, 7))
        #expect(try self.read(FramePreface.bytes, allowsFixedHeader: true) == (.version2, 0))
        #expect(code { _ = try self.read([UInt8(ascii: "{")]) } == .unsupportedVersion)
    }

    @Test func anotherProtocolIsDetectedByItsFirstWrongByte() {
        for index in FramePreface.bytes.indices {
            var bytes = Array(FramePreface.bytes.prefix(index + 1))
            bytes[index] ^= 0x40
            #expect(code { _ = try self.read(bytes, allowsFixedHeader: true) } == .unsupportedVersion)
        }
        #expect(code { _ = try self.read(Array("GET /".utf8)) } == .unsupportedVersion)
    }

    @Test func anotherVersionIsNamed() {
        #expect {
            _ = try self.read(Array("APUS".utf8) + [3])
        } throws: { error in
            (error as? FramedError)?.message.contains("version 3") == true
        }
    }
}
