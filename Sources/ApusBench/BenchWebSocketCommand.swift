import ArgumentParser

/// `apus bench ws`: measures a WebSocket echo server.
struct BenchWebSocketCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ws", abstract: "Measure a WebSocket server that echoes every message.")

    @Argument(help: "The server: ws://host:port/path, or wss.") var url: String

    @OptionGroup var load: BenchLoadOptions

    func run() async throws { try await self.load.run(try self.load.plan(url: self.url, exchange: .webSocket)) }
}
