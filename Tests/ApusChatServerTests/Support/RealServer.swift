import ApusChatProtocol
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

@testable import ApusChatServer
import HTTPTypes

/// The whole server with its default budgets. It trusts the tests as a proxy, so that their clients
/// can have any address. Its clock does not advance, so that no budget is refilled.
struct RealServer: Sendable {
    let running: RunningServer

    static func with(
        _ configure: (inout ChatServerConfiguration) -> Void = { _ in }, _ body: (RealServer) async throws -> Void
    ) async throws {
        try await RunningServer.with(
            {
                $0.proxies = .init(networks: ["127.0.0.1"])
                $0.environment.clock = SystemClock(wall: { 1_790_000_000_000 }, monotonic: { 0 })
                configure(&$0)
            }, makeChat: { try ServiceChat($0, $1, $2) }
        ) { server in try await body(RealServer(running: server)) }
    }

    var http: RawHTTP { self.running.http }

    /// Returns the header fields of a request of a client with an address.
    static func fields(_ address: String, token: String? = nil) -> [String: String] {
        var fields = ["X-Forwarded-For": address]
        if let token { fields["Authorization"] = "Bearer " + token }
        return fields
    }

    func register(_ name: String, from address: String = "192.0.2.1") async throws -> RawHTTP.Answer {
        try await self.http.post("/api/register", Self.credentials(name), Self.fields(address))
    }

    /// Registers a user from an address. Throws ``RawHTTP/Malformed`` if the server refuses it.
    func user(_ name: String, from address: String) async throws -> RealUser {
        let answer = try await self.register(name, from: address)
        guard answer.status == 200 else { throw RawHTTP.Malformed(text: answer.body) }
        return RealUser(server: self, address: address, session: try SessionAnswer(json: answer.json()))
    }

    func login(_ name: String, password: String = Self.password, known: String? = nil, from address: String) async throws -> RawHTTP.Answer
    {
        let more = known.map { #","known":"\#($0)""# } ?? ""
        return try await self.http.post("/api/login", Self.credentials(name, password, more), Self.fields(address))
    }

    static let password = "correct horse battery"

    static func credentials(_ name: String, _ password: String = Self.password, _ more: String = "") -> String {
        #"{"name":"\#(name)","password":"\#(password)","device":{"name":"Test","platform":"linux"}\#(more)}"#
    }
}

/// A user who has signed in.
struct RealUser: Sendable {
    let server: RealServer
    let address: String
    let session: SessionAnswer

    var name: UserName { self.session.user.name }

    /// Sends a request over HTTP, at `/api/chat/`. Throws the refusal as a `ChatError`.
    func ask<Request, Answer>(_ verb: ChatVerb<Request, Answer>, _ request: Request) async throws -> Answer {
        let body = String(decoding: try JSONWriter.bytes(of: request.json), as: UTF8.self)
        let answer = try await self.server.http.post("/api/chat/" + verb.name, body, self.fields)
        guard answer.status == 200 else { throw try ChatError(json: answer.json()) }
        return try Answer(json: answer.json())
    }

    var fields: [String: String] { RealServer.fields(self.address, token: self.session.access) }

    func connect() async throws -> RealSocket {
        let socket = RealSocket(server: self.server, token: self.session.access, address: self.address)
        try await socket.open()
        return socket
    }
}

/// A Socket.IO connection of a user.
final class RealSocket: Sendable {
    let client: SocketIOClient
    private let pushes = NIOLockedValueBox<[(name: String, payload: JSONValue)]>([])
    private let ends: AsyncStream<Void>
    private static let forwardedFor = HTTPField.Name("X-Forwarded-For")!

    /// - Parameter onPush: Called for each push, on any thread.
    init(server: RealServer, token: String, address: String, onPush: @escaping @Sendable (String, JSONValue) -> Void = { _, _ in }) {
        let manager = SocketIOManager(
            url: "http://127.0.0.1:\(server.http.port)",
            configuration: SocketIOManagerConfiguration(headers: [Self.forwardedFor: address], reconnection: .none))
        self.client = manager.socket(forNamespace: ChatVerbs.namespace, auth: .closure { ["token": .string(token)] })
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        self.ends = ends
        let pushes = self.pushes
        self.client.onAny { name, data in
            let payload = data.first ?? .null
            pushes.withLockedValue { $0.append((name, payload)) }
            onPush(name, payload)
        }
        self.client.on(clientEvent: .disconnect) { _ in end.finish() }
    }

    /// Connects and sends `hello`, with a time limit of 60 seconds for each.
    ///
    /// - Throws: The error of the connection, or the refusal of `hello` as a `ChatError`.
    func open() async throws {
        try await self.client.connect(timeout: .seconds(60))
        _ = try await self.ask(ChatVerbs.hello, HelloRequest(device: HelloDevice(name: "Test", platform: "test")))
    }

    func ask<Request, Answer>(_ verb: ChatVerb<Request, Answer>, _ request: Request) async throws -> Answer {
        let answer = try await self.client.emitWithAck(verb.name, arguments: [request.json], timeout: .seconds(60)).first ?? .null
        if answer.objectValue?["error"] != nil { throw try ChatError(json: answer) }
        return try Answer(json: answer)
    }

    /// The received pushes, in order.
    var received: [(name: String, payload: JSONValue)] { self.pushes.withLockedValue { $0 } }

    func close() { self.client.disconnect() }

    /// Waits until the connection is closed, without a time limit.
    func waitUntilClosed() async { for await _ in self.ends {} }
}

/// A connection with a request whose body does not end.
struct UnfinishedRequest: Sendable {
    private let channel: any Channel

    init(_ head: String, port: Int) async throws {
        self.channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(host: "127.0.0.1", port: port).get()
        try await self.channel.writeAndFlush(ByteBuffer(string: head))
    }

    func close() async { try? await self.channel.close() }
}

func id(_ text: String) -> ClientID { ClientID(text) ?? ClientID("invalid").unsafelyUnwrapped }

/// Returns the `ChatError` that `body` throws; nil if it succeeds or throws another error.
func refusal(isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void) async -> ChatError? {
    do {
        try await body()
        return nil
    } catch { return error as? ChatError }
}
