import ApusEngineIOServer
import ApusSocketIOServer
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import ApusChatServer

/// The channel of the listeners, without a socket.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionChannelTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// - Parameter proxies: The networks of proxies that begin with a PROXY header; nil for none.
    private func channel(proxies: [String]? = nil, maximumClients: Int = 1_000) -> ConnectionChannel {
        var configuration = SocketIOServerConfiguration()
        configuration.engine.maximumClients = maximumClients
        return ConnectionChannel(
            responder: { request, writer, _ in
                // The path, and the client's address as a proxy forwarded it.
                let forwarded = HTTPField.Name("X-Forwarded-For").flatMap { request.head.headerFields[$0] } ?? "-"
                let text = "\(request.head.path ?? "") \(forwarded)"
                var body = try await writer.writeHead(
                    .init(status: .ok, headerFields: [.contentLength: String(text.utf8.count)]))
                try await body.write(ByteBuffer(string: text))
                try await body.finish(nil)
            }, io: SocketIOServer(configuration: configuration, logger: self.logger),
            timeouts: PassThroughTimeouts(requestTimeout: { _ in .seconds(60) }, answerTimeout: .seconds(60)), tls: nil,
            proxies: proxies.map { ProxyPeers($0) })
    }

    /// Returns an open connection of a peer, which the caller owns.
    private func accepted(
        by connections: ConnectionChannel, from peer: String = "127.0.0.1"
    ) async throws -> (NIOAsyncTestingChannel, ConnectionChannel.Value) {
        let channel = NIOAsyncTestingChannel()
        let address = try SocketAddress(ipAddress: peer, port: 1)
        channel.remoteAddress = address
        let value = try await channel.testingEventLoop.flatSubmit { [logger] in connections.setup(channel: channel, logger: logger) }.get()
        try await channel.connect(to: address).get()
        return (channel, value)
    }

    /// Writes a request and returns the answer when it contains `end`. There is no time limit.
    private func exchange(_ text: String, until end: String, on channel: NIOAsyncTestingChannel) async throws -> String {
        try await channel.writeInbound(ByteBuffer(string: text))
        var answer = ""
        while !answer.contains(end) { answer += String(buffer: try await channel.waitForOutboundWrite(as: ByteBuffer.self)) }
        return answer
    }

    @Test func aRequestIsHandledByTheFramework() async throws {
        let connections = self.channel()
        let (channel, value) = try await self.accepted(by: connections)
        async let handled: Void = connections.handle(value: value, logger: self.logger)
        let answer = try await self.exchange(
            "GET /api/x HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.9\r\nConnection: close\r\n\r\n", until: "/api/x", on: channel)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("/api/x 192.0.2.9"))
        try await channel.closeFuture.get()
        await handled
    }

    /// A request under the path of Socket.IO does not reach the framework.
    @Test func aHandshakeIsHandledBySocketIO() async throws {
        let connections = self.channel()
        let (channel, value) = try await self.accepted(by: connections)
        let answer = try await self.exchange(
            "GET /socket.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: a\r\n\r\n", until: "}", on: channel)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains(#"0{"sid":""#))
        try await channel.close().get()
        // The task of the connection ends with it.
        await connections.handle(value: value, logger: self.logger)
    }

    @Test func aConnectionWithoutARequestEndsItsTask() async throws {
        let connections = self.channel()
        let (channel, value) = try await self.accepted(by: connections)
        async let handled: Void = connections.handle(value: value, logger: self.logger)
        try await channel.close().get()
        await handled
    }

    /// The maximum number of connections is twice that of clients, plus a reserve for refusals.
    @Test func aConnectionBeyondTheMaximumIsRefusedUntilAnotherCloses() async throws {
        let connections = self.channel(maximumClients: 1)
        var open: [NIOAsyncTestingChannel] = []
        var isRefused = false
        while !isRefused, open.count < 5_000 {
            do { open.append(try await self.accepted(by: connections).0) } catch is ConnectionChannel.Refused { isRefused = true }
        }
        #expect(isRefused && open.count >= 2)
        try await open.removeLast().close().get()
        open.append(try await self.accepted(by: connections).0)
        for channel in open { try await channel.close().get() }
    }

    // MARK: The PROXY protocol

    @Test func aPeerThatIsNotAProxyIsRefused() async throws {
        let connections = self.channel(proxies: ["10.0.0.0/8"])
        let channel = NIOAsyncTestingChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: "192.0.2.1", port: 1)
        await #expect(throws: ConnectionChannel.Refused.self) {
            try await channel.testingEventLoop.flatSubmit { [logger] in connections.setup(channel: channel, logger: logger) }.get()
        }
        try await channel.closeFuture.get()
    }

    /// The PROXY header names the client. The fields of the request are ignored.
    @Test func theHeaderOfAProxyNamesTheClient() async throws {
        let connections = self.channel(proxies: ["10.0.0.0/8"])
        let (channel, value) = try await self.accepted(by: connections, from: "10.1.2.3")
        async let handled: Void = connections.handle(value: value, logger: self.logger)
        let answer = try await self.exchange(
            "PROXY TCP4 198.51.100.7 10.1.2.3 56324 443\r\nGET /a HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.9\r\nConnection: close\r\n\r\n",
            until: "/a", on: channel)
        #expect(answer.hasSuffix("/a 198.51.100.7"))
        try await channel.closeFuture.get()
        await handled
    }

    @Test func aProxyWithoutAHeaderIsClosed() async throws {
        let connections = self.channel(proxies: ["10.0.0.0/8"])
        let (channel, value) = try await self.accepted(by: connections, from: "10.1.2.3")
        async let handled: Void = connections.handle(value: value, logger: self.logger)
        _ = try? await channel.writeInbound(ByteBuffer(string: "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"))
        try await channel.closeFuture.get()
        await handled
        #expect(try await channel.readOutbound(as: ByteBuffer.self) == nil)
    }
}
