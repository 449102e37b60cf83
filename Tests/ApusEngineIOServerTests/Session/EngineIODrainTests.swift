import ApusEngineIOProtocol
import ApusEngineIOServer
import HTTPTypes
import Logging
import NIOCore
import Testing

@Suite("Engine.IO server: shutdown", .timeLimit(.minutes(5))) struct EngineIODrainTests {
    private func makeServer(
        _ configure: (inout EngineIOServerConfiguration) -> Void = { _ in },
        delegate: @escaping @Sendable () -> any EngineIOSessionDelegate = { SilentDelegate() }
    ) -> EngineIOServer {
        var configuration = EngineIOServerConfiguration()
        configure(&configuration)
        return EngineIOServer(configuration: configuration, logger: Logger(label: "test")) { _ in delegate() }
    }

    @Test func heldPollsAreClosedAndNewClientsAreRefused() async throws {
        let server = self.makeServer({
            $0.drainBatchSize = 1
            $0.drainBatchGap = .milliseconds(1)
        })
        var connections: [EngineTestingChannel] = []
        for _ in 0..<5 {
            let connection = try await EngineTestingChannel(server)
            try await connection.send(.get, "sid=\(try await connection.handshake())")
            connections.append(connection)
        }
        await server.shutdown()
        for connection in connections { #expect(try await connection.answer() == (200, "1")) }
        #expect(server.sessionCount == 0)
        let late = try await EngineTestingChannel(server)
        try await late.send(.get, "")
        #expect(try await late.answer() == (503, #"{"code":4,"message":"the server is shutting down"}"#))
        await server.shutdown()  // a second call returns at once
    }

    @Test func earlierPacketsAreFetchedBeforeTheClose() async throws {
        let server = self.makeServer()
        let connection = try await EngineTestingChannel(server)
        let sid = try await connection.handshake()
        async let down: Void = server.shutdown()
        while server.sessionCount > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
        try await connection.send(.get, "sid=\(sid)")
        #expect(try await connection.answer() == (200, "1"))
        await down
    }

    @Test func aClientThatDoesNotPollIsRemovedAtTheDeadline() async throws {
        let server = self.makeServer({ $0.drainTimeout = .milliseconds(20) })
        let connection = try await EngineTestingChannel(server)
        let sid = try await connection.handshake()
        await server.shutdown()
        try await connection.send(.get, "sid=\(sid)")
        #expect(try await connection.answer().status == 400)
    }

    @Test func theLayerAboveMayFinishFirst() async throws {
        final class Busy: EngineIOSessionDelegate {
            func sessionOpened(_ session: EngineIOSession) {}
            func session(_ session: EngineIOSession, received message: EngineIOMessage) {
                session.send(.text(ByteBuffer(string: "the ack")))
                session.close(.serverShuttingDown)
            }
            func sessionShouldClose(_ session: EngineIOSession) { session.send(.text(ByteBuffer(string: "finishing"))) }
            func session(_ session: EngineIOSession, closed reason: EngineIOCloseReason) {}
        }
        let server = self.makeServer(delegate: { Busy() })
        let connection = try await EngineTestingChannel(server)
        let sid = try await connection.handshake()
        try await connection.send(.get, "sid=\(sid)")
        async let down: Void = server.shutdown()
        #expect(try await connection.answer() == (200, "4finishing"))
        #expect(server.sessionCount == 1)
        try await connection.send(.post, "sid=\(sid)", body: "4done")
        #expect(try await connection.answer() == (200, "ok"))
        try await connection.send(.get, "sid=\(sid)")
        #expect(try await connection.answer() == (200, "4the ack"))
        try await connection.send(.get, "sid=\(sid)")
        #expect(try await connection.answer() == (200, "1"))
        await down
    }
}
