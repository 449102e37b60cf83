import ApusEngineIOProtocol
import ApusWebSocketProtocol
import Dispatch
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import ApusEngineIOServer

@Suite(.timeLimit(.minutes(1))) struct EngineIOHopTests {
    @Test func readingStopsAboveTheMarkAndGoesOnAtHalfOfIt() {
        let hop = EngineIOHop()
        let message = 100_000
        var departed = 0
        repeat { departed += 1 } while !hop.departed(message)
        #expect(departed == 11)
        #expect(!hop.hasRoom)
        var arrived = 0
        repeat { arrived += 1 } while !hop.arrived(message)
        #expect(departed - arrived == 5)
        #expect(hop.hasRoom)
        // Said once.
        for _ in 0..<5 { #expect(!hop.arrived(message)) }
    }

    @Test func emptyMessagesCountToo() {
        let hop = EngineIOHop()
        var departed = 1
        while !hop.departed(0) { departed += 1 }
        #expect(departed == EngineIOHop.highWatermark / 256 + 1)
    }

    /// The client's upgrade came on another event loop, and the session's is busy.
    @Test func aClientIsReadNoFasterThanItsSessionTakes() async throws {
        let (near, far) = (NIOAsyncTestingEventLoop(), NIOAsyncTestingEventLoop())
        let engine = EngineIOServer(configuration: .init(), logger: Logger(label: "test")) { _ in SilentDelegate() }
        let session = try await near.executeInContext {
            let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/engine.io/?EIO=4&transport=polling")
            return try engine.open(.polling, version: .v4, request: request, remoteAddress: nil, on: near)
        }
        let transport = EngineIOWebSocketTransport(session: session, maximumQueuedBytes: 1 << 20, eventLoop: far)
        // What comes from elsewhere the testing loop runs by itself, unless it has something to do.
        let isFree = DispatchSemaphore(value: 0)
        near.execute { isFree.wait() }
        let isPaused = try await far.executeInContext {
            defer { isFree.signal() }
            for _ in 0..<20 { transport.received(WebSocketMessage(.binary, ByteBuffer(repeating: 0, count: 100_000))) }
            return transport.readingIsPaused
        }
        #expect(isPaused)
        await near.run()
        await far.run()
        #expect(try await far.executeInContext { !transport.readingIsPaused })
        try await near.executeInContext { session.close(.forcedClose) }
        await near.shutdownGracefully()
        await far.shutdownGracefully()
    }
}
