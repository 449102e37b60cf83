import ApusChatProtocol
import ApusChatService
import ApusConnectivity
import ApusJSON
import NIOCore
import NIOHTTP1
import NIOPosix

/// Runs the calls of larger groups on a LiveKit server: makes tokens, and manages rooms through the
/// API `RoomService` (Twirp with JSON).
final class LiveKitBackend: CallBackend {
    /// An error response of LiveKit.
    struct Refusal: Error, CustomStringConvertible {
        var status: UInt
        /// The Twirp error code, such as `not_found`.
        var code: String
        var description: String { "LiveKit answered with the status \(self.status) (\(self.code))" }
    }

    private static let timeout = Duration.seconds(10)
    private static let answerBytes = 1_024 * 1_024
    /// The time after which LiveKit removes a room that no participant has joined, in seconds.
    private static let emptyTimeout: Int64 = 120
    /// The period before its creation in which a token is already valid, in seconds. It allows for
    /// clock differences.
    private static let tolerance: Int64 = 60
    private static let requestLifetime: Int64 = 60

    let kind = "livekit"
    private let settings: ChatServerConfiguration.Calls.LiveKit
    private let client: HTTPExchangeClient
    private let wall: @Sendable () -> Int64

    /// - Parameters:
    ///   - settings: Checked settings.
    ///   - wall: Returns the time, in milliseconds since 1970.
    init(_ settings: ChatServerConfiguration.Calls.LiveKit, tls: TLSSettings = .system, wall: @escaping @Sendable () -> Int64) throws {
        guard let origin = settings.origin else { throw ChatServerError(.invalidConfiguration, message: settings.problem ?? "") }
        var configuration = HTTPExchanger.Configuration(origin: origin, dialer: Dialer(tls: tls))
        configuration.maximumBodyBytes = Self.answerBytes
        self.settings = settings
        self.wall = wall
        self.client = HTTPExchangeClient(configuration: configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.any())
    }

    deinit { self.client.finish() }

    func access(to room: CallRoom, for user: UserName, named name: String, on device: DeviceID) throws(ChatError) -> CallAccess {
        let token = LiveKitToken(
            identity: "\(user)#\(device)", name: name, grants: LiveKitToken.joining(room.name),
            validity: self.validity(self.settings.tokenLifetime.components.seconds))
        do {
            return CallAccess(backend: self.kind, url: self.settings.url, token: try self.text(token))
        } catch {
            throw ChatError(.internal, message: "The server cannot make a token for the call.")
        }
    }

    func open(_ room: CallRoom) async throws {
        _ = try await self.request(
            "CreateRoom", room,
            [
                "name": .string(room.name), "empty_timeout": .integer(Self.emptyTimeout),
                "max_participants": .integer(self.settings.maximumParticipants),
            ])
    }

    func close(_ room: CallRoom) async throws {
        do { _ = try await self.request("DeleteRoom", room, ["room": .string(room.name)]) } catch let refusal as Refusal {
            guard refusal.code == "not_found" else { throw refusal }
        }
    }

    func participants(of room: CallRoom) async throws -> Int {
        do {
            let answer = try await self.request("ListParticipants", room, ["room": .string(room.name)])
            return answer["participants"]?.arrayValue?.count ?? 0
        } catch let refusal as Refusal {
            guard refusal.code == "not_found" else { throw refusal }
            return 0
        }
    }

    // MARK: Requests

    private func validity(_ seconds: Int64) -> Range<Int64> {
        let now = self.wall() / 1_000
        return now - Self.tolerance..<now + max(1, seconds)
    }

    private func text(_ token: LiveKitToken) throws -> String {
        try token.text(key: self.settings.key, secret: self.settings.secret)
    }

    private func request(_ method: String, _ room: CallRoom, _ body: JSONObject) async throws -> JSONObject {
        let token = LiveKitToken(grants: LiveKitToken.administering(room.name), validity: self.validity(Self.requestLifetime))
        let request = HTTPExchangeRequest(
            .POST, "/twirp/livekit.RoomService/\(method)",
            headers: ["Content-Type": "application/json", "Authorization": "Bearer \(try self.text(token))"],
            body: ByteBuffer(string: try JSONValue.object(body).jsonString()))
        let response = try await self.client.send(request, timeout: Self.timeout)
        let answer = (try? JSONValue(jsonString: String(buffer: response.body)))?.objectValue ?? [:]
        guard (200...299).contains(response.status) else {
            throw Refusal(status: UInt(response.status), code: answer["code"]?.stringValue ?? "unknown")
        }
        return answer
    }
}
