import ApusWebSocket
import ApusWebSocketProtocol
import NIOCore
import NIOEmbedded
import Testing

@Suite struct WebSocketConnectionTests {
    /// A server's connection on an event loop that the test runs. The test is the peer.
    private struct Pair {
        let channel: NIOAsyncTestingChannel
        let connection: WebSocketConnection

        init(flow: WebSocketFlowControl = .init()) async throws {
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

        func receive(_ frames: WebSocketFrame...) async throws {
            var bytes = ByteBuffer()
            for frame in frames { WebSocketFrameEncoder.write(frame, maskingKey: WebSocketMaskingKey(word: 0x1234_5678), into: &bytes) }
            try await self.channel.writeInbound(bytes)
        }

        func receive(_ texts: String...) async throws {
            for text in texts { try await self.receive(WebSocketFrame(opcode: .text, payload: ByteBuffer(string: text))) }
        }

        func written() async throws -> ByteBuffer? {
            await self.channel.testingEventLoop.run()
            return try await self.channel.readOutbound(as: ByteBuffer.self)
        }

        /// All written bytes, in any number of writes: the loop may also run between two of them.
        func allWritten() async throws -> [UInt8] {
            var bytes: [UInt8] = []
            while let buffer = try await self.written() { bytes += buffer.readableBytesView }
            return bytes
        }

        func peerCloses(_ code: UInt16, _ reason: String = "") async throws {
            var payload = ByteBuffer(integer: code)
            payload.writeString(reason)
            try await self.receive(WebSocketFrame(opcode: .close, payload: payload))
        }
    }

    @Test(.timeLimit(.minutes(5))) func messagesAreReadInOrderAndEndWithTheConnection() async throws {
        let pair = try await Pair()
        try await pair.receive("a", "b")
        try await pair.peerCloses(1001, "bye")
        var texts: [String] = []
        for try await message in pair.connection.messages { texts.append(message.text ?? "") }
        #expect(texts == ["a", "b"])
        let closure = await pair.connection.waitUntilClosed()
        #expect(closure == WebSocketClosure(code: .goingAway, reason: "bye", wasClean: true, initiator: .peer, error: nil))
        #expect(!pair.connection.isOpen)
    }

    private struct SourceFailed: Error {}

    private func pieces(_ pieces: [[UInt8]], fails: Bool = false) -> AsyncThrowingStream<ByteBuffer, any Error> {
        AsyncThrowingStream { stream in
            for piece in pieces { stream.yield(ByteBuffer(bytes: piece)) }
            stream.finish(throwing: fails ? SourceFailed() : nil)
        }
    }

    @Test(.timeLimit(.minutes(5))) func aMessageIsSentInPieces() async throws {
        let pair = try await Pair()
        // The first piece ends within a character.
        try await pair.connection.send(.text, pieces: self.pieces([[0x61, 0xC3], [0xA4], []]))
        try await pair.connection.send("next")
        #expect(try await pair.allWritten() == [0x01, 2, 0x61, 0xC3, 0x00, 1, 0xA4, 0x80, 0, 0x81, 4] + Array("next".utf8))
        try await pair.connection.send(.binary, pieces: self.pieces([]))
        #expect(try await pair.allWritten() == [0x82, 0])
    }

