@testable import ApusWebSocket
import ApusWebSocketProtocol
import Dispatch
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

/// The server and the client over the loopback interface.
@Suite struct WebSocketServerTests {

    @Test(.timeLimit(.minutes(5))) func anAsyncHandlerEchoes() async throws {
        let server = WebSocketServer { connection in
            for try await message in connection.messages { try await connection.send(message) }
        }
        try await withServer(server) { port in
            let closure = try await WebSocketClient.withConnection(to: "ws://127.0.0.1:\(port)/") { connection in
                for number in 0..<100 { try await connection.send(.text("\(number)")) }
                var messages = connection.messages.makeAsyncIterator()
                for number in 0..<100 { #expect(try await messages.next() == .text("\(number)")) }
                return await connection.close(code: .init(rawValue: 3001))
            }
            #expect(closure.wasClean)
            #expect(closure.code.rawValue == 3001)
        }
        #expect(server.connectionCount == 0)
    }

    @Test(.timeLimit(.minutes(5))) func aHandlerThatReturnsClosesWith1000AndOneThatThrowsWith1011() async throws {
        struct Mistake: Error {}
        let server = WebSocketServer { connection in
            guard connection.request?.path == "/?throw" else { return }
            throw Mistake()
        }
        try await withServer(server) { port in
            let returned = try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/")
            #expect(await returned.waitUntilClosed().code == .normalClosure)
            let thrown = try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/?throw")
            #expect(await thrown.waitUntilClosed().code == .internalError)
        }
    }

    @Test(.timeLimit(.minutes(5))) func theApplicationsCheckMaySuspendAndRefuse() async throws {
        var configuration = WebSocketServerConfiguration()
        configuration.shouldUpgrade = { request in
            await Task.yield()
            switch request.headerFields[.authorization] {
            case "good": break
            case "bad": throw CancellationError()
            default: throw WebSocketUpgradeRefusal(.unauthorized, message: "Sign in first", headerFields: [.wwwAuthenticate: "Bearer"])
            }
        }
        let server = WebSocketServer(configuration: configuration) { connection in try await connection.send("welcome") }
        try await withServer(server) { port in
            func open(_ token: String?) async throws -> WebSocketConnection {
                var configuration = WebSocketClientConfiguration()
                configuration.headers = token.map { [.authorization: $0] } ?? [:]
                return try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/", configuration: configuration)
            }
            var messages = try await open("good").messages.makeAsyncIterator()
            #expect(try await messages.next() == "welcome")
            let refusal = await #expect(throws: WebSocketError.self) { try await open(nil) }?.refusal
            #expect(refusal?.status == 401)
            #expect(refusal.map { String(decoding: $0.body, as: UTF8.self) } == "Sign in first")
            #expect(await #expect(throws: WebSocketError.self) { try await open("bad") }?.refusal?.status == 500)
        }
        #expect(server.connectionCount == 0)
    }

    @Test(.timeLimit(.minutes(5))) func aCheckThatTakesTooLongIsCancelledAndAnswered() async throws {
        var configuration = WebSocketServerConfiguration()
        configuration.handshakeTimeout = .seconds(2)
        let hasBegun = NIOLockedValueBox(false)
        configuration.shouldUpgrade = { _ in
            hasBegun.withLockedValue { $0 = true }
            try await Task.sleep(for: .seconds(3600))
        }
        let server = WebSocketServer(configuration: configuration, onOpen: { _ in })
        try await withServer(server) { port in
            var response = ""
            // On a busy machine, the timeout can pass before the request arrives.
            while !hasBegun.withLockedValue({ $0 }) {
                let peer = try await RawPeer.connect(port: port)
                try await peer.send(EmbeddedWebSocketServer.request())
                response = try await peer.waitForEnd()
            }
            #expect(response.hasPrefix("HTTP/1.1 503 "))
        }
        // The check keeps its permit until it has ended.
        while server.connectionCount > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test(.timeLimit(.minutes(5))) func aBroadcastReachesAllButTheSender() async throws {
        let room = WebSocketServer(onOpen: { connection in
            connection.onMessage { connection, message in connection.post(message) }
        })
        try await withServer(room) { port in
            var connections: [WebSocketConnection] = []
            for _ in 0..<10 {
                let connection = try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/")
                try await connection.send("here")
                var messages = connection.messages.makeAsyncIterator()
                #expect(try await messages.next() == "here")
                connections.append(connection)
            }
            let sender = try #require(room.connections.first)
            room.broadcast("to all")
            room.broadcast("to the others", excluding: sender)
            room.broadcast("last")
            var excluded = 0
            for connection in connections {
                var messages = connection.messages.makeAsyncIterator()
                #expect(try await messages.next() == "to all")
                let next = try await messages.next()
                if next == "last" { excluded += 1 } else { #expect(next == "to the others") }
            }
            #expect(excluded == 1)
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [false, true]) func aBroadcastIsCompressedForThoseWhoNegotiatedIt(isOffered: Bool)
        async throws
    {
        var configuration = WebSocketServerConfiguration()
        configuration.compression = .init()
        let opened = AsyncStream.makeStream(of: Void.self)
        let server = WebSocketServer(configuration: configuration, onOpen: { _ in opened.continuation.yield() })
        try await withServer(server) { port in
            let peer = try await RawPeer.connect(port: port)
            let offer = isOffered ? ["Sec-WebSocket-Extensions: permessage-deflate"] : []
            try await peer.send(EmbeddedWebSocketServer.request("/", lines: offer))
            _ = try await peer.receive(until: "\r\n\r\n")
            var openings = opened.stream.makeAsyncIterator()
            _ = await openings.next()
            let text = String(repeating: "again and ", count: 1_000)
            server.broadcast(.text(text), excluding: nil)
            server.broadcast(.text("last"))
            let received = try await peer.receive(until: "last")
            #expect(received.contains("again and again") != isOffered)
            #expect((received.utf8.count < 1_000) == isOffered)
            await peer.close()
        }
    }

    /// The server reads the peer's message and its end in one turn, since its event loop is blocked
    /// until both have arrived.
    @Test(.timeLimit(.minutes(5)), arguments: [false, true]) func aPeerThatSendsAndClosesIsAnswered(withItsRequest: Bool) async throws {
        let server = WebSocketServer(onOpen: { connection in connection.onMessage { connection, message in connection.post(message) } })
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await withServer(server, on: group) { port in
            let peer = try await RawPeer.connect(port: port)
            var last = ByteBuffer()
            if withItsRequest {
                last.writeString(EmbeddedWebSocketServer.request())
            } else {
                try await peer.send(EmbeddedWebSocketServer.request())
                _ = try await peer.receive(until: "\r\n\r\n")
                WebSocketFrameEncoder.write(text: Array("the last word".utf8), maskingKey: WebSocketMaskingKey(word: 7), into: &last)
            }
            let (holds, held) = AsyncStream.makeStream(of: Void.self)
            let allIsSaid = DispatchSemaphore(value: 0)
            group.next().execute {
                held.yield()
                _ = allIsSaid.wait(timeout: .now() + 60)
            }
            for await _ in holds { break }
            try await peer.send(last)
            try await peer.hangUp()
            allIsSaid.signal()
            let answers = try await peer.waitForEnd()
            #expect(answers.hasPrefix("HTTP/1.1 101 "))
            #expect(answers.contains("the last word") == !withItsRequest)
        }
        try await group.shutdownGracefully()
    }

    /// docs/hazards.md, 17.
    @Test(.timeLimit(.minutes(5))) func aShutdownClosesEveryConnection() async throws {
        var configuration = WebSocketServerConfiguration()
        configuration.drainBatchSize = 3
        configuration.drainBatchGap = .milliseconds(10)
        let server = WebSocketServer(configuration: configuration) { connection in
            for try await message in connection.messages { try await connection.send(message) }
        }
        var connections: [WebSocketConnection] = []
        try await withServer(server) { port in
            for _ in 0..<10 { connections.append(try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/")) }
        }
        for connection in connections {
            let closure = await connection.waitUntilClosed()
            #expect(closure.code == .goingAway)
            #expect(closure.wasClean)
        }
        #expect(server.connectionCount == 0)
    }

    @Test(.timeLimit(.minutes(5))) func remainingConnectionsAreAbortedAtTheDeadline() async throws {
        var configuration = WebSocketServerConfiguration()
        configuration.drainTimeout = .milliseconds(200)
        let cancelled = AsyncStream.makeStream(of: Bool.self)
        let server = WebSocketServer(configuration: configuration) { _ in
            do { try await Task.sleep(for: .seconds(3600)) } catch { cancelled.continuation.yield(true) }
        }
        var peer: RawPeer?
        try await withServer(server) { port in
            peer = try await RawPeer.connect(port: port)
            try await peer?.send(EmbeddedWebSocketServer.request())
            #expect(try await peer?.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 101 ") == true)
        }
        // The connection is closed with 1001, then aborted without an answer; its handler is
        // cancelled.
        #expect(try await peer?.waitForEnd().contains("\r\n\r\n") == true)
        var cancellations = cancelled.stream.makeAsyncIterator()
        #expect(await cancellations.next() == true)
        while server.connectionCount > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }  // the shutdown does not wait for aborted ones
    }

    @Test(.timeLimit(.minutes(5))) func aHandlerThatOutlivesItsConnectionKeepsItsPermit() async throws {
        var configuration = WebSocketServerConfiguration()
        configuration.maximumConnections = 1
        let ended = AsyncStream.makeStream(of: Void.self)
        let gate = AsyncStream.makeStream(of: Void.self)
        let server = WebSocketServer(configuration: configuration) { connection in
            _ = await connection.waitUntilClosed()
            ended.continuation.yield()
            for await _ in gate.stream {}  // still handles a message
        }
        try await withServer(server) { port in
            let first = try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/")
            await first.close()
            var ends = ended.stream.makeAsyncIterator()
            _ = await ends.next()
            #expect(server.connections.isEmpty)
            #expect(server.connectionCount == 1)
            let refusal = await #expect(throws: WebSocketError.self) { try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/") }
            #expect(refusal?.refusal?.status == 503)
            gate.continuation.finish()
            while server.connectionCount > 0 {
                try Task.checkCancellation()
                await Task.yield()
            }
            await (try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/")).close()
        }
        #expect(server.connectionCount == 0)
    }

    @Test(.timeLimit(.minutes(5))) func noConnectionIsAcceptedAfterAShutdown() async throws {
        let asked = AsyncStream.makeStream(of: Void.self)
        let gate = AsyncStream.makeStream(of: Void.self)
        var configuration = WebSocketServerConfiguration()
        configuration.shouldUpgrade = { _ in
            asked.continuation.yield()
            for await _ in gate.stream {}
        }
        let server = WebSocketServer(configuration: configuration) { _ in Issue.record("a handler after the shutdown") }
        try await withServer(server) { port in
            let peer = try await RawPeer.connect(port: port)
            try await peer.send(EmbeddedWebSocketServer.request())
            var questions = asked.stream.makeAsyncIterator()
            _ = await questions.next()
            await server.shutdown()  // returns at once, as no connection is open
            gate.continuation.finish()
            #expect(try await peer.waitForEnd().hasPrefix("HTTP/1.1 503 "))
        }
        #expect(server.connectionCount == 0)
    }

    /// docs/hazards.md, 16: equivalent to a reader stopped by SIGSTOP.
    @Test(.timeLimit(.minutes(5))) func aReaderThatStopsIsClosedAndTheOthersAreNotAffected() async throws {
        var configuration = WebSocketServerConfiguration()
        configuration.flow.postedBytes = 1 << 20
        configuration.limits.closeTimeout = .milliseconds(200)
        let closures = AsyncStream.makeStream(of: WebSocketClosure.self)
        let server = WebSocketServer(
            configuration: configuration,
            onOpen: { connection in
                guard connection.request?.path == "/?stops" else { return }
                connection.onClose { closures.continuation.yield($0) }
            })
        try await withServer(server) { port in
            let stopped = try await RawPeer.connect(port: port)
            try await stopped.send(EmbeddedWebSocketServer.request("/?stops"))
            _ = try await stopped.receive(until: "\r\n\r\n")
            try await stopped.stopReading()
            let healthy = try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/")
            var messages = healthy.messages.makeAsyncIterator()
            // Far more than the kernel's buffers and the queue limit together.
            let message = WebSocketMessage.binary(ByteBuffer(repeating: 7, count: 64 << 10))
            for _ in 0..<400 {
                server.broadcast(message)
                #expect(try await messages.next()?.payload.readableBytes == 64 << 10)
            }
            var ended = closures.stream.makeAsyncIterator()
            let closure = await ended.next()
            #expect(closure?.initiator == .ourselves)
            #expect(server.connections.count == 1)
            await stopped.close()
        }
    }

    /// docs/hazards.md, 16, from other threads: a hop to the event loop makes no room while the
    /// transport takes nothing.
    @Test(.timeLimit(.minutes(5)), arguments: [WebSocketFlowControl.Overflow.close, .drop]) func postsFromOtherThreadsAreBounded(
        overflow: WebSocketFlowControl.Overflow
    ) async throws {
        var configuration = WebSocketServerConfiguration()
        configuration.flow.postedBytes = 1 << 20
        configuration.flow.overflow = overflow
        configuration.limits.closeTimeout = .milliseconds(200)
        let opened = AsyncStream.makeStream(of: WebSocketConnection.self)
        let server = WebSocketServer(configuration: configuration, onOpen: { opened.continuation.yield($0) })
        try await withServer(server) { port in
            let peer = try await RawPeer.connect(port: port)
            try await peer.send(EmbeddedWebSocketServer.request())
            _ = try await peer.receive(until: "\r\n\r\n")
            try await peer.stopReading()
            var connections = opened.stream.makeAsyncIterator()
            let connection = try #require(await connections.next())
            let message = WebSocketMessage.binary(ByteBuffer(repeating: 7, count: 64 << 10))
            var taken = 0
            // Far more than the kernel's buffers and the queue limit together.
            for _ in 0..<400 {
                if connection.post(message) { taken += 1 }
                let queued = try await connection.eventLoop.submit { connection.handler?.queuedBytes ?? 0 }.get()
                #expect(queued < 2 << 20)
            }
            #expect(taken < 400)
            #expect(connection.isOpen == (overflow == .drop))
            connection.abort()
            await peer.close()
        }
    }

    @Test(.timeLimit(.minutes(5))) func aUnixSocket() async throws {
        let path = "/tmp/apus-ws-\(UInt32.random(in: 0 ... .max)).sock"
        let server = WebSocketServer(onOpen: { connection in connection.onMessage { $0.post($1) } })
        let listening = AsyncStream.makeStream(of: SocketAddress.self)
        let running = Task { try await server.run(unixDomainSocketPath: path) { listening.continuation.yield($0) } }
        var addresses = listening.stream.makeAsyncIterator()
        #expect(await addresses.next()?.pathname == path)
        let peer = try await RawPeer.connect(path: path)
        try await peer.send(EmbeddedWebSocketServer.request())
        #expect(try await peer.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 101 "))
        await peer.close()
        running.cancel()
        try await running.value
        #expect(!unlinkFile(path), "the socket was left behind")
    }

    @Test func nonsenseIsRefusedBeforeAnythingListens() async throws {
        for spoil: (inout WebSocketServerConfiguration) -> Void in [
            { $0.path = "ws" }, { $0.path = "/ws?a" }, { $0.maximumConnections = 0 }, { $0.handshakeTimeout = .zero },
            { $0.pingInterval = .zero }, { $0.limits.maximumHeaderFields = 0 }, { $0.drainBatchSize = 0 },
            {
                $0.compression = .init(); $0.compression?.compressionLevel = 10
            },
        ] {
            var configuration = WebSocketServerConfiguration()
            spoil(&configuration)
            let server = WebSocketServer(configuration: configuration, onOpen: { _ in })
            let error = await #expect(throws: WebSocketError.self) { try await server.run(host: "127.0.0.1", port: 0) }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    @Test(.timeLimit(.minutes(5))) func compressedMessagesBothWays() async throws {
        var configuration = WebSocketServerConfiguration()
        configuration.compression = .init()
        let server = WebSocketServer(configuration: configuration, onOpen: { connection in connection.onMessage { $0.post($1) } })
        try await withServer(server) { port in
            var configuration = WebSocketClientConfiguration()
            configuration.compression = .init()
            try await WebSocketClient.withConnection(to: "ws://127.0.0.1:\(port)/", configuration: configuration) { connection in
                var messages = connection.messages.makeAsyncIterator()
                let message = WebSocketMessage.text(String(repeating: "again and ", count: 10_000))
                try await connection.send(message)
                #expect(try await messages.next() == message)
            }
        }
    }
}
