import ApusWebSocket
import ApusWebSocketProtocol
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

/// Pings, stalls and drains, with manual time.
@Suite struct ServerKeepAliveTests {
    private func closure(of server: EmbeddedWebSocketServer) -> WebSocketClosure? { server.closure.withLockedValue { $0 } }

    @Test func aSilentClientIsClosedAfterOnePingTimeout() throws {
        let server = try EmbeddedWebSocketServer.opened()
        server.pass(.seconds(20))
        #expect(try server.frames().map(\.opcode) == [.ping])
        server.pass(.seconds(19))
        #expect(server.isOpen)
        server.pass(.seconds(1))
        #expect(!server.isOpen)
        #expect(self.closure(of: server)?.error?.code == .timeout)
        #expect(self.closure(of: server)?.initiator == .failure)
        #expect(server.server.connectionCount == 0)
        #expect(server.server.connections.isEmpty)
    }

    @Test func aPongStartsTheNextRound() throws {
        let server = try EmbeddedWebSocketServer.opened()
        for _ in 0..<3 {
            server.pass(.seconds(20))
            let ping = try #require(try server.frames().first)
            server.pass(.seconds(19))
            try server.send(WebSocketFrame(opcode: .pong, payload: ping.payload))
        }
        #expect(server.isOpen)
        #expect(server.server.connections.first?.latency == .seconds(19))
    }

    @Test func otherBytesThanAPongExtendTheDeadlineButNotForever() throws {
        let server = try EmbeddedWebSocketServer.opened()
        server.pass(.seconds(20))
        for _ in 0..<3 {
            server.pass(.seconds(19))
            try server.send(WebSocketFrame(opcode: .pong, payload: ByteBuffer(string: "unasked")))
            server.pass(.seconds(1))
            #expect(server.isOpen)
        }
        server.pass(.seconds(19))
        try server.send(WebSocketFrame(opcode: .pong, payload: ByteBuffer(string: "unasked")))
        server.pass(.seconds(1))
        #expect(!server.isOpen)
    }

    @Test func aHandlerThatDoesNotReadIsNotThePeersSilence() throws {
        var configuration = WebSocketServerConfiguration()
        configuration.flow.receivedMessages = 1
        let server = try EmbeddedWebSocketServer.opened(configuration)
        try server.send(WebSocketFrame(opcode: .text, payload: ByteBuffer(string: "unread")))
        server.pass(.seconds(120))
        #expect(server.isOpen)
    }

    @Test func aStalledReaderIsClosedAndASlowOneIsNot() throws {
        var configuration = WebSocketServerConfiguration()
        configuration.pingInterval = nil
        let server = try EmbeddedWebSocketServer.opened(configuration)
        server.channel.isWritable = false
        server.channel.pipeline.fireChannelWritabilityChanged()
        server.pass(.seconds(19))
        #expect(server.isOpen)
        server.channel.isWritable = true
        server.channel.pipeline.fireChannelWritabilityChanged()
        server.pass(.seconds(60))
        #expect(server.isOpen)
        server.channel.isWritable = false
        server.channel.pipeline.fireChannelWritabilityChanged()
        server.pass(.seconds(20))
        #expect(!server.isOpen)
        #expect(self.closure(of: server)?.error?.code == .timeout)
    }

    @Test func aQuiescingApplicationClosesWithGoingAway() throws {
        let server = try EmbeddedWebSocketServer.opened()
        server.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        server.channel.embeddedEventLoop.run()
        #expect(try server.frames() == [WebSocketFrame(opcode: .close, payload: ByteBuffer(bytes: [0x03, 0xE9]))])
        let connection = try #require(server.server.connections.first)
        #expect(!connection.isOpen)
        #expect(!connection.post("too late"))
        try server.send(WebSocketFrame(opcode: .close, payload: ByteBuffer(bytes: [0x03, 0xE9])))
        #expect(self.closure(of: server)?.initiator == .ourselves)
    }
}
