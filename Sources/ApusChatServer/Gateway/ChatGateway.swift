import ApusChatProtocol
import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Foundation
import GRDB
import Logging
import NIOConcurrencyHelpers

/// The chat service on the Socket.IO namespace `/chat`.
///
/// Requests are decoded on the socket's event loop and carried out by the store; nothing here
/// blocks. The results of a commit are sent from the writer's thread, one after the other: first
/// the acknowledgement, then the pushes. The pushes of a conversation are therefore sent in the
/// order of their `seq` (docs/chat-rules.md, 1).
final class ChatGateway: Sendable {
    let namespace: SocketIONamespace
    let store: ChatStore
    let accounts: Accounts
    let logger: Logger
    let now: @Sendable () -> Int64
    private let presence: NIOLockedValueBox<PresenceMachine>
    private let maximumSocketsPerUser: Int

    init(
        namespace: SocketIONamespace, store: ChatStore, accounts: Accounts, configuration: ChatServerConfiguration, logger: Logger,
        now: @escaping @Sendable () -> Int64
    ) {
        self.namespace = namespace
        self.store = store
        self.accounts = accounts
        self.logger = logger
        self.now = now
        self.maximumSocketsPerUser = configuration.maximumSocketsPerUser
        let grace = configuration.presenceGrace.components
        self.presence = NIOLockedValueBox(PresenceMachine(grace: grace.seconds * 1_000 + grace.attoseconds / 1_000_000_000_000_000))
    }

    /// Installs the handlers on the namespace.
    func mount() {
        self.namespace.use { socket in
            guard let token = socket.handshake.auth["token"]?.stringValue, let identity = try await self.accounts.identity(token: token)
            else {
                throw SocketIOConnectionRefusal(message: "unauthorized", data: ["code": "unauthorized"])
            }
            guard self.hasRoom(for: identity.user) else {
                let message = "an account can have at most \(self.maximumSocketsPerUser) connections; close one and try again"
                throw SocketIOConnectionRefusal(
                    message: message, data: ["code": .string(ChatError.Code.tooMany.rawValue), "message": .string(message)])
            }
            socket.setValue(identity, for: Self.identityKey)
        }
        self.namespace.onConnection { socket in
            guard let identity = socket.value(for: Self.identityKey, as: AccountRows.Identity.self) else { return socket.disconnect() }
            self.connected(socket, identity)
        }
    }

    private static let identityKey = "chat.identity"

    static func room(of user: UserID) -> String { "user:\(user)" }
    static func room(ofDevice device: String) -> String { "device:\(device)" }

    private func connected(_ socket: SocketIOServerSocket, _ identity: AccountRows.Identity) {
        let now = self.now()
        let entry = self.presence.withLockedValue { presence in
            let hasRoom = presence.connections(of: identity.user) < self.maximumSocketsPerUser
            return (hasRoom, hasRoom ? presence.connected(identity.user, at: now) : nil)
        }
        // Other sockets of the user joined after the middleware's check. The client reconnects, and
        // the middleware refuses it with the reason.
        guard entry.0 else { return socket.disconnect(close: true) }
        socket.onDisconnect { _ in
            self.presence.withLockedValue { $0.disconnected(identity.user, at: self.now()) }
        }
        socket.join(Self.room(of: identity.user), Self.room(ofDevice: identity.device))
        self.register(socket, identity)
        if let presence = entry.1 { self.announce(presence) }
        // A logout between the check of the token and the join of the rooms does not find the
        // socket.
        self.store.read({ db in try AccountRows.isSignedIn(identity.device, at: now, db) }) { result in
            switch result {
            case .success(true): break
            case .success(false): self.announceEnd(to: identity.device, .loggedOut)
            case .failure: socket.disconnect(close: true)  // unknown; the client reconnects, which repeats the check
            }
        }
    }

    private func hasRoom(for user: UserID) -> Bool {
        self.presence.withLockedValue { $0.connections(of: user) } < self.maximumSocketsPerUser
    }

    // MARK: Presence

    func isOnline(_ user: UserID) -> Bool { self.presence.withLockedValue { $0.isOnline(user) } }

    /// Returns the user with the current presence.
    func withPresence(_ user: ChatUser) -> ChatUser {
        var user = user
        user.online = self.isOnline(user.id)
        return user
    }

    /// Announces users that went offline and closes sockets with expired tokens. Called every
    /// second.
    func tick() {
        let now = self.now()
        for presence in self.presence.withLockedValue({ $0.tick(at: now) }) { self.announce(presence) }
        for socket in self.namespace.sockets {
            guard let identity = socket.value(for: Self.identityKey, as: AccountRows.Identity.self), identity.expiresAt <= now else {
                continue
            }
            self.announceEnd(to: identity.device, .expired)
        }
    }

    private func announce(_ presence: ChatPresence) {
        self.store.read({ db in try Conversations.contacts(of: presence.user, db) }) { result in
            guard case .success(let contacts) = result else { return }
            self.push(ChatVerb.presence, presence, to: contacts)
        }
    }

    // MARK: Pushes

    /// Sends a push to every socket of the users, except `socket`.
    func push(_ verb: String, _ value: some Encodable & Sendable, to users: [UserID], except socket: SocketIOServerSocket? = nil) {
        guard !users.isEmpty else { return }
        do {
            let argument = try JSONValueEncoder().encode(value)
            let rooms = users.map(Self.room(of:))
            let target = socket?.to(rooms) ?? self.namespace.to(rooms)
            target.emit(verb, arguments: [argument])
        } catch {
            self.logger.error("Push not encodable", metadata: ["chat.verb": "\(verb)", "error": "\(error)"])
        }
    }

    /// Sends `bye` to a device and closes its connections.
    func announceEnd(to device: String, _ reason: ChatBye.Reason) {
        let room = Self.room(ofDevice: device)
        if let value = try? JSONValueEncoder().encode(ChatBye(reason: reason)) {
            self.namespace.to(room).emit(ChatVerb.bye, arguments: [value])
        }
        self.namespace.in(room).disconnectSockets(close: true)
    }

    /// Sends `bye` to all clients before the server stops.
    func announceShutdown() {
        guard let value = try? JSONValueEncoder().encode(ChatBye(reason: .shutdown)) else { return }
        self.namespace.emit(ChatVerb.bye, arguments: [value])
    }
}
