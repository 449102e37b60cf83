import ApusJSON
import ApusSocketIOProtocol
import Crypto
import NIOConcurrencyHelpers
import NIOCore

/// Authenticates the clients of the admin page.
///
/// Verifying a password is expensive by design, so the gate verifies one at a time and limits the
/// number of waiting logins. A client with the id of a valid session skips the queue.
actor SocketIOAdminGate {
    /// The key of the socket's value that holds the id of a new session until the socket is
    /// connected.
    static let sessionKey = "apus.admin.session"

    private let authentication: SocketIOAdminConfiguration.Authentication
    private let pendingRequests: PendingRequests
    private let sessions: NIOLockedValueBox<SocketIOAdminSessions>
    nonisolated let queue = NIOLockedValueBox(SocketIOLoginQueue())

    init(_ configuration: SocketIOAdminConfiguration, pendingRequests: PendingRequests) {
        self.authentication = configuration.authentication
        self.pendingRequests = pendingRequests
        self.sessions = NIOLockedValueBox(SocketIOAdminSessions(lifetime: configuration.sessionLifetime))
    }

    /// Throws a ``SocketIOConnectionRefusal`` for a client that may not use the page.
    nonisolated func admit(_ socket: SocketIOServerSocket) async throws {
        guard case .basic(let username, let password) = self.authentication.value else { return }
        let now = self.pendingRequests.now
        if let session = socket.handshake.auth["sessionId"]?.stringValue,
            self.sessions.withLockedValue({ $0.contains(session, at: now) })
        {
            return
        }
        let address = try await socket.eventLoop.submit { socket.connection?.session.addressKey }.get()
        guard self.queue.withLockedValue({ $0.enter(from: address) }) else {
            throw SocketIOConnectionRefusal(message: "too many logins at once")
        }
        defer { self.queue.withLockedValue { $0.leave(from: address) } }
        try await self.verify(socket, username, password)
    }

    private func verify(_ socket: SocketIOServerSocket, _ username: String, _ password: SocketIOAdminPassword) throws {
        let auth = socket.handshake.auth
        let isName = SHA256.hash(data: Array((auth["username"]?.stringValue ?? "").utf8)) == SHA256.hash(data: Array(username.utf8))
        // Checks both in every case: the time must not reveal which of them was wrong.
        let isPassword = password.verifies(auth["password"]?.stringValue ?? "")
        guard isName, isPassword else { throw SocketIOConnectionRefusal(message: "invalid credentials") }
        let session = SymmetricKey(size: .bits128).withUnsafeBytes {
            $0.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        let now = self.pendingRequests.now
        self.sessions.withLockedValue { $0.save(session, at: now) }
        socket.setValue(session, for: Self.sessionKey)
    }
}
