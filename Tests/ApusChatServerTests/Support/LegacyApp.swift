import ApusChatProtocol
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import HTTPTypes
import NIOConcurrencyHelpers

@testable import ApusChatServer

extension RealServer {
    /// Runs a server with a listener for apps of the legacy protocol.
    static func withLegacy(
        _ configure: (inout ChatServerConfiguration) -> Void = { _ in }, _ body: (RealServer) async throws -> Void
    ) async throws {
        try await Self.with(
            {
                $0.legacyPort = 0
                $0.directory = .open
                configure(&$0)
            }, body)
    }

    /// Requests a route of the legacy listener, and returns its envelope.
    func legacy(_ path: String, _ form: String, type: String = "application/x-www-form-urlencoded", from address: String) async throws
        -> JSONValue
    {
        let fields = Self.fields(address).merging(["Content-Type": type]) { $1 }
        return try await self.running.legacy.post(path, form, fields).json()
    }

    /// Registers a user of an app.
    func legacyUser(_ name: String, from address: String) async throws -> LegacyUser {
        let answer = try await self.legacy("/register", "userName=\(name)&password=\(Self.legacyPassword)", from: address)
        guard let token = answer["data"]?["auth_token"]?.stringValue else { throw RawHTTP.Malformed(text: "\(answer)") }
        return LegacyUser(server: self, name: name, address: address, token: token)
    }

    static let legacyPassword = "correct+horse+battery"
}

/// A user who has signed in with an app of the legacy protocol.
struct LegacyUser: Sendable {
    let server: RealServer
    let name: String
    let address: String
    let token: String

    /// Connects an app.
    ///
    /// - Parameter acknowledges: Whether the app acknowledges messages.
    func connect(acknowledges: Bool = true) async throws -> LegacyApp {
        let app = LegacyApp(port: self.server.running.legacy.port, token: self.token, address: self.address, acknowledges: acknowledges)
        try await app.connect()
        return app
    }

    /// Signs in to the API of the chat with another device.
    func ownClient() async throws -> RealUser {
        let password = RealServer.legacyPassword.replacing("+", with: " ")
        let answer = try await self.server.login(self.name, password: password, from: self.address)
        return RealUser(server: self.server, address: self.address, session: try SessionAnswer(json: answer.json()))
    }
}

/// An app of the legacy protocol: Socket.IO 2.x over Engine.IO 3, with the token in the query.
final class LegacyApp: Sendable {
    private struct State: Sendable {
        var events: [(name: String, argument: JSONValue)] = []
        var waiting: [(name: String, continuation: CheckedContinuation<JSONValue, Never>)] = []
    }

    private let client: SocketIOClient
    private let state = NIOLockedValueBox(State())
    private let ends: AsyncStream<Void>
    private static let forwardedFor = HTTPField.Name("X-Forwarded-For")!

    init(port: Int, token: String, address: String, acknowledges: Bool = true) {
        let manager = SocketIOManager(
            url: "http://127.0.0.1:\(port)",
            configuration: SocketIOManagerConfiguration(
                transports: [.webSocket], version: .v3, query: ["auth_token": token], headers: [Self.forwardedFor: address],
                reconnection: .none))
        self.client = manager.defaultSocket
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        self.ends = ends
        let state = self.state
        self.client.onAny { name, data in
            let argument = data.first ?? .null
            let waiting = state.withLockedValue { state -> CheckedContinuation<JSONValue, Never>? in
                guard let index = state.waiting.firstIndex(where: { $0.name == name }) else {
                    state.events.append((name, argument))
                    return nil
                }
                return state.waiting.remove(at: index).continuation
            }
            waiting?.resume(returning: argument)
        }
        if acknowledges { self.client.on("chat") { _, ack in ack.with("hello 我是应答") } }
        self.client.on(clientEvent: .disconnect) { _ in end.finish() }
    }

    func connect() async throws { try await self.client.connect(timeout: .seconds(60)) }

    /// Waits for the next event of a name, without a time limit, and returns its first argument.
    func next(_ name: String) async -> JSONValue {
        await withCheckedContinuation { continuation in
            let found = self.state.withLockedValue { state -> JSONValue? in
                guard let index = state.events.firstIndex(where: { $0.name == name }) else {
                    state.waiting.append((name, continuation))
                    return nil
                }
                return state.events.remove(at: index).argument
            }
            if let found { continuation.resume(returning: found) }
        }
    }

    /// Returns whether an event of this name has arrived that `next` did not return.
    func has(_ name: String) -> Bool { self.state.withLockedValue { $0.events.contains { $0.name == name } } }

    func emit(_ event: String, _ argument: JSONValue = .null) { self.client.emit(event, arguments: [argument]) }

    /// Emits an event and returns its acknowledgement.
    func call(_ event: String, _ argument: JSONValue) async throws -> JSONValue {
        try await self.client.emitWithAck(event, arguments: [argument], timeout: .seconds(60)).first ?? .null
    }

    /// Sends a text to a user. Returns the acknowledgement.
    @discardableResult
    func send(_ text: String, to user: String, at time: Int64 = 0) async throws -> JSONValue {
        try await self.call(
            "chat", ["to_user": .string(user), "sendtime": .integer(time), "bodies": ["type": "txt", "msg": .string(text)]])
    }

    /// Waits until the server has performed the earlier events of this app, which it does in order.
    func settle(as name: String) async throws {
        try await self.send("settled", to: name)
        while await self.next("chat")["bodies"]?["msg"] != "settled" {}
    }

    func close() { self.client.disconnect() }

    /// Waits until the connection is closed, without a time limit.
    func waitUntilClosed() async { for await _ in self.ends {} }
}
