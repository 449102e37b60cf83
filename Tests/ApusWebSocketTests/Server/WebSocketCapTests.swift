@testable import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import NIOEmbedded
import Testing

/// Connection limits, from the client's side.
@Suite struct WebSocketCapTests {
    private func connect(_ server: WebSocketServer, from address: String, _ lines: String = "") throws -> (
        channel: EmbeddedChannel, answer: String
    ) {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
        try server.configure(channel, tls: nil)
        try channel.writeInbound(ByteBuffer(string: EmbeddedWebSocketServer.request().dropLast() + lines + "\r\n"))
        channel.embeddedEventLoop.run()
        var answer = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { answer += String(buffer: bytes) }
        return (channel, answer)
    }

    @Test func aFullServerSendsRetryAfter() throws {
        var configuration = WebSocketServerConfiguration()
        configuration.maximumConnections = 1
        configuration.retryAfter = .milliseconds(6500)
        let server = WebSocketServer(configuration: configuration, onOpen: { _ in })
        let first = try self.connect(server, from: "203.0.113.1")
        #expect(first.answer.hasPrefix("HTTP/1.1 101 "))
        let second = try self.connect(server, from: "203.0.113.2")
        #expect(second.answer.hasPrefix("HTTP/1.1 503 "))
        #expect(second.answer.contains("Retry-After: 7\r\n"))
        #expect(!second.channel.isActive)
        try first.channel.close().wait()
        #expect(server.connectionCount == 0)
        #expect(try self.connect(server, from: "203.0.113.2").answer.hasPrefix("HTTP/1.1 101 "))
    }

    @Test func aServerWithoutMemoryRefusesNewcomers() throws {
        var configuration = WebSocketServerConfiguration()
        configuration.maximumUnfinishedBytes = 100_000
        let server = WebSocketServer(configuration: configuration, onOpen: { _ in })
        let first = try self.connect(server, from: "203.0.113.1")
        var frame = ByteBuffer()
        WebSocketFrameEncoder.write(
            WebSocketFrame(opcode: .binary, payload: ByteBuffer(repeating: 0, count: 90_000)), maskingKey: WebSocketMaskingKey(word: 1),
            into: &frame)
        try first.channel.writeInbound(frame.getSlice(at: 0, length: 80_000))
        #expect(try self.connect(server, from: "203.0.113.2").answer.hasPrefix("HTTP/1.1 503 "))
        try first.channel.writeInbound(frame.getSlice(at: 80_000, length: frame.readableBytes - 80_000))
        #expect(try self.connect(server, from: "203.0.113.2").answer.hasPrefix("HTTP/1.1 101 "))
    }

    @Test func anAddressHasItsShare() throws {
        var configuration = WebSocketServerConfiguration()
        configuration.maximumConnectionsPerAddress = 1
        let server = WebSocketServer(configuration: configuration, onOpen: { _ in })
        _ = try self.connect(server, from: "2001:db8::1")
        let second = try self.connect(server, from: "2001:db8::2")  // the same /64
        #expect(second.answer.hasPrefix("HTTP/1.1 429 "))
        #expect(second.answer.contains("Retry-After: 5\r\n"))
        #expect(try self.connect(server, from: "2001:db8:0:1::1").answer.hasPrefix("HTTP/1.1 101 "))
    }

    @Test func behindAProxyTheClosureReturnsTheClientsKey() throws {
        var configuration = WebSocketServerConfiguration()
        configuration.maximumConnectionsPerAddress = 1
        configuration.clientAddress = { request, _ in
            request.headerFields[values: .init("X-Forwarded-For") ?? .accept].last?.split(separator: ",").last.map(String.init)
        }
        let server = WebSocketServer(configuration: configuration, onOpen: { _ in })
        #expect(try self.connect(server, from: "203.0.113.1", "X-Forwarded-For: a\r\n").answer.hasPrefix("HTTP/1.1 101 "))
        #expect(try self.connect(server, from: "203.0.113.1", "X-Forwarded-For: b\r\n").answer.hasPrefix("HTTP/1.1 101 "))
        #expect(try self.connect(server, from: "203.0.113.1", "X-Forwarded-For: a\r\n").answer.hasPrefix("HTTP/1.1 429 "))
    }

    @Test func aFloodOfTransportsIsClosedUnread() throws {
        var configuration = WebSocketServerConfiguration()
        configuration.maximumConnectionsPerAddress = 1
        let server = WebSocketServer(configuration: configuration, onOpen: { _ in })
        var channels: [EmbeddedChannel] = []
        for _ in 0..<65 {
            let channel = EmbeddedChannel()
            try channel.connect(to: SocketAddress(ipAddress: "203.0.113.1", port: 1)).wait()
            try server.configure(channel, tls: nil)
            channels.append(channel)
        }
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "203.0.113.1", port: 1)).wait()
        #expect(throws: WebSocketUpgradeRefusal.self) { try server.configure(channel, tls: nil) }
        let last = channels.removeLast()
        try last.close().wait()
        last.embeddedEventLoop.run()
        try server.configure(channel, tls: nil)
    }
}