    @Test(.timeLimit(.minutes(5)), arguments: [false, true]) func anIncompleteMessageEndsTheConnection(isText: Bool) async throws {
        let pair = try await Pair()
        if isText {
            await #expect(throws: WebSocketError.self) {
                try await pair.connection.send(.text, pieces: self.pieces([[0x61], [0xC3]]))
            }
        } else {
            await #expect(throws: SourceFailed.self) {
                try await pair.connection.send(.binary, pieces: self.pieces([[0x61], [0xC3]], fails: true))
            }
        }
        #expect(try await pair.allWritten().prefix(10) == [isText ? 0x01 : 0x02, 1, 0x61, 0x00, 1, 0xC3, 0x88, 32, 0x03, 0xF3])
        #expect(!pair.connection.isOpen)
    }

    @Test(.timeLimit(.minutes(5))) func aMessageThatHasNotBegunCostsNothing() async throws {
        let pair = try await Pair()
        await #expect(throws: SourceFailed.self) { try await pair.connection.send(.binary, pieces: self.pieces([], fails: true)) }
        #expect(pair.connection.isOpen)
        try await pair.connection.send("next")
        #expect(try await pair.allWritten() == [0x81, 4] + Array("next".utf8))
    }

    @Test(.timeLimit(.minutes(5))) func aLostConnectionThrowsAfterTheLastMessage() async throws {
        let pair = try await Pair()
        try await pair.receive("a")
        try await pair.channel.close()
        var messages = pair.connection.messages.makeAsyncIterator()
        #expect(try await messages.next() == "a")
        await #expect(throws: WebSocketError.self) { try await messages.next() }
        #expect(pair.connection.closure?.error?.code == .connectionLost)
        #expect(pair.connection.closure?.code == .abnormalClosure)
        await #expect(throws: WebSocketError.self) { try await pair.connection.send("late") }
        #expect(!pair.connection.post("late"))
    }

    @Test(.timeLimit(.minutes(5))) func messagesOfOneTurnLeaveInOneWrite() async throws {
        let pair = try await Pair()
        try await pair.channel.testingEventLoop.executeInContext {
            #expect(pair.connection.post("a"))
            #expect(pair.connection.post("b"))
        }
        #expect(try await pair.written() == ByteBuffer(bytes: [0x81, 1, 0x61, 0x81, 1, 0x62]))
    }

    @Test(.timeLimit(.minutes(5))) func aHandlerAnswersInTheSameWrite() async throws {
        let pair = try await Pair()
        try await pair.receive("early")
        pair.connection.onMessage { connection, message in connection.post(message) }
        #expect(try await pair.written()?.readableBytes == 7)
        try await pair.receive("a", "b")
        #expect(try await pair.written() == ByteBuffer(bytes: [0x81, 1, 0x61]))
    }

    @Test(.timeLimit(.minutes(5))) func aLocalCloseWaitsForTheAnswer() async throws {
        let pair = try await Pair()
        try await pair.connection.send("last")
        async let closure = pair.connection.close(code: WebSocketCloseCode(rawValue: 3000), reason: "done")
        var out = ByteBuffer()
        while out.readableBytes < 14 {
            if var bytes = try await pair.written() { out.writeBuffer(&bytes) }
        }
        #expect(out == ByteBuffer(bytes: [0x81, 4] + Array("last".utf8) + [0x88, 6, 0x0B, 0xB8] + Array("done".utf8)))
        await #expect(throws: WebSocketError.self) { try await pair.connection.send("late") }
        try await pair.peerCloses(3000)
        #expect(
            await closure
                == WebSocketClosure(code: .init(rawValue: 3000), reason: "", wasClean: true, initiator: .ourselves, error: nil))
    }

    @Test(.timeLimit(.minutes(5))) func aPingIsTimed() async throws {
        let pair = try await Pair()
        async let roundTrip = pair.connection.ping()
        var ping: ByteBuffer?
        while ping == nil { ping = try await pair.written() }
        #expect(ping?.readInteger(as: UInt16.self) == 0x8908)
        try await pair.receive(WebSocketFrame(opcode: .pong, payload: ByteBuffer(string: "unasked")))
        await pair.channel.testingEventLoop.advanceTime(by: .milliseconds(30))
        try await pair.receive(WebSocketFrame(opcode: .pong, payload: try #require(ping)))
        #expect(try await roundTrip == .milliseconds(30))
        #expect(pair.connection.latency == .milliseconds(30))
    }

    @Test(.timeLimit(.minutes(5))) func aPingWithoutAnAnswerTimesOut() async throws {
        let pair = try await Pair()
        let waiting = Task { try await pair.connection.ping(timeout: .seconds(3)) }
        while try await pair.written() == nil {}
        await pair.channel.testingEventLoop.advanceTime(by: .seconds(3))
        await #expect(throws: WebSocketError.self) { try await waiting.value }
        let task = Task { try await pair.connection.ping() }
        task.cancel()
        await pair.channel.testingEventLoop.run()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(.timeLimit(.minutes(5))) func aReaderThatIsCancelledGetsNoMessage() async throws {
        let pair = try await Pair()
        let task = Task {
            var messages = pair.connection.messages.makeAsyncIterator()
            return try await messages.next()
        }
        task.cancel()
        #expect(try await task.value == nil)
        try await pair.receive("a")
        var messages = pair.connection.messages.makeAsyncIterator()
        #expect(try await messages.next() == "a")
    }

    @Test(.timeLimit(.minutes(5))) func abortEndsAtOnce() async throws {
        let pair = try await Pair()
        pair.connection.abort()
        await pair.channel.testingEventLoop.run()
        let closure = await pair.connection.waitUntilClosed()
        #expect(closure == WebSocketClosure(code: .abnormalClosure, reason: "", wasClean: false, initiator: .ourselves, error: nil))
    }

    private struct Weak { weak var connection: WebSocketConnection? }

    private func useAndClose() async throws -> Weak {
        let pair = try await Pair()
        pair.connection.onMessage { connection, message in connection.post(message) }
        pair.connection.onClose { _ in }
        try await pair.receive("a")
        try await pair.peerCloses(1000)
        _ = await pair.connection.waitUntilClosed()
        try? await pair.channel.close()  // the peer closes after the Close frame of this side
        await pair.channel.testingEventLoop.run()
        return Weak(connection: pair.connection)
    }

    @Test(.timeLimit(.minutes(5))) func aClosedConnectionIsReleased() async throws {
        let used = try await self.useAndClose()
        #expect(used.connection == nil)
    }
}
