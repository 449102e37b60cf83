import ApusFramedProtocol
import ApusJSON
import NIOCore

extension Work {
    static let framed: [Work] = [
        Work("framed: 16 frames of version 2 read") {
            var wire = ByteBuffer()
            for number in 0..<16 {
                try FrameHead(.message, stream: 1, header: ["n": .integer(Int64(number))], bodyLength: 64).write(into: &wire)
                wire.writeRepeatingByte(0x78, count: 64)
            }
            return try Self.parts(wire, count: 48, FrameDecoder())
        },
        Work("framed: 16 frames with a fixed header read") {
            var wire = ByteBuffer()
            for _ in 0..<16 {
                let header = #"{"bodyLenght":64,"type":"text"}"#
                wire.writeString(header + String(repeating: "\0", count: 100 - header.utf8.count))
                wire.writeRepeatingByte(0x78, count: 64)
            }
            return try Self.parts(wire, count: nil, FixedHeaderDecoder(headerLength: 100))
        },
        Work("framed: 16 length-prefixed frames read") {
            var wire = ByteBuffer()
            let encoder = LengthPrefixedEncoder(prefix: .uint32())
            for _ in 0..<16 { try encoder.encode(data: ByteBuffer(repeating: 0x78, count: 64), out: &wire) }
            return try Self.parts(wire, count: 16, LengthPrefixedDecoder(prefix: .uint32()))
        },
        Work("framed: 16 lines read") {
            var wire = ByteBuffer()
            for _ in 0..<16 { wire.writeString(String(repeating: "x", count: 64) + "\n") }
            return try Self.parts(wire, count: 16, DelimiterDecoder(delimiter: .lineFeed))
        },
        Work("CRC32C, 64 KiB") {
            let bytes = [UInt8](repeating: 0x78, count: 64 << 10)
            return { rounds in
                for _ in 0..<rounds {
                    var sum = CRC32C()
                    bytes.withUnsafeBytes { sum.update($0) }
                    use(sum.value)
                }
            }
        },
    ]

    private static func parts<Decoder: NIOSingleStepByteToMessageDecoder>(
        _ wire: ByteBuffer, count: Int?, _ decoder: Decoder
    ) throws -> (Int) throws -> Void {
        var decoder = decoder
        return { rounds in
            for _ in 0..<rounds {
                var bytes = wire
                var found = 0
                while try decoder.decode(buffer: &bytes) != nil { found += 1 }
                guard bytes.readableBytes == 0, found == count ?? found, found > 0 else { throw WorkFailure(message: "\(found) parts") }
            }
        }
    }
}
