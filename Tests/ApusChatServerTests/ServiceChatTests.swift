import ApusChatProtocol
import ApusEventLoop
import ApusJSON
import ApusPasswords
import ApusSocketIOClient
import ApusSocketIOServer
import Testing

@testable import ApusChatServer

/// The whole server: accounts, routes and the chat over Socket.IO.
@Suite(.timeLimit(.minutes(5))) struct ServiceChatTests {

    private func with(
        _ configure: (inout ChatServerConfiguration) -> Void = { _ in }, _ body: (RunningServer) async throws -> Void
    ) async throws { try await RunningServer.with(configure, makeChat: { try ServiceChat($0, $1, $2) }, body) }

    private func socket(_ server: RunningServer, token: String) -> SocketIOClient {
        let manager = SocketIOManager(
            url: "http://127.0.0.1:\(server.http.port)", configuration: SocketIOManagerConfiguration(reconnection: .none))
        return manager.socket(forNamespace: ChatVerbs.namespace, auth: .closure { ["token": .string(token)] })
    }

    private func register(_ server: RunningServer) async throws -> SessionAnswer {
        try SessionAnswer(json: try await server.http.post("/api/register", RunningServer.registration).json())
    }

    private func request(_ socket: SocketIOClient, _ verb: String, _ request: JSONValue) async throws -> JSONValue {
        try await socket.emitWithAck(verb, arguments: [request], timeout: .seconds(60)).first ?? .null
    }

    @Test func aSessionConnectsAndSaysHello() async throws {
        try await self.with { server in
            let session = try await self.register(server)
            let socket = self.socket(server, token: session.access)
            try await socket.connect(timeout: .seconds(60))
            let request = HelloRequest(device: HelloDevice(name: "Test", platform: "test"))
            let answer = try await self.request(socket, ChatVerbs.hello.name, request.json)
            #expect(try HelloAnswer(json: answer).user.name == session.user.name)
            let devices = try DevicesAnswer(json: try await self.request(socket, ChatVerbs.devices.name, [:]))
            #expect(devices.devices.map(\.device) == [session.device])
            socket.disconnect()
        }
    }

    @Test func aWrongTokenIsRefused() async throws {
        try await self.with { server in
            await #expect(throws: (any Error).self) {
                try await self.socket(server, token: "a.wrong").connect(timeout: .seconds(60))
            }
        }
    }

    @Test func theMirrorAnswersVerbs() async throws {
        try await self.with { server in
            let session = try await self.register(server)
            let answer = try await server.http.post("/api/chat/sync", "{}", ["Authorization": "Bearer " + session.access])
            #expect(answer.status == 200)
            #expect(try await server.http.post("/api/chat/unknown", "{}", ["Authorization": "Bearer " + session.access]).status != 200)
            #expect(try await server.http.get("/ready").status == 200)
        }
    }

    @Test func loggingOutClosesTheConnection() async throws {
        try await self.with { server in
            let session = try await self.register(server)
            let socket = self.socket(server, token: session.access)
            let (ends, end) = AsyncStream.makeStream(of: Void.self)
            socket.on(clientEvent: .disconnect) { _ in end.yield() }
            try await socket.connect(timeout: .seconds(60))
            let request = HelloRequest(device: HelloDevice(name: "Test", platform: "test"))
            _ = try await self.request(socket, ChatVerbs.hello.name, request.json)
            let body = #"{"refresh":"\#(session.refresh)"}"#
            #expect(try await server.http.post("/api/logout", body).status == 200)
            for await _ in ends { break }
        }
    }

    @Test func aSignInAndItsEndAreReportedToTheOtherDevices() async throws {
        try await self.with { server in
            let session = try await self.register(server)
            let socket = self.socket(server, token: session.access)
            let (events, told) = AsyncStream.makeStream(of: ChatEvent.self)
            socket.onAny { name, data in
                guard name == ChatPushes.event.name, let push = try? EventPush(json: data.first ?? .null) else { return }
                for event in push.events { told.yield(event) }
            }
            try await socket.connect(timeout: .seconds(60))
            let request = HelloRequest(device: HelloDevice(name: "Test", platform: "test"))
            _ = try await self.request(socket, ChatVerbs.hello.name, request.json)
            let login = #"{"name":"alice","password":"correct horse battery","device":{"name":"Laptop","platform":"linux"}}"#
            let second = try SessionAnswer(json: try await server.http.post("/api/login", login).json())
            #expect(try await server.http.post("/api/logout", #"{"refresh":"\#(second.refresh)"}"#).status == 200)
            var found: [ChatEvent] = []
            for await event in events {
                found.append(event)
                if found.count == 2 { break }
            }
            #expect(found.map(\.kind) == [EventKind(.deviceAdd), EventKind(.deviceRemove)])
            for event in found {
                guard case .device(let body) = ChatChange(event) else { return #expect(Bool(false), "\(event.body)") }
                #expect(body == DeviceBody(device: second.device, name: "Laptop", platform: "linux"))
            }
            socket.disconnect()
        }
    }

    @Test func theDataSurvivesARestart() async throws {
        try await self.with { server in
            let session = try await self.register(server)
            try await server.stop()
            var configuration = ChatServerConfiguration(dataFolder: server.folder, port: 0, tls: .off)
            configuration.environment.passwordCost = .init(logRounds: 1)
            let second = ChatServer(configuration: configuration)
            let (reports, continuation) = AsyncStream.makeStream(of: [ChatServer.Address].self)
            let running = Task {
                defer { continuation.finish() }
                try await second.run { continuation.yield($0) }
            }
            let port = await reports.first { _ in true }?.first?.port ?? 0
            let answer = try await RawHTTP(port: port).get("/api/sessions", ["Authorization": "Bearer " + session.access])
            #expect(answer.status == 200)
            running.cancel()
            _ = await running.result
        }
    }
}
