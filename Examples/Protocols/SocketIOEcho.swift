// The code of the landing page of ApusSocketIOProtocol. `scripts/check-snippets` compares the two.
import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOProtocol

struct SocketIOEcho {
    let parser = SocketIOParser.json
    var decoder = SocketIOParser.json.makeDecoder()

    /// Returns the messages that answer one of the client.
    mutating func received(_ message: EngineIOMessage) throws -> [EngineIOMessage] {
        guard let packet = try self.decoder.packet(of: message) else { return [] }
        var answer = packet
        switch packet.content {
        case .connect: answer.content = .connect(["sid": "a1"])
        case .event(let name, let arguments, nil): answer.content = .event(name: name, arguments: arguments, ackID: nil)
        case .event(_, let arguments, let id?): answer.content = .ack(id: id, arguments: arguments)
        case .disconnect, .ack, .connectError: return []
        }
        return try self.parser.encode(answer)
    }
}
