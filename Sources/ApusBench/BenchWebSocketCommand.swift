import ArgumentParser

/// `apus bench ws`: messages that a WebSocket server sends back.
struct BenchWebSocketCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ws", abstract: "Messages to a WebSocket server that sends each of them back.")

    @Argument(help: "The server: ws://host:port/path, or wss.") var url: String

    @OptionGroup var load: BenchLoadOptions

    func run() async throws { try await self.load.run(try self.load.plan(url: self.url, exchange: .webSocket)) }
}
