// A custom parser that encodes a packet as one JSON text with binary data in base64, like the
// example in the JavaScript documentation.
import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import ApusSocketIOServer
import NIOCore

struct OneTextParser: SocketIOPacketParser {
    struct UnknownPacket: Error {}

    func encode(_ packet: SocketIOPacket) throws -> [EngineIOMessage] {
        var object: JSONObject = ["nsp": .string(packet.namespace)]
        switch packet.content {
        case .connect(let auth): (object["type"], object["data"]) = (0, auth)
        case .disconnect: object["type"] = 1
        case .event(let name, let arguments, let ackID):
            (object["type"], object["data"]) = (2, .array([.string(name)] + arguments.arguments))
            object["id"] = ackID.map { SocketIOValue($0) }
        case .ack(let id, let arguments):
            (object["type"], object["data"], object["id"]) = (3, .array(arguments.arguments), SocketIOValue(id))
        case .connectError(let reason): (object["type"], object["data"]) = (4, reason)
        }
        return [.text(ByteBuffer(bytes: try JSONWriter.bytes(of: .object(object), binary: .base64)))]
    }

    func makeDecoder() -> Decoder { Decoder() }

    struct Decoder: SocketIOPacketDecoder {
        mutating func received(_ message: EngineIOMessage) throws -> SocketIOPacket? {
            guard case .text(let text) = message else { throw UnknownPacket() }
            let object = try JSONReader.read(text.readableBytesView)
            let data = object["data"]
            let arguments = data?.arrayValue ?? []
            let id = object["id"]?.intValue
            guard let namespace = object["nsp"]?.stringValue else { throw UnknownPacket() }
            switch (object["type"]?.intValue, arguments.first?.stringValue, id) {
            case (0, _, _): return SocketIOPacket(namespace: namespace, content: .connect(data))
            case (1, _, _): return SocketIOPacket(namespace: namespace, content: .disconnect)
            case (2, let name?, _):
                let content = SocketIOPacket.Content.event(name: name, arguments: SocketIOPayload(Array(arguments.dropFirst())), ackID: id)
                return SocketIOPacket(namespace: namespace, content: content)
            case (3, _, let id?): return SocketIOPacket(namespace: namespace, content: .ack(id: id, arguments: SocketIOPayload(arguments)))
            case (4, _, _): return SocketIOPacket(namespace: namespace, content: .connectError(data ?? .null))
            default: throw UnknownPacket()
            }
        }
    }
}

func useTheSameParserOnBothSides() {
    var server = SocketIOServerConfiguration()
    server.parser = .custom(OneTextParser())
    var client = SocketIOManagerConfiguration()
    client.parser = .custom(OneTextParser())
    _ = (SocketIOServer(configuration: server), SocketIOManager(url: "https://example.com", configuration: client))
}
