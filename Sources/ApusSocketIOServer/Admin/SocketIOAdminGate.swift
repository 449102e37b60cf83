import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol
import Crypto
import NIOConcurrencyHelpers
import NIOCore

/// Authenticates the clients of the admin page.
///
/// Verifying a password is expensive by design, so the gate verifies one at a time and limits the
/// number of waiting logins. A client with the id of a valid session does not wait.
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
            throw SocketIOConnectionRefusal(message: "too many logins are in progress; try again later")
        }
        defer { self.queue.withLockedValue { $0.leave(from: address) } }
        try await self.verify(socket, username, password)
    }

    private func verify(_ socket: SocketIOServerSocket, _ username: String, _ password: SocketIOAdminPassword) throws {
        let auth = socket.handshake.auth
        let isName = SHA256.hash(data: Array((auth["username"]?.stringValue ?? "").utf8)) == SHA256.hash(data: Array(username.utf8))
        // Checks the name and the password in every case, so that the response time does not reveal
        // which of them was wrong.
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

/// The number of running and waiting logins. The number is limited in total and per address, so
/// that one attacker does not block all other clients.
package struct SocketIOLoginQueue: Sendable {
    private let maximum: Int
    private let maximumPerAddress: Int
    private var countByAddress: [String: Int] = [:]
    private var count = 0

    package init(maximum: Int = 16, maximumPerAddress: Int = 4) {
        self.maximum = maximum
        self.maximumPerAddress = maximumPerAddress
    }

    /// Adds a login. Returns `false` when a limit is reached.
    ///
    /// - Parameter address: The key under which the client's connections are counted. Clients
    ///   without an address share one count.
    package mutating func enter(from address: String?) -> Bool {
        let address = address ?? ""
        guard self.count < self.maximum, self.countByAddress[address, default: 0] < self.maximumPerAddress else { return false }
        self.count += 1
        self.countByAddress[address, default: 0] += 1
        return true
    }

    /// Ends a login that ``enter(from:)`` permitted.
    package mutating func leave(from address: String?) {
        let address = address ?? ""
        self.count -= 1
        self.countByAddress[address, default: 0] -= 1
        if self.countByAddress[address] == 0 { self.countByAddress[address] = nil }
    }
}

/// The sessions of the admin page, which replace the password in later logins.
///
/// Callers pass the time. The ids are stored as hashes, so that the time of a lookup reveals
/// nothing about them.
package struct SocketIOAdminSessions {
    private let lifetime: Duration
    private let maximum: Int
    private var endBySession: [SHA256.Digest: Duration] = [:]

    package init(lifetime: Duration, maximum: Int = 1_000) {
        self.lifetime = lifetime
        self.maximum = maximum
    }

    package var count: Int { self.endBySession.count }

    package mutating func save(_ id: String, at now: Duration) {
        self.endBySession = self.endBySession.filter { $0.value > now }
        if self.endBySession.count >= self.maximum, let oldest = self.endBySession.min(by: { $0.value < $1.value })?.key {
            self.endBySession[oldest] = nil
        }
        self.endBySession[Self.key(id)] = now + self.lifetime
    }

    package func contains(_ id: String, at now: Duration) -> Bool { self.endBySession[Self.key(id)].map { $0 > now } ?? false }

    private static func key(_ id: String) -> SHA256.Digest { SHA256.hash(data: Array(id.utf8)) }
}
