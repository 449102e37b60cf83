import ApusChatProtocol
import ApusEventLoop
import ApusJSON
import ApusSocketIOServer
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatClient

/// The connection of the client to a server with scripted answers.
@Suite(.timeLimit(.minutes(5)))
struct LiveTransportTests {
    /// Runs `body` with a transport and a server with the namespace of the chat. The server answers
    /// `echo` and `push` with their payloads, after the push `event` for `push`. `drop` ends the
    /// connection, and other verbs are not answered.
    private func with(
        access: @escaping @Sendable () async throws -> String = { "secret" }, timeout: Duration = .seconds(60),
        _ body: (SocketIOChatTransport) async throws -> Void
    ) async throws {
        let server = SocketIOServer(logger: .silent)
        let namespace = server.namespace(ChatVerbs.namespace)
        namespace.use { socket in
            switch socket.handshake.auth["token"]?.stringValue {
            case "secret": break
            case "banned":
                let error = ChatError(.forbidden, message: "The account is suspended.")
                throw SocketIOConnectionRefusal(message: error.code.rawValue, data: error.json.objectValue?["error"])
            case "old": throw SocketIOConnectionRefusal(message: "unauthorized")
            default: throw SocketIOConnectionRefusal(message: "not now")
            }
        }
        namespace.onConnection { socket in
            socket.on("echo") { (event: SocketIOReceivedEvent) in event.acknowledge(values: event.arguments) }
            socket.on("push") { (event: SocketIOReceivedEvent) in
                socket.emit("event", "pushed")
                event.acknowledge(values: event.arguments)
            }
            socket.on("drop") { (_: SocketIOReceivedEvent) in socket.disconnect(close: true) }
        }
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await server.run(host: "127.0.0.1", port: 0) { found.yield($0.port ?? 0) } }
        var configuration = ChatClientConfiguration()
        configuration.requestTimeout = timeout
        configuration.reconnection = .exponential(from: .milliseconds(10), to: .milliseconds(20))
        let transport = SocketIOChatTransport(
            server: "http://127.0.0.1:\(await ports.first { _ in true } ?? 0)", access: access, configuration: configuration,
            logger: .silent)
        let result: Result<Void, any Error>
        do { result = .success(try await body(transport)) } catch { result = .failure(error) }
        await transport.close()
        running.cancel()
        try await running.value
        try result.get()
    }

    /// Returns the next events of a transport as texts, without a time limit.
    private func next(_ events: inout AsyncStream<ChatTransportEvent>.Iterator, _ count: Int = 1) async -> [String] {
        var texts: [String] = []
        while texts.count < count, let event = await events.next() {
            switch event {
            case .connected: texts.append("connected")
            case .disconnected(let reconnects): texts.append("disconnected \(reconnects)")
            case .refused(let error): texts.append("refused \(error.code.rawValue)")
            case .push(let name, let payload): texts.append("\(name) \(payload.stringValue ?? "-")")
            case .answer(let number, .success(let value)): texts.append("answer \(number) \(value.stringValue ?? "-")")
            case .answer(let number, .failure(let error)): texts.append("failure \(number) \(error.code)")
            case .pushesLost: texts.append("lost")
            }
        }
        return texts
    }

    @Test func answersAndPushesHaveTheOrderOfTheServer() async throws {
        try await self.with { transport in
            var events = transport.incoming.makeAsyncIterator()
            transport.send("echo", "early", number: 1)
            #expect(await self.next(&events) == ["failure 1 notConnected"], "before the connection")
            transport.connect()
            #expect(await self.next(&events) == ["connected"])
            for number in 2...5 { transport.send(number == 4 ? "push" : "echo", .string("\(number * 10)"), number: number) }
            #expect(await self.next(&events, 5) == ["answer 2 20", "answer 3 30", "event pushed", "answer 4 40", "answer 5 50"])
        }
    }

    @Test func aRequestWithoutAnAnswerTimesOut() async throws {
        try await self.with(timeout: .milliseconds(500)) { transport in
            var events = transport.incoming.makeAsyncIterator()
            transport.connect()
            #expect(await self.next(&events) == ["connected"])
            transport.send("unknown", .null, number: 7)
            #expect(await self.next(&events) == ["failure 7 timeout"])
        }
    }

    /// The pending requests fail at once, and the next connection answers again.
    @Test func aLostConnectionFailsWaitingRequests() async throws {
        try await self.with { transport in
            var events = transport.incoming.makeAsyncIterator()
            transport.connect()
            #expect(await self.next(&events) == ["connected"])
            transport.send("unknown", .null, number: 1)
            transport.send("drop", .null, number: 2)
            // The order of the two failures and of the loss is not defined.
            let lost = await self.next(&events, 3)
            #expect(lost.filter { $0.hasPrefix("failure") }.sorted() == ["failure 1 notConnected", "failure 2 notConnected"])
            // A server that ends the session expects no reconnection.
            if lost.contains("disconnected false") { transport.connect() }
            #expect(lost.contains { $0.hasPrefix("disconnected") })
            #expect(await self.next(&events) == ["connected"])
            transport.send("echo", "again", number: 3)
            #expect(await self.next(&events) == ["answer 3 again"])
        }
    }

    @Test func aDisconnectedTransportConnectsOnRequestOnly() async throws {
        try await self.with { transport in
            var events = transport.incoming.makeAsyncIterator()
            transport.connect()
            #expect(await self.next(&events) == ["connected"])
            transport.disconnect()
            #expect(await self.next(&events) == ["disconnected false"])
            transport.send("echo", "x", number: 1)
            #expect(await self.next(&events) == ["failure 1 notConnected"])
            transport.connect()
            #expect(await self.next(&events) == ["connected"])
        }
    }

    @Test(arguments: [("banned", "refused forbidden"), ("old", "refused unauthorized"), ("other", "disconnected false")])
    func aRefusalIsReported(token: String, event: String) async throws {
        try await self.with(access: { token }) { transport in
            var events = transport.incoming.makeAsyncIterator()
            transport.connect()
            #expect(await self.next(&events) == [event])
        }
    }

    /// An ended session is reported without a request to the server.
    @Test func aTokenThatCannotBeRenewedIsARefusal() async throws {
        try await self.with(access: { throw ChatClientError(.signedOut, message: "ended") }) { transport in
            var events = transport.incoming.makeAsyncIterator()
            transport.connect()
            #expect(await self.next(&events) == ["refused unauthorized"])
        }
    }

    /// Each connection requests a token, which can have changed.
    @Test func eachConnectionHasItsToken() async throws {
        let asked = NIOLockedValueBox(0)
        try await self.with(access: {
            asked.withLockedValue {
                $0 += 1; return $0 == 1 ? "secret" : "banned"
            }
        }) { transport in
            var events = transport.incoming.makeAsyncIterator()
            transport.connect()
            #expect(await self.next(&events) == ["connected"])
            transport.disconnect()
            #expect(await self.next(&events) == ["disconnected false"])
            transport.connect()
            #expect(await self.next(&events) == ["refused forbidden"])
        }
        #expect(asked.withLockedValue { $0 } == 2)
    }

    @Test func theEventsEndWithTheTransport() async throws {
        try await self.with { transport in
            var events = transport.incoming.makeAsyncIterator()
            transport.connect()
            #expect(await self.next(&events) == ["connected"])
            await transport.close()
            while await events.next() != nil {}
        }
    }
}
