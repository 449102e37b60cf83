import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusSocketIOServer
import ApusTesting
import HTTPTypes
import Logging
import NIOEmbedded
import Testing

@Suite("Packets that wait for attachments share a budget") struct SocketIOBudgetTests {
    private let server: SocketIOServer
    private let loop = EmbeddedEventLoop()

    init() {
        var configuration = SocketIOServerConfiguration()
        configuration.engine.maximumUnfinishedBytes = 100_000
        self.server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        _ = self.server.namespace("/")
    }

    private func client() throws -> PollingClient {
        try PollingClient(self.server, over: EmbeddedHTTPConnection(self.server.channelHandlers(), on: self.loop))
    }

    private func packet(_ bytes: Int) -> String { #"51-["x","\#(String(repeating: "x", count: bytes))",{"_placeholder":true,"num":0}]"# }

    @Test func theClientThatHoldsMostIsClosedFirst() throws {
        let clients = try (0..<3).map { _ in try self.client() }
        for client in clients { try client.connect() }
        for (client, bytes) in zip(clients, [20_000, 50_000, 40_000]) { try client.post(self.packet(bytes)) }
        self.loop.run()
        #expect(try clients.map { try $0.post("bAA==") } == [200, 400, 200])
    }

    @Test func completePacketsDoNotCount() throws {
        let client = try self.client()
        try client.connect()
        for _ in 0..<3 {
            #expect(try client.post(self.packet(90_000)) == 200)
            let newcomer = try EmbeddedHTTPConnection(self.server.channelHandlers(), on: self.loop)
            #expect(try newcomer.exchange(.get, "/socket.io/?EIO=4&transport=polling")?.status == 503)
            #expect(try client.post("bAA==") == 200)
            _ = try self.client()
        }
    }

    @Test func aClientThatLeavesIsForgotten() throws {
        let client = try self.client()
        try client.connect()
        try client.post(self.packet(90_000))
        try client.lose()
        _ = try self.client()
    }
}
