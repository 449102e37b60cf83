import ApusConnectivity
import ApusEngineIOProtocol
import ApusTesting
import ApusWebSocketProtocol
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import ApusEngineIOServer

/// Clients that send requests without reading the answers, and the limits of all clients together.
@Suite struct EngineIOBackPressureTests {
    private let text = "4" + String(repeating: "x", count: 600)

    private func body(_ packets: String...) -> String { packets.joined(separator: "\u{1e}") }

    // MARK: Polling

    @Test func aPostWaitsWhileTheClientDoesNotPoll() throws {
        let server = try EngineServer { $0.queueLowMark = 1000 }
        let session = try server.handshake()
        #expect(try server.exchange(.post, session, body: self.body(self.text, self.text, self.text, "4last")) == nil)
        server.pass(.seconds(1))
        #expect(server.events.count == 2)
        #expect(try server.http.answer() == nil)
        let poll = try server.connect()
        #expect(try poll.exchange(.get, session)?.body.split(separator: "\u{1e}").count == 2)
        server.pass(.milliseconds(1))
        #expect(server.events.count == 4)
        #expect(try server.http.answer()?.body == "ok")
        #expect(try poll.exchange(.get, session)?.body == self.body(self.text, "4last"))
        #expect(server.engine.budgets.unfinished.held == 0)
    }

    /// A client that reads slowly but answers pings is alive.
    @Test func aPongIsProcessedRegardlessOfTheQueue() throws {
        let server = try EngineServer { $0.queueLowMark = 1000 }
        let session = try server.handshake()
        server.pass(.seconds(25))
        #expect(try server.exchange(.post, session, body: self.body(self.text, self.text, self.text, "3")) == nil)
        server.pass(.seconds(20))
        #expect(server.sessions.count == 1)
        #expect(server.events.count == 2)
    }

    @Test func aClientThatNeverPollsEndsByItsPingTimeoutAndItsPostIsAnswered() throws {
        let server = try EngineServer { $0.queueLowMark = 1000 }
        let session = try server.handshake()
        #expect(try server.exchange(.post, session, body: self.body(self.text, self.text, self.text)) == nil)
        server.pass(.seconds(45))
        #expect(server.events.last == "closed: ping timeout")
        #expect(try server.http.answer()?.status == 200)
        #expect(server.engine.budgets.queued.held == 0)
    }

    @Test func aBadPacketThatWaitedIsRefused() throws {
        let server = try EngineServer { $0.queueLowMark = 1000 }
        let session = try server.handshake()
        // A client's ping is a protocol violation in version 4, also behind waiting packets.
        #expect(try server.exchange(.post, session, body: self.body(self.text, self.text, self.text, "2"))?.status == 400)
        #expect(server.events.last == "closed: parse error")
    }

    // MARK: WebSocket

    /// A client that does not read: its transport is full, and its messages wait.
    private func stalled(_ server: EngineServer) throws -> EngineWebSocket {
        let webSocket = try server.webSocket("EIO=4&transport=websocket")
        _ = try webSocket.received()
        webSocket.http.channel.isWritable = false
        webSocket.http.channel.pipeline.fireChannelWritabilityChanged()
        for _ in 0..<3 { try webSocket.send(self.text) }
        return webSocket
    }

    @Test func aWebSocketThatDoesNotReadIsNotProcessed() throws {
        let server = try EngineServer { $0.queueLowMark = 1000 }
        let webSocket = try self.stalled(server)
        server.pass(.seconds(1))
        #expect(server.events.count == 2)
        webSocket.http.channel.isWritable = true
        webSocket.http.channel.pipeline.fireChannelWritabilityChanged()
        server.pass(.milliseconds(1))
        #expect(server.events.count == 3)
        #expect(try webSocket.received() == [self.text, self.text, self.text])
    }

    @Test func aWebSocketThatDoesNotReadEndsByItsPingTimeout() throws {
        let server = try EngineServer { $0.queueLowMark = 1000 }
        _ = try self.stalled(server)
        server.pass(.seconds(25))
        try #require(server.sessions.count == 1)
        server.pass(.seconds(20))
        #expect(server.events.last == "closed: ping timeout")
    }

