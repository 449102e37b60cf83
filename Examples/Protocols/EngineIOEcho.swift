// The code of the landing page of ApusEngineIOProtocol. `scripts/check-snippets` compares the two.
import ApusEngineIOProtocol
import NIOCore

struct EngineIOEcho {
    let codec = EngineIOPacketCodec(version: .v4)

    /// Returns the WebSocket message that answers one of the client.
    func received(_ frame: EngineIOMessage) throws -> EngineIOMessage? {
        switch try self.codec.decode(frame) {
        case .message(let message): self.codec.webSocketFrame(for: .message(message))
        case .ping(let payload): self.codec.webSocketFrame(for: .pong(payload))
        case .close, .open, .pong, .upgrade, .noop: nil
        }
    }

    /// Returns the first WebSocket message of a session.
    func opening(_ id: String) -> EngineIOMessage {
        let handshake = EngineIOHandshake(
            sid: id, upgrades: [], pingInterval: .seconds(25), pingTimeout: .seconds(20), maxPayload: 1_000_000)
        return self.codec.webSocketFrame(for: .open(handshake))
    }
}

func aPollingBody(_ body: ByteBuffer) throws -> ByteBuffer {
    let codec = EngineIOPayloadCodec(version: .v4, maximumPackets: 1000)
    let packets = try codec.decode(EngineIOPayload(bytes: body))
    return codec.encode(packets).bytes
}
