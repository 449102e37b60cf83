import ApusJSON
import ApusSocketIOProtocol
import Crypto
import NIOConcurrencyHelpers

/// Lets those in to the admin page who may.
///
/// Verifying a password costs memory and time on purpose, so it is done for one client after the other, and only so many may wait.
actor SocketIOAdminGate {
    /// Where the id of a new session is kept with the socket until it is connected.
    static let sessionKey = "apus.admin.session"
    private static let maximumWaiting = 16

    private let authentication: SocketIOAdminConfiguration.Authentication
    private let desk: SocketIORequestDesk
    private var sessions: SocketIOAdminSessions
    private let waiting = NIOLockedValueBox(0)

    init(_ configuration: SocketIOAdminConfiguration, desk: SocketIORequestDesk) {
        self.authentication = configuration.authentication
        self.desk = desk
        self.sessions = SocketIOAdminSessions(lifetime: configuration.sessionLifetime)
    }

    /// Throws for those who may not come in.
    nonisolated func admit(_ socket: SocketIOServerSocket) async throws {
        guard case .basic(let username, let password) = self.authentication.value else { return }
        let isWelcome = self.waiting.withLockedValue { waiting in
            guard waiting < Self.maximumWaiting else { return false }
            waiting += 1
            return true
        }
        guard isWelcome else { throw SocketIOConnectionRefusal(message: "too many logins at once") }
        defer { self.waiting.withLockedValue { $0 -= 1 } }
        try await self.judge(socket, username, password)
    }

    private func judge(_ socket: SocketIOServerSocket, _ username: String, _ password: SocketIOAdminPassword) throws {
        let auth = socket.handshake.auth
        if let session = auth["sessionId"]?.stringValue, self.sessions.contains(session, at: self.desk.now) { return }
        let isName = SHA256.hash(data: Array((auth["username"]?.stringValue ?? "").utf8)) == SHA256.hash(data: Array(username.utf8))
        // Both, whatever the first said: the time must not tell which was wrong.
        let isPassword = password.verifies(auth["password"]?.stringValue ?? "")
        guard isName, isPassword else { throw SocketIOConnectionRefusal(message: "invalid credentials") }
        let session = SymmetricKey(size: .bits128).withUnsafeBytes {
            $0.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        self.sessions.save(session, at: self.desk.now)
        socket.setValue(session, for: Self.sessionKey)
    }
}
