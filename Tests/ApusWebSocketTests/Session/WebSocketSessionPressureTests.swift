import ApusEventLoop
@testable import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// A session whose listener is full, and its queue of messages.
@Suite(.timeLimit(.minutes(5))) struct WebSocketSessionPressureTests {
    private func configuration(_ change: (inout WebSocketSessionConfiguration) -> Void) -> WebSocketSessionConfiguration {
        var configuration = WebSocketSessionConfiguration()
        configuration.reconnection = .fixed(.milliseconds(10), maximumAttempts: 1)
        configuration.heartbeat = .none
        configuration.watchesNetwork = false
        change(&configuration)
        return configuration
    }

    @Test func pongsFillAListener() async throws {
        try await ScriptedServer.with { _, _ in
            .upgrade { connection in
                connection.onMessage { connection, _ in
                    for _ in 1...100 { connection.handler?.sendPong(ByteBuffer()) }
                }
            }
        } _: { server in
            let session = WebSocketSession(server.url, configuration: self.configuration { $0.client.flow.receivedMessages = 8 })
            session.listen(on: .executor { _ in }) { _ in }
            try await session.connect()
            try await session.send("pongs")
            let connection = try #require(session.connection)
            while try await connection.eventLoop.submit({ !connection.readingIsPaused }).get() {
                try Task.checkCancellation()  // the time limit
                await Task.yield()
            }
            await session.close()
            #expect(session.lastClosure?.wasClean == true)
        }
    }

    /// The listener is full with the failure of the first attempt, and the subscribers change while
    /// the second one logs in.
    @Test func theHookReadsRegardlessOfTheListeners() async throws {
        try await ScriptedServer.with { _, number in
            number == 1
                ? .respond(HTTPResponse(status: .serviceUnavailable))
                : .upgrade { connection in connection.onMessage { connection, _ in connection.post("welcome") } }
        } _: { server in
            let place = NIOLockedValueBox<WebSocketSession?>(nil)
            let session = WebSocketSession(
                server.url,
                configuration: self.configuration {
                    $0.client.flow.receivedMessages = 1
                    $0.onOpenTimeout = .seconds(60)  // a loaded machine may need more than the default
                    $0.onOpen = { connection in
                        place.withLockedValue { $0 }?.listen(on: .eventLoop) { _ in }
                        try await connection.send("login")
                        var messages = connection.messages.makeAsyncIterator()
                        guard try await messages.next() == "welcome" else { throw CancellationError() }
                    }
                })
            place.withLockedValue { $0 = session }
            session.listen(on: .executor { _ in }) { _ in }
            try await session.connect()
            #expect(server.requests.count == 2)
            await session.close()
            place.withLockedValue { $0 = nil }
        }
    }

    @Test func waitingMessagesAreSentCompletely() async throws {
        let (heard, hear) = AsyncStream<Int>.makeStream()
        try await ScriptedServer.with { _, _ in
            .upgrade { connection in connection.onMessage { _, message in hear.yield(message.payload.readableBytes) } }
        } _: { server in
            let (waiting, wait) = AsyncStream<Void>.makeStream()
            let session = WebSocketSession(
                server.url,
                configuration: self.configuration {
                    $0.client.flow.postedBytes = 1000
                    $0.onOpen = { _ in for await _ in waiting {} }
                })
            for _ in 1...20 { try await session.send(.binary(ByteBuffer(repeating: 0, count: 100))) }
            wait.finish()
            var count = 0
            for await size in heard {
                #expect(size == 100)
                count += 1
                if count == 20 { break }
            }
            await session.close()
            #expect(session.lastCloseCode == .normalClosure)
        }
    }

    /// The hook succeeds, but its connection is closing.
    @Test func waitingMessagesSurviveAHookThatCloses() async throws {
        let (heard, hear) = AsyncStream<String>.makeStream()
        try await ScriptedServer.with { _, _ in
            .upgrade { connection in connection.onMessage { _, message in hear.yield(message.text ?? "") } }
        } _: { server in
            let hooks = NIOLockedValueBox(0)
            let session = WebSocketSession(
                server.url,
                configuration: self.configuration {
                    $0.onOpen = { connection in
                        let isFirst = hooks.withLockedValue { hooks in
                            hooks += 1
                            return hooks == 1
                        }
                        if isFirst { connection.startClosing(code: .goingAway) }
                    }
                })
            try await session.send("waited")
            for await text in heard {
                #expect(text == "waited")
                break
            }
            #expect(hooks.withLockedValue { $0 } == 2)
            await session.close()
        }
    }
}
