import ApusEventLoop
@testable import ApusWebSocket
import ApusWebSocketProtocol
import Dispatch
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct WebSocketSessionTests {
    private func configuration(
        _ policy: ReconnectionPolicy = .fixed(.milliseconds(10)), _ change: (inout WebSocketSessionConfiguration) -> Void = { _ in }
    ) -> WebSocketSessionConfiguration {
        var configuration = WebSocketSessionConfiguration()
        configuration.reconnection = policy
        configuration.watchesNetwork = false
        change(&configuration)
        return configuration
    }

    /// Sends `number` on every connection, echoes, and closes with 1012 on "restart" and 1000 on
    /// "bye".
    private let script: ScriptedServer.Script = { _, number in
        .upgrade { connection in
            connection.post(.text("\(number)"))
            connection.onMessage { connection, message in
                switch message.text {
                case "restart": connection.startClosing(code: .serviceRestart)
                case "bye": connection.startClosing(code: .normalClosure, reason: "done")
                case "abort": connection.abort()
                default: connection.post(message)
                }
            }
        }
    }

    @Test func aSequenceContinuesAcrossConnections() async throws {
        try await ScriptedServer.with(self.script) { server in
            let session = WebSocketSession(server.url, configuration: self.configuration())
            var texts: [String] = []
            for try await message in session.messages {
                texts.append(message.text ?? "")
                switch texts.count {
                case 1: try await session.send("restart")
                case 2: try await session.send("abort")
                case 3: try await session.send("bye")
                default: break
                }
            }
            #expect(texts == ["1", "2", "3"])
            #expect(session.state == .closedByPeer)
            #expect(session.lastCloseCode == .normalClosure)
            #expect(session.lastClosure?.reason == "done")
            #expect(session.lastClosure?.wasClean == true)
        }
    }

    @Test func onlyALossIsDecidedByTheApplication() async throws {
        try await ScriptedServer.with(self.script) { server in
            let losses = NIOLockedValueBox(0)
            let configuration = self.configuration {
                $0.retryDecision = { _ in
                    losses.withLockedValue { $0 += 1 }
                    return .giveUp
                }
            }
            let closed = WebSocketSession(server.url, configuration: configuration)
            try await closed.connect()
            await closed.close()
            #expect(closed.state == .closedByUser)
            #expect(losses.withLockedValue { $0 } == 0)
            let lost = WebSocketSession(server.url, configuration: configuration)
            try await lost.connect()
            try await lost.send("abort")
            await #expect(throws: WebSocketError.self) { for try await _ in lost.messages {} }
            #expect(losses.withLockedValue { $0 } == 1)
        }
    }

    @Test func aHandleConnectsSendsAndCloses() async throws {
        try await ScriptedServer.with(self.script) { server in
            let session = WebSocketSession(server.url, configuration: self.configuration())
            #expect(session.state == .idle)
            try await session.connect()
            #expect(session.state == .open)
            #expect(try await session.ping() > .zero)
            #expect(session.latency != nil)
            try await session.send("x")
            var messages = session.messages.makeAsyncIterator()
            #expect(try await messages.next() == "1")  // received before the first read
            #expect(try await messages.next() == "x")
            await session.close(code: .init(rawValue: 4000), reason: "enough")
            #expect(session.state == .closedByUser)
            #expect(session.lastCloseCode?.rawValue == 4000)
            #expect(try await messages.next() == nil)
            await #expect(throws: WebSocketError.self) { try await session.send("late") }
            #expect(!session.post("late"))
            try await session.connect()  // restarts the session
            var again = session.messages.makeAsyncIterator()
            #expect(try await again.next() == "2")
            await session.close()
            #expect(server.requests.count == 2)
        }
    }

    @Test func aScopeOpensAndCloses() async throws {
        try await ScriptedServer.with(self.script) { server in
            let session = try await WebSocketSession.withConnection(to: server.url, configuration: self.configuration()) { session in
                var messages = session.messages.makeAsyncIterator()
                let first = try await messages.next()
                #expect(first == "1")
                return session
            }
            #expect(session.state == .closedByUser)
        }
    }

    @Test func earlyMessagesWaitAndTheLoginIsFirst() async throws {
        let heard = NIOLockedValueBox<[String]>([])
        try await ScriptedServer.with { _, number in
            number == 1
                ? .respond(HTTPResponse(status: .serviceUnavailable))
                : .upgrade { connection in
                    connection.onMessage { connection, message in
                        heard.withLockedValue { $0.append(message.text ?? "") }
                        if message == "login" { connection.post("welcome") }
                        if message == "b" { connection.post("all") }
                    }
                }
        } _: { server in
            let session = WebSocketSession(
                server.url,
                configuration: self.configuration {
                    $0.onOpen = { connection in
                        try await connection.send("login")
                        var messages = connection.messages.makeAsyncIterator()
                        guard try await messages.next() == "welcome" else { throw CancellationError() }
                    }
                })
            try await session.send("a")
            #expect(session.post("b"))
            for try await message in session.messages {
                #expect(message == "all")
                break
            }
            #expect(heard.withLockedValue { $0 } == ["login", "a", "b"])
            #expect(server.requests.count == 2)
            await session.close()
        }
    }

    private struct LoginError: Error {}

    @Test func aLoginThatFailsIsAFailedAttempt() async throws {
        try await ScriptedServer.with(self.script) { server in
            let tries = NIOLockedValueBox(0)
            let session = WebSocketSession(
                server.url,
                configuration: self.configuration {
                    $0.onOpenTimeout = .seconds(60)
                    $0.onOpen = { connection in
                        let number = tries.withLockedValue { tries in
                            tries += 1
                            return tries
                        }
                        switch number {
                        case 1: throw LoginError()
                        case 2: _ = await connection.close()
                        default: break
                        }
                    }
                })
            let heard = NIOLockedValueBox<[WebSocketError.Code]>([])
            session.listen(on: .eventLoop) { event in
                if case .failure(let error, willRetry: true) = event { heard.withLockedValue { $0.append(error.code) } }
            }
            try await session.connect()
            #expect(heard.withLockedValue { $0 } == [.openHook, .connectionLost])
            #expect(server.requests.count == 3)
            await session.close()
        }
    }

    @Test func aLoginThatIsNotAnsweredIsAFailedAttempt() async throws {
        try await ScriptedServer.with(self.script) { server in
            let tries = NIOLockedValueBox(0)
            let session = WebSocketSession(
                server.url,
                configuration: self.configuration {
                    $0.onOpenTimeout = .milliseconds(200)
                    $0.onOpen = { _ in
                        let isFirst = tries.withLockedValue { tries in
                            tries += 1
                            return tries == 1
                        }
                        if isFirst { try await Task.sleep(for: .seconds(3600)) }
                    }
                })
            let heard = NIOLockedValueBox<[WebSocketError.Code]>([])
            session.listen(on: .eventLoop) { event in
                if case .failure(let error, willRetry: true) = event { heard.withLockedValue { $0.append(error.code) } }
            }
            try await session.connect()
            // On a busy machine the later attempts may time out too.
            #expect(heard.withLockedValue { Set($0) } == [.timeout])
            await session.close()
        }
    }

    @Test func attemptsAreBounded() async throws {
        try await ScriptedServer.with { _, _ in
            .hangUp
        } _: { server in
            let session = WebSocketSession(
                server.url, configuration: self.configuration(.fixed(.milliseconds(1), maximumAttempts: 5)))
            await #expect(throws: WebSocketError.self) { try await session.connect() }
            #expect(session.state == .failed)
            #expect(server.requests.count == 6)  // the first attempt and five retries
        }
    }

    @Test func aRefusalThatIsFinalEndsTheSession() async throws {
        try await ScriptedServer.with { _, _ in
            .respond(HTTPResponse(status: .unauthorized), body: "no")
        } _: { server in
            let session = WebSocketSession(server.url, configuration: self.configuration())
            let error = await #expect(throws: WebSocketError.self) { try await session.connect() }
            #expect(error?.refusal?.status == 401)
            #expect(session.state == .failed)
            #expect(session.lastError?.refusal?.status == 401)
            var messages = session.messages.makeAsyncIterator()
            await #expect(throws: WebSocketError.self) { try await messages.next() }
            #expect(server.requests.count == 1)
        }
    }

    @Test func theFieldsAreComputedForEveryAttempt() async throws {
        try await ScriptedServer.with { _, number in
            number < 3 ? .respond(HTTPResponse(status: .badGateway)) : .echo
        } _: { server in
            let tokens = NIOLockedValueBox(0)
            let session = WebSocketSession(
                server.url,
                configuration: self.configuration {
                    $0.client.requestHeaders = { _ in
                        let number = tokens.withLockedValue { tokens in
                            tokens += 1
                            return tokens
                        }
                        return [.authorization: "token \(number)"]
                    }
                })
            try await session.connect()
            #expect(server.requests.map { $0.headerFields[.authorization] } == ["token 1", "token 2", "token 3"])
            await session.close()
        }
    }

    @Test func aSilentPeerIsAbandoned() async throws {
        try await ScriptedServer.with { _, number in
            .upgrade { connection in
                connection.post(.text("\(number)"))
                if number == 1 { connection.setReading(paused: true) }  // connected, but not reading
            }
        } _: { server in
            let session = WebSocketSession(
                server.url,
                configuration: self.configuration {
                    $0.heartbeat = .ping(every: .milliseconds(20), answerWithin: .milliseconds(50))
                })
            var messages = session.messages.makeAsyncIterator()
            let (first, second) = (try await messages.next(), try await messages.next())
            #expect(first == "1")
            #expect(second == "2")
            #expect(session.lastClosure?.error?.code == .timeout)
            #expect(session.lastClosure?.code == .abnormalClosure)
            await session.close()
        }
    }

    @Test func listenersReceiveAllEventsInOrderOnTheirQueue() async throws {
        try await ScriptedServer.with(self.script) { server in
            let key = DispatchSpecificKey<Int>()
            let queue = DispatchQueue(label: "listener")
            queue.setSpecific(key: key, value: 7)
            let (lines, line) = AsyncStream<String>.makeStream()
            let session = WebSocketSession(server.url, configuration: self.configuration())
            let others = NIOLockedValueBox(0)
            session.listen(on: .eventLoop) { event in
                if case .message = event { others.withLockedValue { $0 += 1 } }
            }
            session.listen(on: .queue(queue)) { [weak session] event in
                #expect(DispatchQueue.getSpecific(key: key) == 7)
                switch event {
                case .opened:
                    line.yield("opened")
                case .message(let message):
                    line.yield("message \(message)")
                    if message == "1" { session?.post("restart") }
                    if message == "2" { session?.post("bye") }
                case .pong: line.yield("pong")
                case .failure(_, let willRetry): line.yield("failure \(willRetry)")
                case .closed(let closure, let willRetry):
                    line.yield("closed \(closure.code) \(closure.reason) \(closure.wasClean) \(willRetry)")
                    if !willRetry { line.finish() }
                }
            }
            var heard: [String] = []
            for await text in lines { heard.append(text) }
            #expect(heard == ["opened", "message 1", "closed 1012  true true", "opened", "message 2", "closed 1000 done true false"])
            #expect(others.withLockedValue { $0 } == 2)
        }
    }

    @Test func aCancelledListenerReceivesNothing() async throws {
        try await ScriptedServer.with(self.script) { server in
            let session = WebSocketSession(server.url, configuration: self.configuration())
            let heard = NIOLockedValueBox(0)
            let listening = session.listen(on: .executor { $0() }) { event in
                if case .message = event { heard.withLockedValue { $0 += 1 } }
            }
            try await session.connect()
            var messages = session.messages.makeAsyncIterator()
            listening.cancel()
            let before = heard.withLockedValue { $0 }
            try await session.send("x")
            while let message = try await messages.next(), message != "x" {}
            #expect(heard.withLockedValue { $0 } == before)
            await session.close()
        }
    }

    @Test func statesInOrder() async throws {
        try await ScriptedServer.with(self.script) { server in
            let session = WebSocketSession(server.url, configuration: self.configuration())
            let watcher = Task { [states = session.states(bufferingPolicy: .unbounded)] in
                var seen: [WebSocketSession.State] = []
                for await state in states {
                    seen.append(state)
                    if state.isEnded { break }
                }
                return seen
            }
            try await session.connect()
            try await session.send("restart")
            var messages = session.messages.makeAsyncIterator()
            #expect(try await messages.next() == "1")
            #expect(try await messages.next() == "2")
            await session.close()
            #expect(
                await watcher.value == [.idle, .connecting, .open, .waitingToReconnect, .connecting, .open, .closing, .closedByUser])
        }
    }

    @Test func nothingIsRetriedAfterTheUsersClose() async throws {
        try await ScriptedServer.with { _, _ in
            .hangUp
        } _: { server in
            let session = WebSocketSession(server.url, configuration: self.configuration(.fixed(.seconds(60))))
            session.listen(on: .eventLoop) { [weak session] event in
                if case .failure = event { session?.startClosing() }
            }
            await #expect(throws: WebSocketError.self) { try await session.connect() }
            #expect(session.state == .closedByUser)
            #expect(server.requests.count == 1)
        }
    }

    @Test func closeDoesNotWaitForASessionRestartedByAListener() async throws {
        try await ScriptedServer.with(self.script) { server in
            let session = WebSocketSession(server.url, configuration: self.configuration())
            let core = session.core
            let listening = session.listen(on: .eventLoop) { [weak core] event in
                if case .closed = event { core?.value.connect(again: true) }
            }
            try await session.connect()
            await session.close()
            listening.cancel()
            try await session.connect()
            await session.close()
        }
    }

    @Test func waitingForTheConnectionHasADeadlineAndCanBeCancelled() async throws {
        try await ScriptedServer.with { _, _ in
            .silence
        } _: { server in
            let session = WebSocketSession(server.url, configuration: self.configuration())
            let error = await #expect(throws: WebSocketError.self) { try await session.connect(timeout: .milliseconds(30)) }
            #expect(error?.code == .timeout)
            #expect(session.state == .connecting)
            let task = Task { try await session.connect() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await session.close()
        }
    }

    /// A reader that stops makes the session stop reading, and the peer stop sending.
    @Test func aReaderThatStopsStopsThePeer() async throws {
        let sent = NIOLockedValueBox(0)
        let total = 2000
        try await ScriptedServer.with { _, _ in
            .upgrade { connection in
                Task {
                    for _ in 1...total {
                        try await connection.send(.binary(ByteBuffer(repeating: 1, count: 32 << 10)))
                        sent.withLockedValue { $0 += 1 }
                    }
                }
            }
        } _: { server in
            let session = WebSocketSession(server.url, configuration: self.configuration { $0.heartbeat = .none })
            try await session.connect()
            while (try? await session.ping(timeout: .milliseconds(200))) != nil {}  // until the session has stopped reading
            #expect(sent.withLockedValue { $0 } < total)
            var count = 0
            for try await _ in session.messages {
                count += 1
                if count == total { break }
            }
            #expect(count == total)
            await session.close()
        }
    }

    // MARK: Release

    private struct Weak {
        let loop: any EventLoop
        weak var session: WebSocketSession?
        let core: WeakLoopBound<WebSocketSessionCore>
        weak var connection: WebSocketConnection?
        weak var listener: Gate?
    }

    private func use(_ url: String, closes: Bool) async throws -> Weak {
        let session = WebSocketSession(url, configuration: self.configuration { $0.onOpen = { try await $0.send("login") } })
        let listener = Gate()
        session.listen(on: .main) { [weak session] _ in
            _ = (session, listener)
        }
        session.listen(on: .eventLoop) { _ in _ = listener }
        try await session.connect()
        try await session.send("x")
        for try await message in session.messages where message == "x" { break }
        _ = try await session.ping()
        let core = session.core
        let weakCore = try await core.eventLoop.submit { WeakLoopBound(core.value, on: core.eventLoop) }.get()
        let weak = Weak(
            loop: core.eventLoop, session: session, core: weakCore, connection: session.connection, listener: listener)
        if closes { await session.close() }
        return weak
    }

    @Test(arguments: [true, false]) func everythingIsReleased(closes: Bool) async throws {
        try await ScriptedServer.with(self.script) { server in
            let weak = try await self.use(server.url, closes: closes)
            #expect(weak.session == nil)
            // The rest is released after the close handshake.
            while weak.connection != nil || weak.listener != nil {
                try Task.checkCancellation()
                await Task.yield()
            }
            while try await weak.loop.submit({ weak.core.object != nil }).get() {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }
}
