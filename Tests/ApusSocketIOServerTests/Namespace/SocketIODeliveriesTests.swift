import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOEmbedded
import Testing

@Suite struct SocketIODeliveriesTests {
    private let clock = EmbeddedEventLoop()
    private let server: SocketIOServer
    private let sockets = Box<SocketIOServerSocket>()

    init() {
        self.server = SocketIOServer(configuration: .init(), logger: Logger(label: "test"), clock: self.clock)
        self.server.namespace("/").onConnection { [sockets] socket in sockets.add(socket) }
    }

    private func connect() throws -> (PollingClient, SocketIOServerSocket) {
        let client = try PollingClient(self.server)
        try client.connect()
        return (client, try #require(self.sockets.all.last))
    }

    /// A connection receives its events in one poll, once, and those of the work on its loop first.
    @Test func workComesBeforeTheEvents() throws {
        let (first, socket) = try self.connect()
        let (second, other) = try self.connect()
        var deliveries = SocketIODeliveries()
        deliveries.add("news", payload: try SocketIOPayload(writing: 1), to: [socket, other])
        deliveries.add("more", payload: try SocketIOPayload(writing: 2), to: [other])
        deliveries.add(on: socket.eventLoop) { socket.emit("answer") }
        #expect(deliveries.count == 3)
        deliveries.send()
        #expect(deliveries.count == 0)
        deliveries.send()
        #expect(try first.poll() == [#"2["answer"]"#, #"2["news",1]"#])
        #expect(try second.poll() == [#"2["news",1]"#, #"2["more",2]"#])
    }

    @Test func workAloneIsDone() throws {
        let (client, socket) = try self.connect()
        var deliveries = SocketIODeliveries()
        deliveries.add(on: socket.eventLoop) { socket.emit("answer") }
        #expect(deliveries.count == 0)
        deliveries.send()
        #expect(try client.poll() == [#"2["answer"]"#])
    }

    @Test func aClosedSocketIsPassedOver() throws {
        let (client, socket) = try self.connect()
        let (_, other) = try self.connect()
        other.disconnect()
        var deliveries = SocketIODeliveries()
        deliveries.add("news", payload: try SocketIOPayload(writing: 1), to: [other, socket])
        deliveries.send()
        #expect(try client.poll() == [#"2["news",1]"#])
    }
}
