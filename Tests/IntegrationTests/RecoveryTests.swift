import ApusConnectivity
import ApusEngineIOProtocol
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import ApusSocketIOServer
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

/// A TCP relay that can break its connections.
private final class CuttableRelay: Sendable {
    private final class Glue: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        private let partner: any Channel

        init(_ partner: any Channel) { self.partner = partner }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.partner.writeAndFlush(self.unwrapInboundIn(data), promise: nil)
        }
        func channelInactive(context: ChannelHandlerContext) { self.partner.close(promise: nil) }
    }

    private let listener: any Channel
    private let channels: NIOLockedValueBox<[any Channel]>
    private let isBlocked = NIOLockedValueBox(false)

    init(to port: Int) async throws {
        let channels = NIOLockedValueBox<[any Channel]>([])
        self.channels = channels
        let isBlocked = self.isBlocked
        self.listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channels.withLockedValue { $0.append(channel) }
                if isBlocked.withLockedValue({ $0 }) { return channel.close() }
                return ClientBootstrap(group: channel.eventLoop).connect(host: "127.0.0.1", port: port).flatMapThrowing { server in
                    try channel.pipeline.syncOperations.addHandler(Glue(server))
                    try server.pipeline.syncOperations.addHandler(Glue(channel))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var url: String { "http://127.0.0.1:\(self.listener.localAddress?.port ?? 0)" }

    /// Breaks all open connections.
    func cut() {
        let channels = self.channels.withLockedValue { channels in
            defer { channels = [] }
            return channels
        }
        for channel in channels { channel.close(promise: nil) }
    }

    /// Breaks all open connections, and closes each new one until `unblock` is called.
    func block() {
        self.isBlocked.withLockedValue { $0 = true }
        self.cut()
    }

    func unblock() { self.isBlocked.withLockedValue { $0 = false } }

    func close() {
        self.cut()
        self.listener.close(promise: nil)
    }
}

/// Connection state recovery between the client and the server of Apus after a broken connection.
@Suite(.timeLimit(.minutes(5)))
struct RecoveryTests {
    @Test(arguments: [Way.webSocket]) func missedEventsArriveOnceAndInOrder(way: Way) async throws {
        var configuration = SocketIOServerConfiguration()
        configuration.connectionStateRecovery = .init()
        let server = SocketIOServer(configuration: configuration)
        let (sockets, connected) = AsyncStream.makeStream(of: SocketIOServerSocket.self)
        let (losses, lost) = AsyncStream.makeStream(of: SocketIOServerDisconnectReason.self)
        server.namespace("/").onConnection { socket in
            socket.onDisconnect { reason in lost.yield(reason) }
            connected.yield(socket)
        }
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await server.run(host: "127.0.0.1", port: 0) { address in found.yield(address.port ?? 0) } }
        defer { running.cancel() }
        let relay = try await CuttableRelay(to: try #require(await ports.first { _ in true }))
        defer { relay.close() }

        let policy = ReconnectionPolicy.fixed(.milliseconds(50))
        let client = SocketIOManager(url: relay.url, configuration: way.configuration(reconnection: policy)).defaultSocket
        var numbers = client.messages("n", as: Int.self, bufferingPolicy: .unbounded).makeAsyncIterator()
        try await client.connect(timeout: .seconds(60))
        var arrivals = sockets.makeAsyncIterator()
        var departures = losses.makeAsyncIterator()
        let first = try #require(await arrivals.next())
        first.join("red")
        first.data = ["name": "bob"]

        var sent = 0
        func emit(_ count: Int) {
            for _ in 0..<count {
                switch sent % 3 {
                case 0: server.namespace("/").emit("n", sent)
                case 1: server.namespace("/").to("red").emit("n", sent)
                default: first.emit("n", sent)
                }
                sent += 1
            }
        }
        // The first loss is before any event.
        for round in 0..<4 {
            relay.cut()
            emit(5)  // possibly in flight
            _ = await departures.next()
            emit(5)  // while no client is connected
            let back = try #require(await arrivals.next())
            #expect(back.isRecovered, "round \(round)")
            #expect(back.id == first.id)
            #expect(back.rooms == ["red", first.id])
            #expect(back.data == ["name": "bob"])
            emit(5)
            for number in (sent - 15)..<sent { #expect(await numbers.next() == number, "round \(round)") }
            #expect(client.isRecovered)
            #expect(client.id == first.id)
        }
        client.disconnect()
    }

    /// Runs a server with several event loops for the following tests.
    private func withServer(
        _ body: (_ server: SocketIOServer, _ port: Int) async throws -> Void
    ) async throws {
        var configuration = SocketIOServerConfiguration()
        configuration.connectionStateRecovery = .init()
        let server = SocketIOServer(configuration: configuration)
        _ = server.namespace("/")
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 3)
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let running = Task {
            try await server.run(host: "127.0.0.1", port: 0, eventLoopGroup: group) { address in found.yield(address.port ?? 0) }
        }
        let port = try #require(await ports.first { _ in true })
        let result: Result<Void, any Error>
        do { result = .success(try await body(server, port)) } catch { result = .failure(error) }
        running.cancel()
        try await running.value
        try await group.shutdownGracefully()
        try result.get()
    }

    /// Breaks the connection after the response with the private id, while no poll is pending that
    /// could fail.
    @Test(arguments: Way.allCases) func aClientLostAfterItsConnectIsRecovered(way: Way) async throws {
        try await self.withServer { server, port in
            let (sockets, connected) = AsyncStream.makeStream(of: SocketIOServerSocket.self)
            server.namespace("/").onConnection { connected.yield($0) }
            let relay = try await CuttableRelay(to: port)
            defer { relay.close() }
            let manager = SocketIOManager(url: relay.url, configuration: way.configuration(reconnection: .fixed(.milliseconds(10))))
            let client = manager.defaultSocket
            let cuts = NIOLockedValueBox(0)
            client.on(clientEvent: .connect) { (_: SocketIOClientLifecycleEvent) in
                let count = cuts.withLockedValue { count in
                    count += 1
                    return count
                }
                // The upgrade could otherwise continue the session over a new connection.
                if count <= 10 { relay.block() }
            }
            client.on(clientEvent: .disconnect) { (_: SocketIOClientLifecycleEvent) in relay.unblock() }
            var numbers = client.messages("n", as: Int.self, bufferingPolicy: .unbounded).makeAsyncIterator()
            try await client.connect(timeout: .seconds(60))
            var arrivals = sockets.makeAsyncIterator()
            let first = try #require(await arrivals.next())
            for round in 0..<10 {
                server.namespace("/").emit("n", round)
                let back = try #require(await arrivals.next())
                #expect(back.isRecovered && back.id == first.id, "round \(round)")
                #expect(await numbers.next() == round)
            }
            #expect(server.namespace("/").sockets.count == 1)
            await manager.close()
        }
    }

    /// Recovers a polling client with manual requests, each on a separate connection.
    @Test func aPollingClientThatChangesItsConnectionIsRecovered() async throws {
        try await self.withServer { server, port in
            func exchange(_ method: HTTPMethod, _ sid: String, _ body: String? = nil) async throws -> String {
                let client = HTTPExchangeClient(
                    configuration: .init(origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: port)),
                    eventLoop: MultiThreadedEventLoopGroup.singleton.next())
                defer { client.finish() }
                let request = HTTPExchangeRequest(
                    method, "/socket.io/?EIO=4&transport=polling\(sid)", body: body.map { ByteBuffer(string: $0) })
                return String(buffer: try await client.send(request, timeout: .seconds(60)).body)
            }
            var (pid, socketID) = ("", "")
            for round in 0..<10 {
                let open = try await exchange(.GET, "")
                let sid = "&sid=" + (try #require(open.firstMatch(of: /"sid":"([^"]+)"/)?.1))
                #expect(try await exchange(.POST, sid, pid.isEmpty ? "40" : "40{\"pid\":\"\(pid)\"}") == "ok")
                let answer = try await exchange(.GET, sid)
                let grant = try #require(answer.firstMatch(of: /"sid":"([^"]+)","pid":"([^"]+)"/))
                if round > 0 {
                    #expect(grant.1 == socketID, "round \(round)")
                    #expect(answer.contains("[\"n\",\(round - 1),"), "round \(round)")
                }
                (socketID, pid) = (String(grant.1), String(grant.2))
                server.namespace("/").emit("n", round)
            }
            #expect(server.clientCount == 1)
        }
    }
}
