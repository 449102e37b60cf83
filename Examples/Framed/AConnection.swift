// The code of ApusFramedSocket's overview page. `scripts/check-snippets` compares the two.
import ApusFramedProtocol
import ApusFramedSocket
import ApusJSON
import NIOCore

func serveFrames() async throws {
    let server = FramedServer(configuration: .init(framing: .either())) { connection in
        for try await message in connection.messages {
            try await connection.send(message.body, bodyLength: message.bodyLength, header: message.header)
        }
    }
    try await server.run(host: "127.0.0.1", port: 8080)
}

func talkInFrames() async throws {
    let connection = try await FramedClient.connect(host: "127.0.0.1", port: 8080)
    try await connection.send(ByteBuffer(string: "hello"), header: ["kind": "greeting"]) { print($0.fraction) }
    for try await message in connection.messages {
        print(message.header, try await message.body.collect())
    }
}

func receiveFiles() throws -> FramedServerConfiguration {
    var configuration = FramedServerConfiguration()
    configuration.connection.receiving = FileReceiving(into: try ReceivingFolder(path: "/srv/inbox")) { event in print(event) }
    return configuration
}

func sendFile(over connection: FramedConnection) async throws {
    try await connection.send(file: "photo.jpg", as: "album/photo.jpg") { print($0.fraction) }
}
