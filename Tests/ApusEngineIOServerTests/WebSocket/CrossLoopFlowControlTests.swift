import ApusEngineIOProtocol
import ApusWebSocket
import ApusWebSocketProtocol
import Dispatch
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import ApusEngineIOServer

@Suite(.timeLimit(.minutes(5))) struct CrossLoopFlowControlTests {
    private func message(_ bytes: Int) -> WebSocketMessage { WebSocketMessage(.binary, ByteBuffer(repeating: 0, count: bytes)) }

    @Test func readingStopsAboveTheMarkAndContinuesAtHalfOfIt() throws {
        let crossLoop = CrossLoopFlowControl(queueLowMark: 1 << 20)
        var departed = 0
        repeat { departed += 1 } while !crossLoop.enqueue(self.message(100_000)).isTooMuch
        #expect(departed == 11)
        #expect(!crossLoop.hasRoom)
        var arrived = 0
        repeat { arrived += 1 } while try !#require(crossLoop.dequeue()).makesRoom
        #expect(departed - arrived == 5)
        #expect(crossLoop.hasRoom)
        // Reported once.
        for _ in 0..<5 { #expect(try #require(crossLoop.dequeue()).makesRoom == false) }
        #expect(crossLoop.dequeue() == nil)
    }

    @Test func emptyMessagesCountToo() {
        let crossLoop = CrossLoopFlowControl(queueLowMark: 1 << 20)
        var departed = 1
        while !crossLoop.enqueue(self.message(0)).isTooMuch { departed += 1 }
        #expect(departed == CrossLoopFlowControl.highWatermark / 256 + 1)
    }

    @Test func theSessionIsCalledOnceForAllPendingMessages() {
        let crossLoop = CrossLoopFlowControl(queueLowMark: 1 << 20)
        #expect((0..<3).map { _ in crossLoop.enqueue(self.message(1)).callsSession } == [true, false, false])
        for _ in 0..<3 { #expect(crossLoop.dequeue() != nil) }
        #expect(!crossLoop.enqueue(self.message(1)).callsSession)  // the session still takes messages
        #expect(crossLoop.dequeue() != nil)
        #expect(crossLoop.dequeue() == nil)
        #expect(crossLoop.enqueue(self.message(1)).callsSession)
    }

    @Test func theWebSocketIsCalledOnceForAllPendingPackets() {
        let crossLoop = CrossLoopFlowControl(queueLowMark: 1 << 20)
        #expect((0..<3).map { crossLoop.send(.output(.message(self.message($0)))) } == [true, false, false])
        #expect(crossLoop.takeCommands().map(\.byteCount) == [0, 1, 2])
        #expect(crossLoop.takeCommands().isEmpty)
        #expect(crossLoop.send(.abort))
    }

    /// Queued bytes count both before and in the transport.
    @Test func theSessionWaitsWhileTheClientDoesNotReadItsQueue() {
        let crossLoop = CrossLoopFlowControl(queueLowMark: 1000)
        _ = crossLoop.enqueue(self.message(1))
        _ = crossLoop.send(.output(.message(self.message(1001))))
        #expect(crossLoop.dequeue() == nil)
        #expect(!crossLoop.enqueue(self.message(1)).callsSession)
        #expect(crossLoop.commandsExecuted(crossLoop.takeCommands(), isWritable: false, queuedBytes: 1001) == .init())
        #expect(!crossLoop.isWritable)
        #expect(crossLoop.transportChanged(isWritable: true, queuedBytes: 0) == .init(resumes: true, drains: true))
        #expect(crossLoop.dequeue() != nil)
        #expect(crossLoop.dequeue() != nil)
        #expect(crossLoop.dequeue() == nil)
        #expect(crossLoop.transportChanged(isWritable: true, queuedBytes: 0) == .init())
    }

    /// A large message between the event loops must not make the queue appear short.
    @Test func bytesInTransitToTheTransportCount() {
        let crossLoop = CrossLoopFlowControl(queueLowMark: 1 << 20)
        _ = crossLoop.send(.output(.message(self.message(CrossLoopFlowControl.commandWatermark))))
        #expect(crossLoop.isWritable)
        _ = crossLoop.send(.output(.message(self.message(1))))
        #expect(!crossLoop.isWritable)
        let commands = crossLoop.takeCommands()
        #expect(!crossLoop.isWritable)
        // The transport reports its queue while the commands are executed.
        #expect(crossLoop.transportChanged(isWritable: false, queuedBytes: 65_000) == .init())
        #expect(crossLoop.transportChanged(isWritable: true, queuedBytes: 0) == .init())
        #expect(crossLoop.commandsExecuted(commands, isWritable: true, queuedBytes: 0) == .init(drains: true))
        #expect(crossLoop.isWritable)
    }

    /// The upgrade arrived on another event loop, and the session's event loop is busy.
    @Test func aClientIsReadNoFasterThanItsSessionTakes() async throws {
        let (near, far) = (NIOAsyncTestingEventLoop(), NIOAsyncTestingEventLoop())
        let engine = EngineIOServer(configuration: .init(), logger: Logger(label: "test")) { _ in SilentDelegate() }
        let session = try await near.executeInContext {
            let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/engine.io/?EIO=4&transport=polling")
            return try engine.open(.polling, version: .v4, request: request, remoteAddress: nil, on: near)
        }
        let transport = EngineIOWebSocketTransport(session: session, configuration: .init(), eventLoop: far)
        // The testing loop runs work from other threads immediately, unless it is busy.
        let isFree = DispatchSemaphore(value: 0)
        near.execute { isFree.wait() }
        let isPaused = try await far.executeInContext {
            defer { isFree.signal() }
            let handler = WebSocketHandler(role: .server, limits: .init(), delegate: transport)
            for _ in 0..<20 {
                transport.webSocket(handler, received: WebSocketMessage(.binary, ByteBuffer(repeating: 0, count: 100_000)))
            }
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
