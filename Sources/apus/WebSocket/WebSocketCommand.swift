import ApusWebSocket
import ApusWebSocketProtocol
import ArgumentParser
import NIOCore

/// `apus ws`: talk to any WebSocket server, or be one that echoes.
struct WebSocketCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "ws", abstract: "Talk to a WebSocket server, or be one that echoes.")

    @Option(help: ArgumentHelp("Be an echo server at this address instead.", valueName: "address"))
    var listen: WebSocketListenAddress

    @Option(help: ArgumentHelp("The largest message taken.", valueName: "bytes"))
    var maxMessage = 16 << 20

    @Flag(help: "Offer, or accept, permessage-deflate.")
    var compress = false

    func run() async throws {
        let server = WebSocketEchoServer(address: self.listen, limits: WebSocketLimits(maximumMessageBytes: self.maxMessage))
        try await server.run { address in
            print("listening on 127.0.0.1:\(address.port ?? 0)")
            flushStandardOutput()
        }
    }
}
