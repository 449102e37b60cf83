import ApusEventLoop
@testable import ApusWebSocket
import ApusWebSocketProtocol
import Dispatch
import NIOCore
import NIOEmbedded
import Testing

/// A connection whose peer does not read, or is silent.
@Suite(.timeLimit(.minutes(5))) struct WebSocketConnectionLimitsTests {
    private struct Pair {
        let channel: NIOAsyncTestingChannel
        let connection: WebSocketConnection

        init(_ flow: WebSocketFlowControl = .init()) async throws {
            let channel = NIOAsyncTestingChannel()
            let connection = WebSocketConnection(on: channel.eventLoop, subprotocol: nil, remoteAddress: nil, flow: flow)
            try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
            try await channel.eventLoop.submit {
                let handler = WebSocketHandler(role: .server, limits: .init(), delegate: connection)
                try channel.pipeline.syncOperations.addHandler(handler)
                connection.attach(handler)
            }.get()
            self.channel = channel
            self.connection = connection
        }

        func onLoop<Result: Sendable>(_ body: @escaping @Sendable (WebSocketConnection) -> Result) async throws -> Result {
            try await self.channel.eventLoop.submit { [connection] in body(connection) }.get()
        }

        func receive(_ frame: WebSocketFrame) async throws {
            var bytes = ByteBuffer()
            WebSocketFrameEncoder.write(frame, maskingKey: WebSocketMaskingKey(word: 0x1234_5678), into: &bytes)
            try await self.channel.writeInbound(bytes)
        }

        func advance(_ time: TimeAmount) async { await self.channel.testingEventLoop.advanceTime(by: time) }

        /// Returns the opcodes of the frames written since the last call.
        func opcodes() async throws -> [UInt8] {
            await self.channel.testingEventLoop.run()
            var opcodes: [UInt8] = []
            while var bytes = try await self.channel.readOutbound(as: ByteBuffer.self) {
                while let first = bytes.readInteger(as: UInt8.self), let length = bytes.readInteger(as: UInt8.self), length < 126 {
                    opcodes.append(first & 0x0F)
                    bytes.moveReaderIndex(forwardBy: min(Int(length), bytes.readableBytes))
                }
            }
            return opcodes
        }
    }

    private func unwritable(_ flow: WebSocketFlowControl) async throws -> Pair {
        let pair = try await Pair(flow)
        try await pair.channel.eventLoop.submit { [channel = pair.channel] in
            channel.isWritable = false
            channel.pipeline.fireChannelWritabilityChanged()
        }.get()
        return pair
    }

    /// docs/hazards.md, 16: the queue for a peer that does not read is bounded, and the policy
    /// closes.
    @Test func aStoppedReaderIsClosedAboveTheBound() async throws {
        var flow = WebSocketFlowControl()
        flow.postedBytes = 1000
        let pair = try await self.unwritable(flow)
        let message = WebSocketMessage.binary(ByteBuffer(repeating: 0, count: 100))
        let taken = try await pair.onLoop { connection in (1...50).filter { _ in connection.post(message) }.count }
        #expect(taken == 9)  // including their headers
        #expect(!pair.connection.isOpen)
        await pair.advance(.seconds(10))  // the close deadline: the peer does not answer either
        let closure = await pair.connection.waitUntilClosed()
        #expect(closure.error?.code == .timeout)
    }

    @Test func excessMessagesAreDroppedByThePolicy() async throws {
        var flow = WebSocketFlowControl()
        flow.postedBytes = 1000
        flow.overflow = .drop
        let pair = try await self.unwritable(flow)
        let message = WebSocketMessage.binary(ByteBuffer(repeating: 0, count: 100))
        let taken = try await pair.onLoop { connection in (1...50).filter { _ in connection.post(message) }.count }
        #expect(taken == 9)
        #expect(pair.connection.isOpen)
        pair.connection.abort()
    }

    @Test func theEventLoopDoesNotOvertakeOtherThreads() async throws {
        let pair = try await Pair()
        try await pair.onLoop { connection in
            // The loop is busy while another thread posts.
            let posted = DispatchSemaphore(value: 0)
            Task {
                connection.post("first")
                posted.signal()
            }
            posted.wait()
            connection.post("second")
            connection.handler?.flushNow()
        }
        var bytes = ByteBuffer()
        while var more = try await pair.channel.readOutbound(as: ByteBuffer.self) { bytes.writeBuffer(&more) }
        #expect(String(buffer: bytes).contains(/first.*second/))
    }

    @Test func aStaleResumptionDoesNotEndBackPressure() async throws {
        var flow = WebSocketFlowControl()
        flow.receivedMessages = 1
        let pair = try await Pair(flow)
        let frame = WebSocketFrame(opcode: .text, payload: ByteBuffer(string: "a"))
        try await pair.receive(frame)
        // A reader makes room, but the loop is in a read and is notified only afterwards.
        try await pair.onLoop { connection in
            let taken = DispatchSemaphore(value: 0)
            Task {
                _ = try await connection.inbox.next()
                taken.signal()
            }
            taken.wait()
            if let handler = connection.handler { connection.webSocket(handler, received: "b") }
        }
        await pair.channel.testingEventLoop.run()
        #expect(try await pair.onLoop { $0.readingIsPaused })
        pair.connection.abort()
    }

    @Test func aSenderWaitsForAPeerThatDoesNotRead() async throws {
        let pair = try await self.unwritable(.init())
        let task = Task { try await pair.connection.send("waits") }
        let cancelled = Task { try await pair.connection.send("never") }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(try await pair.opcodes() == [])
        try await pair.channel.eventLoop.submit { [channel = pair.channel] in
            channel.isWritable = true
            channel.pipeline.fireChannelWritabilityChanged()
        }.get()
        // The task may reach `send` only now, and then does not wait.
        try await task.value
        #expect(try await pair.opcodes() == [1])
    }

    @Test func aHeartbeatWithoutAnswerEndsTheConnection() async throws {
        let pair = try await Pair()
        pair.connection.startHeartbeat(.ping(every: .seconds(30), answerWithin: .seconds(20)))
        #expect(try await pair.opcodes() == [])
        await pair.advance(.seconds(30))
        #expect(try await pair.opcodes() == [9])
        try await pair.receive(WebSocketFrame(opcode: .pong, payload: ByteBuffer(integer: UInt64(1))))
        #expect(pair.connection.latency != nil)
        await pair.advance(.seconds(30))
        #expect(try await pair.opcodes() == [9])
        await pair.advance(.seconds(20))
        let closure = await pair.connection.waitUntilClosed()
        #expect(closure.error?.code == .timeout)
        #expect(closure.initiator == .failure)
        #expect(closure.code == .abnormalClosure)
    }

    @Test func aReaderThatLagsIsNotTreatedAsSilent() async throws {
        var flow = WebSocketFlowControl()
        flow.receivedMessages = 1
        let pair = try await Pair(flow)
        pair.connection.startHeartbeat(.ping(every: .seconds(30), answerWithin: .seconds(20)))
        try await pair.receive(WebSocketFrame(opcode: .text, payload: ByteBuffer(string: "unread")))
        for _ in 1...20 { await pair.advance(.seconds(10)) }
        #expect(pair.connection.isOpen)
        var messages = pair.connection.messages.makeAsyncIterator()
        #expect(try await messages.next() == "unread")
        for _ in 1...20 { await pair.advance(.seconds(10)) }
        #expect(!pair.connection.isOpen)
    }

    @Test func aTextCanBeTheHeartbeat() async throws {
        let pair = try await Pair()
        pair.connection.startHeartbeat(.text("heart", every: .seconds(180), answerWithin: .seconds(10)))
        await pair.advance(.seconds(180))
        #expect(try await pair.opcodes() == [1])
        try await pair.receive(WebSocketFrame(opcode: .text, payload: ByteBuffer(string: "beat")))
        await pair.advance(.seconds(180))
        #expect(try await pair.opcodes() == [1])
        await pair.advance(.seconds(10))
        #expect(!pair.connection.isOpen)
    }

    @Test func anIdlePeerIsAbandoned() async throws {
        let pair = try await Pair()
        pair.connection.startHeartbeat(.idle(after: .seconds(60)))
        await pair.advance(.seconds(50))
        try await pair.receive(WebSocketFrame(opcode: .ping))
        await pair.advance(.seconds(50))
        #expect(pair.connection.isOpen)
        await pair.advance(.seconds(10))
        #expect(pair.connection.closure?.error?.code == .timeout)
    }

    @Test func aConnectionThatDoesNotSurviveAChangeOfNetworks() async throws {
        let pair = try await Pair()
        try await pair.onLoop { $0.probe() }
        #expect(try await pair.opcodes() == [9])
        await pair.advance(.seconds(10))
        #expect(pair.connection.closure?.error?.code == .timeout)
    }
}
