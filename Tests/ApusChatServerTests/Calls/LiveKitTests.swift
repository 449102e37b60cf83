import ApusChatProtocol
import ApusChatService
import ApusConnectivity
import ApusJSON
import Crypto
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import ApusChatServer

/// Tokens and rooms of LiveKit, with a stub of its API that verifies the tokens.
@Suite(.timeLimit(.minutes(2)))
struct LiveKitTests {
    private static let time: Int64 = 1_790_000_000_123
    private let room = CallRoom(conversation: ConversationID(number: 50), call: 7)

    private func backend(_ stub: LiveKitStub, secret: String = LiveKitStub.secret) throws -> LiveKitBackend {
        let settings = ChatServerConfiguration.Calls.LiveKit(url: "ws://127.0.0.1:\(stub.port)", key: LiveKitStub.key, secret: secret)
        return try LiveKitBackend(settings, wall: { Self.time })
    }

    @Test func aDeviceReceivesATokenOfItsRoom() throws {
        let settings = ChatServerConfiguration.Calls.LiveKit(
            url: "wss://media.example", key: LiveKitStub.key, secret: LiveKitStub.secret, tokenLifetime: .seconds(3_600))
        let backend = try LiveKitBackend(settings, wall: { Self.time })
        let device = DeviceID(number: 9)
        let access = try backend.access(to: self.room, for: UserName(prepared: "alice"), named: "Alice", on: device)
        #expect(access.backend == "livekit" && access.url == "wss://media.example")
        let claims = try LiveKitStub.claims(of: access.token)
        #expect(claims["iss"] == "apikey" && claims["sub"] == .string("alice#\(device)") && claims["name"] == "Alice")
        #expect(claims["nbf"] == 1_789_999_940 && claims["exp"] == 1_790_003_600)
        #expect(claims["video"] == ["room": .string(self.room.name), "roomJoin": true, "canPublish": true, "canSubscribe": true])
        let forged = access.token.dropLast(4) + "AAAA"
        #expect(throws: LiveKitStub.BadToken.self) { try LiveKitStub.claims(of: String(forged)) }
    }

    @Test func aRoomIsCreatedCountedAndDeleted() async throws {
        let stub = try await LiveKitStub()
        let backend = try self.backend(stub)
        #expect(try await backend.participants(of: self.room) == 0, "a room that does not exist")
        try await backend.open(self.room)
        stub.join(self.room.name, participants: 3)
        #expect(try await backend.participants(of: self.room) == 3)
        try await backend.close(self.room)
        try await backend.close(self.room)
        #expect(stub.calls == ["ListParticipants", "CreateRoom", "ListParticipants", "DeleteRoom", "DeleteRoom"])
        #expect(stub.created?["max_participants"] == 100 && stub.created?["empty_timeout"] == 120)
        try await stub.close()
    }

    @Test func aRefusalIsAnError() async throws {
        let stub = try await LiveKitStub()
        let backend = try self.backend(stub, secret: "another secret")
        await #expect(throws: LiveKitBackend.Refusal.self) { try await backend.open(self.room) }
        await #expect(throws: LiveKitBackend.Refusal.self) { _ = try await backend.participants(of: self.room) }
        await #expect(throws: LiveKitBackend.Refusal.self) { try await backend.close(self.room) }
        try await stub.close()
    }

    @Test(
        arguments: [
            ("wss://a.example", "https://a.example:443"), ("ws://a.example:7880", "http://a.example:7880"),
            ("wss://[2001:db8::1]:7880/", "https://2001:db8::1:7880"), ("wss://[2001:db8::1]", "https://2001:db8::1:443"),
            ("https://a.example", nil), ("wss://", nil), ("wss://a.example/rtc", nil), ("wss://a.example:0", nil), ("wss://:1", nil),
            ("wss://a.example:+1", nil),
            ("wss://a@b", nil),
        ] as [(String, String?)])
    func theAddressMatchesTheAPI(url: String, origin: String?) {
        let settings = ChatServerConfiguration.Calls.LiveKit(url: url, key: "k", secret: "s")
        #expect(settings.origin.map { "\($0.isSecure ? "https" : "http")://\($0.host):\($0.port)" } == origin)
        #expect((settings.problem == nil) == (origin != nil))
    }

    @Test func theSettingsAreChecked() {
        let valid = ChatServerConfiguration.Calls.LiveKit(url: "wss://a.example", key: "k", secret: "s")
        for change: (inout ChatServerConfiguration.Calls.LiveKit) -> Void in [
            { $0.key = "" }, { $0.secret = "" }, { $0.tokenLifetime = .zero }, { $0.maximumParticipants = 1 },
        ] {
            var settings = valid
            change(&settings)
            #expect(settings.problem != nil)
            #expect(ChatServerConfiguration.Calls(urls: [], liveKit: settings).problem == settings.problem)
        }
    }
}