    /// The pong is behind messages that wait until the client has read more. A client that reads is
    /// alive.
    @Test func aWebSocketThatReadsSlowlyHasMoreTime() throws {
        let server = try EngineServer { $0.queueLowMark = 1000 }
        _ = try self.stalled(server)
        // The message is large enough to be written to the transport, which accepts it: the queue
        // becomes shorter.
        server.sessions.first?.send(.text(ByteBuffer(repeating: 0x61, count: 70_000)))
        server.pass(.seconds(25))
        server.pass(.seconds(20))
        #expect(server.sessions.count == 1)
        server.pass(.seconds(20))
        #expect(server.events.last == "closed: ping timeout")
    }

    @Test func theMarkIsAtMostHalfOfTheBound() throws {
        var configuration = EngineIOServerConfiguration()
        #expect(configuration.effectiveQueueLowMark == 1 << 20)
        configuration.maximumQueuedBytes = 1000
        #expect(configuration.effectiveQueueLowMark == 500)
        configuration.queueLowMark = 0
        #expect(throws: EngineIOError.self) { try configuration.validate() }
    }

    // MARK: Budgets

    @Test func theClientForWhichMostWaitsIsClosedFirst() throws {
        let server = try EngineServer { $0.maximumTotalQueuedBytes = 100_000 }
        for _ in 0..<3 { _ = try server.handshake() }
        let sessions = server.sessions
        for (session, count) in zip(sessions, [20, 50, 40]) {
            for _ in 0..<count { session.send(.text(ByteBuffer(repeating: 0x61, count: 1000))) }
        }
        server.eventLoop.run()
        #expect(sessions.map(\.isClosed) == [false, true, false])
        #expect(server.events == ["closed: transport error"])
        for session in sessions { session.close(.transportError) }
        #expect(server.engine.budgets.queued.held == 0)
    }

    @Test func newcomersAreRefusedWhileMemoryIsScarce() throws {
        let server = try EngineServer { $0.maximumTotalQueuedBytes = 100_000 }
        _ = try server.handshake()
        let session = try #require(server.sessions.first)
        for _ in 0..<90 { session.send(.text(ByteBuffer(repeating: 0x61, count: 1000))) }
        #expect(try server.exchange(.get, "/engine.io/?EIO=4&transport=polling")?.status == 503)
        #expect(try server.webSocket("EIO=4&transport=websocket").answer.status == 503)
        session.close(.transportError)
        _ = try server.handshake()
    }

    @Test func theTotalOfUnfinishedBodiesIsBounded() throws {
        let server = try EngineServer { $0.maximumUnfinishedBytes = 100_000 }
        let session = try server.handshake()
        let connections = try [20_000, 50_000, 40_000].map { bytes in
            let connection = try server.connect()
            try connection.sendHead(.post, session)
            try connection.send(.body(ByteBuffer(repeating: 0x61, count: bytes)))
            return connection
        }
        server.eventLoop.run()
        #expect(connections.map(\.channel.isActive) == [true, false, true])
        for connection in connections { _ = try? connection.channel.finish(acceptAlreadyClosed: true) }
        #expect(server.engine.budgets.unfinished.held == 0)
    }

    /// The bound includes the answers of a web framework behind this handler.
    @Test func theTotalOfUnreadAnswersIsBounded() throws {
        let server = try EngineServer { $0.maximumTotalQueuedBytes = 100_000 }
        let channels = try [20_000, 50_000, 40_000].map { bytes in
            let channel = EmbeddedChannel(loop: server.eventLoop)
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandlers(HTTPResponseEncoder(), server.engine.makeHTTPHandler())
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            channel.isWritable = false
            channel.pipeline.fireChannelWritabilityChanged()
            channel.write(HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)), promise: nil)
            channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(repeating: 0, count: bytes))), promise: nil)
            channel.pipeline.fireChannelWritabilityChanged()
            return channel
        }
        server.eventLoop.run()
        #expect(channels.map(\.isActive) == [true, false, true])
        channels[0].isWritable = true
        channels[0].pipeline.fireChannelWritabilityChanged()
        _ = try? channels[2].finish(acceptAlreadyClosed: true)
        #expect(server.engine.budgets.queued.held == 0)
    }
}
