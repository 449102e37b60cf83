// The code of the landing page of ApusEngineIOProtocol. `scripts/check-snippets` compares the two.
import ApusEngineIOProtocol
import NIOCore

struct EngineIOEcho {
    var endpoint: EngineIOEndpoint

    init(id: String, at now: Duration) {
        self.endpoint = .server(
            EngineIOHandshake(
                sid: id, upgrades: [], pingInterval: .seconds(25), pingTimeout: .seconds(20), maxPayload: 1_000_000),
            at: now)
    }

    /// Returns the WebSocket messages to send after one of the client.
    mutating func received(_ frame: EngineIOMessage, at now: Duration) -> [EngineIOMessage] {
        if case .message(let message) = self.endpoint.receive(frame, at: now) { self.endpoint.send(message) }
        return self.endpoint.takeOutput()
    }

    /// Returns the WebSocket messages to send when `endpoint.deadline` has passed.
    mutating func timerFired(at now: Duration) -> [EngineIOMessage] {
        if case .ended(let error) = self.endpoint.timerFired(at: now) { print(error) }
        return self.endpoint.takeOutput()
    }
}

func aPollingBody(_ body: ByteBuffer) throws -> ByteBuffer {
    let codec = EngineIOPayloadCodec(version: .v4, maximumPackets: 1000)
    let packets = try codec.decode(EngineIOPayload(bytes: body))
    return codec.encode(packets).bytes
}
