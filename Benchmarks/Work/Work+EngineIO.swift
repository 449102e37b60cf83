import ApusEngineIOProtocol
import NIOCore

extension Work {
    private static let event = ByteBuffer(string: "2[\"echo\",\"\(String(repeating: "x", count: 64))\"]")

    static let engineIO: [Work] = [
        Work("Engine.IO packet read, a message of 64 B") {
            let codec = EngineIOPacketCodec(version: .v4)
            var text = ByteBuffer()
            codec.encodeText(.message(.text(Self.event)), into: &text)
            return { rounds in for _ in 0..<rounds { use(try codec.decode(.text(text))) } }
        },
        Work("Engine.IO packet written, a message of 64 B") {
            let codec = EngineIOPacketCodec(version: .v4)
            let packet = EngineIOPacket.message(.text(Self.event))
            return { rounds in for _ in 0..<rounds { use(codec.webSocketFrame(for: packet)) } }
        },
        Work("Engine.IO payload read, 16 messages") { try Self.payloadRead(.v4) },
        Work("Engine.IO payload written, 16 messages") { Self.payloadWritten(.v4) },
        Work("Engine.IO 3 payload read, 16 messages") { try Self.payloadRead(.v3) },
        Work("Engine.IO 3 payload written, 16 messages") { Self.payloadWritten(.v3) },
    ]

    private static let packets = Array(repeating: EngineIOPacket.message(.text(Self.event)), count: 16)

    private static func payloadRead(_ version: EngineIOVersion) throws -> (Int) throws -> Void {
        let codec = EngineIOPayloadCodec(version: version, maximumPackets: 1000)
        let payload = codec.encode(Self.packets)
        return { rounds in for _ in 0..<rounds { use(try codec.decode(payload)) } }
    }

    private static func payloadWritten(_ version: EngineIOVersion) -> (Int) throws -> Void {
        let codec = EngineIOPayloadCodec(version: version, maximumPackets: 1000)
        return { rounds in for _ in 0..<rounds { use(codec.encode(Self.packets)) } }
    }
}
