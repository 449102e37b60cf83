import ApusChatHTTP
import ApusChatProtocol
import ApusChatService
import ApusChatStorage
import ApusConnectivity
import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusEventLoop
import ApusSocketIOServer
import ApusWebSocket
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The listener for apps that use the protocol of FLSocketIM: HTTP routes, and events over
/// Socket.IO 2.x.
///
/// An app uses the session of a device. The listener translates each event of the app to chat
/// requests with the permissions of this session. The listener stores no data of its own, except
/// pictures in memory.
final class LegacyServer: Sendable {
    let io: SocketIOServer
    let chat: any HostedChat
    let accounts: Accounts
    let uploads: Uploads
    let files: BlobFiles
    let proxies: TrustedProxies
    let paths: LegacyPaths
    let logger: Logger
    /// Returns the time, in milliseconds since 1970.
    let now: @Sendable () -> Int64
    let pictures = NIOLockedValueBox(LegacyPictures())
    let rooms = NIOLockedValueBox(LegacyRooms())

    init(
        _ configuration: ChatServerConfiguration, chat: any HostedChat, accounts: Accounts, uploads: Uploads, files: BlobFiles,
        proxies: TrustedProxies, logger: Logger, now: @escaping @Sendable () -> Int64
    ) {
        self.chat = chat
        self.accounts = accounts
        self.uploads = uploads
        self.files = files
        self.proxies = proxies
        self.paths = LegacyPaths { accounts.tag(of: $0) }
        self.logger = logger
        self.now = now
        self.io = SocketIOServer(configuration: .legacy(configuration, accounts: accounts, proxies: proxies), logger: logger)
        self.mount()
    }

    private static let sessionKey = "chat.legacy.session"

    private func mount() {
        let namespace = self.io.namespace("/")
        namespace.use { socket in
            do {
                let session = try await self.accounts.session(legacy: socket.handshake.query["auth_token"] ?? "")
                socket.setValue(session, for: Self.sessionKey)
            } catch {
                throw SocketIOConnectionRefusal(message: "unauthorized")
            }
        }
        namespace.onConnection { socket in
            guard let session = socket.value(for: Self.sessionKey, as: AccountSession.self) else { return socket.disconnect(close: true) }
            LegacyConnection.serve(socket, session, self)
        }
    }

    /// Returns the client address of a connection.
    func client(of socket: SocketIOServerSocket) -> ClientOrigin {
        let handshake = socket.handshake
        let peer = try? SocketAddress(ipAddress: handshake.address, port: 0)
        return ClientOrigin(self.proxies.clientAddress(of: handshake.head, from: peer).flatMap { IPAddress($0) })
    }

    /// Stores a picture that was uploaded without an account as an upload of an account. Returns
    /// nil if the picture does not exist.
    func adopt(_ path: String, for session: AccountSession, from client: ClientOrigin) async throws -> BlobRow? {
        let now = self.now()
        guard let picture = self.pictures.withLockedValue({ $0.picture(at: path, at: now) }) else { return nil }
        return try await self.uploads.store(ByteBuffer(bytes: picture.bytes), for: session, from: client)
    }

    /// Returns a random id for a request that is not repeated.
    static func requestID() -> ClientID {
        ClientID("old-" + self.secret()) ?? self.fallbackID
    }

    private static var fallbackID: ClientID { preconditionFailure("base64url is visible ASCII") }

    /// Returns a random text of 120 bits, which cannot be guessed.
    static func secret() -> String { RandomID.random().description }
}

extension SocketIOServerConfiguration {
    /// Returns the Socket.IO configuration of the listener, whose messages contain files.
    fileprivate static func legacy(_ chat: ChatServerConfiguration, accounts: Accounts, proxies: TrustedProxies) -> Self {
        var configuration = Self()
        configuration.engine.allowsEngineIO3 = true
        // The size of a file in Base64, and of the rest of its message.
        configuration.engine.maximumPayloadBytes = LegacyMessage.fileBytes / 3 * 4 + (1 << 20)
        configuration.maximumAttachments = 1
        configuration.maximumWaitingEvents = 100
        configuration.maximumAuthBytes = 64
        configuration.connectTimeout = .seconds(10)
        configuration.engine.maximumClients = chat.maximumClients
        configuration.engine.maximumClientsPerAddress = chat.maximumClientsPerAddress
        configuration.engine.maximumQueuedBytes = 4 << 20
        if proxies != .none { configuration.engine.clientAddress = { request, peer in proxies.clientKey(of: request, from: peer) } }
        // A connection without a valid token is refused, so that it cannot make the server buffer
        // large messages.
        configuration.engine.allowRequest = { request in
            _ = try await accounts.session(legacy: request.query.fields["auth_token"] ?? "")
        }
        return configuration
    }
}
