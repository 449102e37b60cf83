import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOProtocol
import NIOCore

extension Work {
    private static let text = SocketIOValue.string(String(repeating: "x", count: 64))

    static let socketIO: [Work] = [
        Work("Socket.IO packet read, an event with 64 B") { try Self.packetRead(.json, [Self.text]) },
        Work("Socket.IO packet written, an event with 64 B") { Self.packetWritten(.json, [Self.text]) },
        Work("Socket.IO packet read, an event with an attachment") {
            try Self.packetRead(.json, [.binary(Array(repeating: 0x78, count: 64))])
        },
        Work("Socket.IO packet written, an event with an attachment") {
            Self.packetWritten(.json, [.binary(Array(repeating: 0x78, count: 64))])
        },
        Work("MessagePack packet read, an event with 64 B") { try Self.packetRead(.messagePack, [Self.text]) },
        Work("MessagePack packet written, an event with 64 B") { Self.packetWritten(.messagePack, [Self.text]) },
    ]

    private static func packetRead(_ parser: SocketIOParser, _ arguments: [SocketIOValue]) throws -> (Int) throws -> Void {
        let messages = try parser.encode(SocketIOPacket(content: .event(name: "echo", arguments: SocketIOPayload(arguments), ackID: nil)))
        var decoder = parser.makeDecoder()
        return { rounds in
            for _ in 0..<rounds {
                var isComplete = false
                for message in messages { isComplete = try decoder.received(message) != nil }
                guard isComplete else { throw WorkFailure(message: "no packet") }
            }
        }
    }

    private static func packetWritten(_ parser: SocketIOParser, _ arguments: [SocketIOValue]) -> (Int) throws -> Void {
        let packet = SocketIOPacket(content: .event(name: "echo", arguments: SocketIOPayload(arguments), ackID: nil))
        return { rounds in for _ in 0..<rounds { use(try parser.encode(packet)) } }
    }
}
