import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusTesting
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import NIOEmbedded
import Testing

/// The close reasons of a session, for each transport.
@Suite("Engine.IO rows: close reasons") struct EngineIOCloseReasonRowsTests {
    private func webSocket(_ server: EngineServer) throws -> EngineWebSocket {
        let webSocket = try server.webSocket("EIO=4&transport=websocket")
        _ = try webSocket.received()
        return webSocket
    }

    @Test func transportClose_theClientsClosePacket() throws {
        let server = try EngineServer()
        let webSocket = try self.webSocket(server)
        try webSocket.send("1")
        #expect(try webSocket.received() == ["close 1000"])
        #expect(server.events == ["closed: transport close"])
    }

    @Test func transportClose_theClientsCloseFrame() throws {
        let server = try EngineServer()
        let webSocket = try self.webSocket(server)
        try webSocket.answerClose(.normalClosure)
        #expect(server.events == ["closed: transport close"])
    }

    @Test func transportClose_theHeldPollGoesAway() throws {
        let server = try EngineServer()
        #expect(try server.exchange(.get, try server.handshake()) == nil)
        _ = try server.http.channel.finish(acceptAlreadyClosed: true)
        #expect(server.events == ["closed: transport close"])
    }

    @Test func transportError_theWebSocketIsLost() throws {
        let server = try EngineServer()
        try self.webSocket(server).vanish()
        #expect(server.events == ["closed: transport error"])
    }

    @Test func transportError_anInvalidFrame() throws {
        let server = try EngineServer()
        let webSocket = try self.webSocket(server)
        try webSocket.send(WebSocketFrame(opcode: .continuation, payload: ByteBuffer(string: "x")))
        #expect(try webSocket.received() == ["close 1002"])
        #expect(server.events == ["closed: transport error"])
    }

    @Test func pingTimeout_byPollingReportsThePendingPoll() throws {
        let server = try EngineServer()
        let session = try server.handshake()
        server.pass(.seconds(25))
        #expect(try server.exchange(.get, session)?.body == "2")
        #expect(try server.exchange(.get, session) == nil)
        server.pass(.seconds(20))
        #expect(try server.http.answer()?.body == "1")
        #expect(server.events == ["closed: ping timeout"])
    }

    @Test func pingTimeout_byWebSocket() throws {
        let server = try EngineServer()
        let webSocket = try self.webSocket(server)
        server.pass(.seconds(45))
        #expect(try webSocket.received() == ["2", "close 1000"])
        #expect(server.events == ["closed: ping timeout"])
    }

    @Test(arguments: ["", "9", "x", "b!", "0", "2", "5", "6x"]) func parseError_byWebSocket(packet: String) throws {
        let server = try EngineServer()
        let webSocket = try self.webSocket(server)
        try webSocket.send(packet)
        #expect(try webSocket.received() == ["close 1000"])
        #expect(server.events == ["closed: parse error"])
    }

    @Test func forcedClose_byWebSocket() throws {
        let server = try EngineServer()
        let webSocket = try self.webSocket(server)
        let session = try #require(server.sessions.first)
        session.send(.text(ByteBuffer(string: "last words")))
        session.close(.forcedClose)
        #expect(try webSocket.received() == ["4last words", "close 1000"])
        #expect(server.events == ["closed: forced close"])
    }

    @Test func forcedClose_byPollingSendsQueuedPacketsFirst() throws {
        let server = try EngineServer()
        let path = try server.handshake()
        let session = try #require(server.sessions.first)
        session.send(.text(ByteBuffer(string: "last words")))
        session.close(.forcedClose)
        #expect(server.events == ["closed: forced close"])
        #expect(try server.exchange(.get, path)?.body == "4last words")
        #expect(try server.exchange(.get, path)?.body == "1")
        #expect(try server.exchange(.get, path)?.body == #"{"code":1,"message":"Session ID unknown"}"#)
    }

    @Test func serverShuttingDown_permitsWebSocketsToReconnect() throws {
        let server = try EngineServer()
        let webSocket = try self.webSocket(server)
        try #require(server.sessions.first).close(.serverShuttingDown)
        #expect(try webSocket.received() == ["close 1001"])
        #expect(server.events == ["closed: server shutting down"])
    }
}
