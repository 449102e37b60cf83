import ApusFramedProtocol
import ApusJSON
import NIOCore
import Testing

@Suite struct FixedHeaderDecoderTests {
    private func bytes(_ messages: [(fields: JSONObject, body: [UInt8])]) throws -> [UInt8] {
        try messages.flatMap { message in
            try Array(FixedHeader(fields: message.fields, bodyLength: message.body.count).encoded(headerLength: 40).readableBytesView)
                + message.body
        }
    }

    @Test(arguments: steps)
    func messagesArriveInParts(step: Int) throws {
        let bytes = try self.bytes([(["a": 1], Array("hello".utf8)), ([:], []), (["b": true], [0, 0x7B])])
        let result = decodeAll(bytes, with: try FixedHeaderDecoder(headerLength: 40), step: step)
        #expect(result.error == nil)
        #expect(
            joined(result.parts) == [
                .head(try FixedHeader(fields: ["a": 1], bodyLength: 5)), .body(ByteBuffer(string: "hello")), .end,
                .head(try FixedHeader(bodyLength: 0)), .end,
                .head(try FixedHeader(fields: ["b": true], bodyLength: 2)), .body(ByteBuffer(bytes: [0, 0x7B])), .end,
            ])
    }

    @Test func theHeadComesBeforeTheBody() throws {
        var decoder = try FixedHeaderDecoder(headerLength: 40)
        let header = try FixedHeader(bodyLength: 200 << 20)
        var buffer = try header.encoded(headerLength: 40)
        #expect(try decoder.decode(buffer: &buffer) == .head(header))
        #expect(try decoder.decode(buffer: &buffer) == nil)
        buffer.writeInteger(UInt8(7))
        #expect(try decoder.decode(buffer: &buffer) == .body(ByteBuffer(bytes: [7])))
        #expect(buffer.readableBytes == 0)
    }

    @Test func theEndWithinAMessageIsAnError() throws {
        let bytes = try self.bytes([(["a": 1], Array("hello".utf8))])
        let decoder = try FixedHeaderDecoder(headerLength: 40)
        #expect(decodeAll(bytes, with: decoder).error == nil)
        for count in 1..<bytes.count {
            #expect(decodeAll(Array(bytes.prefix(count)), with: decoder).error?.code == .truncated)
            #expect(decodeAll(Array(bytes.prefix(count)), with: decoder, ends: false).error == nil)
        }
        #expect(decodeAll([], with: decoder).error == nil)
    }

    @Test func nothingComesAfterAnError() throws {
        var decoder = try FixedHeaderDecoder(headerLength: 40)
        var buffer = ByteBuffer(repeating: 0, count: 40)
        #expect(code { _ = try decoder.decode(buffer: &buffer) } == .malformedHeader)
        buffer = try FixedHeader(bodyLength: 0).encoded(headerLength: 40)
        #expect(code { _ = try decoder.decode(buffer: &buffer) } == .malformedHeader)
        #expect(code { _ = try decoder.decodeLast(buffer: &buffer, seenEOF: true) } == .malformedHeader)
    }

    @Test func theLengthOfTheHeaderIsChecked() {
        #expect(code { _ = try FixedHeaderDecoder(headerLength: 15) } == .invalidUse)
        #expect(code { _ = try FixedHeaderDecoder(headerLength: 65537) } == .invalidUse)
    }
}
