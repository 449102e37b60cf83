// The code of the landing page of ApusSocketIOProtocol. `scripts/check-snippets` compares the two.
import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOProtocol

struct SocketIOEcho {
    var endpoint: SocketIOEndpoint

    init(id: String, at now: Duration) {
        self.endpoint = .server(
            EngineIOHandshake(
                sid: id, upgrades: [], pingInterval: .seconds(25), pingTimeout: .seconds(20), maxPayload: 1_000_000),
            at: now)
    }

    /// Returns the WebSocket messages to send after one of the client.
    mutating func received(_ frame: EngineIOMessage, at now: Duration) throws -> [EngineIOMessage] {
        for event in self.endpoint.receive(frame, at: now) {
            switch event {
            case .requested(let namespace, _): try self.endpoint.accept(namespace, id: "a1")
            case .event(let namespace, let name, let arguments, nil):
                try self.endpoint.emit(name, arguments, in: namespace)
            case .event(let namespace, _, let arguments, let id?):
                try self.endpoint.acknowledge(id, arguments, in: namespace)
            case .ended(let error): print(error)
            case .opened, .connected, .refused, .acknowledged, .disconnected: break
            }
        }
        return self.endpoint.takeOutput()
    }
}

func singlePackets(_ event: SocketIOPacket) throws -> [EngineIOMessage] {
    let parser = SocketIOParser.json
    var decoder = parser.makeDecoder()
    let messages = try parser.encode(event)
    for message in messages {
        if let packet = try decoder.received(message) { print(packet.namespace) }
    }
    return messages
}