/// A stub of LiveKit's `RoomService`.
final class LiveKitStub: Sendable {
    struct BadToken: Error {}
    private struct State {
        var rooms: [String: Int] = [:]
        var calls: [String] = []
        var created: JSONObject?
    }

    static let key = "apikey"
    static let secret = "a secret of at least thirty-two bytes"

    let port: Int
    private let channel: any Channel
    private let state: NIOLockedValueBox<State>

    var calls: [String] { self.state.withLockedValue { $0.calls } }
    var created: JSONObject? { self.state.withLockedValue { $0.created } }

    init() async throws {
        let state = NIOLockedValueBox(State())
        self.state = state
        self.channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler { Self.answer($0, $1, state) })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.port = self.channel.localAddress?.port ?? 0
    }

    func close() async throws { try await self.channel.close() }
    func join(_ room: String, participants: Int) { self.state.withLockedValue { $0.rooms[room] = participants } }

    /// Verifies a token and returns its claims. Throws ``BadToken`` if the token is not valid.
    static func claims(of token: String) throws -> JSONObject {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]), let code = Self.decode(parts[2])
        else { throw BadToken() }
        let signed = Data("\(parts[0]).\(parts[1])".utf8)
        guard HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: signed, using: SymmetricKey(data: Data(Self.secret.utf8))),
            try JSONValue(jsonString: String(decoding: header, as: UTF8.self)) == ["alg": "HS256", "typ": "JWT"],
            let object = try JSONValue(jsonString: String(decoding: claims, as: UTF8.self)).objectValue
        else { throw BadToken() }
        return object
    }

    private static func decode(_ text: Substring) -> Data? {
        let plain = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }

    private static func answer(
        _ head: HTTPRequestHead, _ body: String, _ state: NIOLockedValueBox<State>
    ) -> (HTTPResponseStatus, JSONObject) {
        let prefix = "/twirp/livekit.RoomService/"
        guard head.method == .POST, head.uri.hasPrefix(prefix), head.headers["Content-Type"] == ["application/json"],
            let bearer = head.headers.first(name: "Authorization"), let request = (try? JSONValue(jsonString: body))?.objectValue
        else { return (.notFound, ["code": "bad_route"]) }
        guard bearer.hasPrefix("Bearer "), let claims = try? Self.claims(of: String(bearer.dropFirst(7))),
            claims["iss"] == .string(Self.key),
            let grants = claims["video"]?.objectValue
        else { return (.unauthorized, ["code": "unauthenticated"]) }
        let method = String(head.uri.dropFirst(prefix.count))
        guard let room = request[method == "CreateRoom" ? "name" : "room"]?.stringValue, grants["room"] == .string(room),
            grants[method == "ListParticipants" ? "roomAdmin" : "roomCreate"] == true
        else { return (.forbidden, ["code": "permission_denied"]) }
        return state.withLockedValue { state in
            state.calls.append(method)
            switch method {
            case "CreateRoom":
                state.rooms[room] = 0
                state.created = request
                return (.ok, ["name": .string(room)])
            case "DeleteRoom": return state.rooms.removeValue(forKey: room) == nil ? (.notFound, ["code": "not_found"]) : (.ok, [:])
            case "ListParticipants":
                guard let count = state.rooms[room] else { return (.notFound, ["code": "not_found"]) }
                return (.ok, ["participants": .array((0..<count).map { ["identity": .string("user\($0)")] })])
            default: return (.notFound, ["code": "bad_route"])
            }
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let answer: (HTTPRequestHead, String) -> (HTTPResponseStatus, JSONObject)
        private var head: HTTPRequestHead?
        private var body = ""

        init(_ answer: @escaping (HTTPRequestHead, String) -> (HTTPResponseStatus, JSONObject)) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch self.unwrapInboundIn(data) {
            case .head(let head): (self.head, self.body) = (head, "")
            case .body(let bytes): self.body += String(buffer: bytes)
            case .end:
                guard let head else { return }
                let (status, object) = self.answer(head, self.body)
                let text = (try? JSONValue.object(object).jsonString()) ?? "{}"
                let headers: HTTPHeaders = ["Content-Length": "\(text.utf8.count)", "Content-Type": "application/json"]
                context.write(
                    self.wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
                context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
                context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
