import ApusBytes
import NIOCore
import Testing

@Suite struct Base64Tests {
    /// RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func vectorsOfTheRFC(plain: String, encoded: String) {
        var buffer = ByteBuffer()
        Base64.encode(ByteBuffer(string: plain), into: &buffer)
        #expect(String(buffer: buffer) == encoded)
        #expect(Base64.decode(ByteBuffer(string: encoded)) == ByteBuffer(string: plain))
        #expect(Array(plain.utf8).withUnsafeBytes { Base64.encode($0) } == encoded)
    }

    @Test func everyLengthAndEveryByteRoundTrips() {
        for count in 0...300 {
            let bytes = ByteBuffer(bytes: (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) })
            var encoded = ByteBuffer()
            Base64.encode(bytes, into: &encoded)
            #expect(encoded.readableBytes == Base64.encodedLength(of: count))
            #expect(Base64.decode(encoded) == bytes)
        }
    }

    @Test(arguments: ["A", "AA", "AAA", "AA=", "A===", "====", "AA=A", "AB==", "AAB=", "AA==AAAA", "AA-_", "AA\n=", "AAA\u{80}", "AAAA="])
    func nonCanonicalTextIsRefused(text: String) {
        #expect(Base64.decode(ByteBuffer(string: text)) == nil)
    }
}
