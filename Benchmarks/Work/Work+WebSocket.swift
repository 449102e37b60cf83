import ApusBytes
import ApusWebSocketProtocol
import NIOCore

extension Work {
    static let webSocket: [Work] = [
        Work("WebSocket frames decoded, 16 of 64 B in a read") { try Self.decoding(size: 64, count: 16) },
        Work("WebSocket frame decoded, 1 KiB") { try Self.decoding(size: 1024, count: 1) },
        Work("WebSocket frame decoded, 64 KiB") { try Self.decoding(size: 64 << 10, count: 1) },
        Work("WebSocket frames encoded, 16 of 64 B in a buffer") {
            let frame = WebSocketFrame(opcode: .text, payload: ByteBuffer(repeating: 0x78, count: 64))
            return { rounds in
                for _ in 0..<rounds {
                    var buffer = ByteBuffer()
                    for _ in 0..<16 { WebSocketFrameEncoder.write(frame, maskingKey: nil, into: &buffer) }
                    use(buffer)
                }
            }
        },
        Work("WebSocket mask, 64 KiB") {
            let key = WebSocketMaskingKey(word: 0x3d21_fa37)
            var buffer = ByteBuffer(repeating: 0x78, count: 64 << 10)
            return { rounds in for _ in 0..<rounds { buffer.withUnsafeMutableReadableBytes { key.apply(to: $0) } } }
        },
        Work("WebSocket machine, a text of 64 B received") {
            var machine = WebSocketConnectionStateMachine(limits: WebSocketLimits())
            let frame = WebSocketFrame(opcode: .text, payload: ByteBuffer(repeating: 0x78, count: 64))
            return { rounds in for _ in 0..<rounds { use(machine.receivedFrame(frame)) } }
        },
        Work("permessage-deflate, 1 KiB compressed") {
            let deflater = try WebSocketDeflater(Self.agreement(.client))
            let text = Self.text(bytes: 1024)
            return { rounds in
                for _ in 0..<rounds {
                    var output = ByteBuffer()
                    try deflater.deflate(text, isLast: true, into: &output)
                    use(output)
                }
            }
        },
        Work("permessage-deflate, 1 KiB decompressed") {
            var compressed = ByteBuffer()
            try WebSocketDeflater(Self.agreement(.client)).deflate(Self.text(bytes: 1024), isLast: true, into: &compressed)
            let inflater = try WebSocketInflater(Self.agreement(.server))
            return { rounds in
                for _ in 0..<rounds {
                    var output = ByteBuffer()
                    try inflater.inflate(compressed, isLast: true, into: &output, maximumBytes: 1 << 20)
                    use(output)
                }
            }
        },
        Work("UTF-8 checked, 1 KiB of ASCII") {
            let text = ByteBuffer(repeating: 0x78, count: 1024)
            return { rounds in for _ in 0..<rounds { use(UTF8StreamValidator.isValid(text)) } }
        },
        Work("UTF-8 checked, 1 KiB of Chinese") {
            let text = ByteBuffer(string: String(repeating: "在吗雨燕", count: 86))
            return { rounds in for _ in 0..<rounds { use(UTF8StreamValidator.isValid(text)) } }
        },
    ]

    private static func agreement(_ role: WebSocketRole) -> WebSocketDeflateAgreement {
        WebSocketDeflateAgreement(role: role, parameters: WebSocketDeflateParameters(), configuration: WebSocketDeflateConfiguration())
    }

    /// Returns a moderately compressible text.
    static func text(bytes: Int) -> ByteBuffer {
        var text = ""
        var number = 1
        while text.utf8.count < bytes {
            number = number * 48_271 % 2_147_483_647
            text += "swift \(number % 1000) flies, "
        }
        return ByteBuffer(string: String(text.prefix(bytes)))
    }

    private static func decoding(size: Int, count: Int) throws -> (Int) throws -> Void {
        var wire = ByteBuffer()
        for _ in 0..<count {
            let frame = WebSocketFrame(opcode: .binary, payload: ByteBuffer(repeating: 0x78, count: size))
            WebSocketFrameEncoder.write(frame, maskingKey: WebSocketMaskingKey(word: 0x3d21_fa37), into: &wire)
        }
        let bytes = Array(wire.readableBytesView)
        var decoder = WebSocketFrameDecoder(role: .server, limits: WebSocketLimits())
        var space = DecodeScratch()
        return { rounds in
            for _ in 0..<rounds {
                var read = ByteBuffer(bytes: bytes)  // a separate buffer, as after a read
                if let failure = decoder.decode(&read, using: &space) { throw failure }
                var frames = space.takeBatch()
                var found = 0
                while frames.next() != nil { found += 1 }
                space.giveBack(&frames)
                guard found == count else { throw WorkFailure(message: "\(found) frames") }
            }
        }
    }
}
