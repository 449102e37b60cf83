import ApusChatHTTP
import ApusChatProtocol
import ApusChatService
import ApusConnectivity
import ApusJSON
import ApusSocketIOServer
import ApusWebSocket
import NIOCore

/// Provides the sessions of accounts to the gateway of the chat.
struct AccountSessions: ChatSessions {
    let accounts: Accounts
    let proxies: TrustedProxies

    func requester(of handshake: SocketIOHandshake) async throws(ChatError) -> Requester {
        let token = handshake.auth["token"]?.stringValue
        let session = try await self.refusing { try await self.accounts.session(token: token, of: handshake.head) }
        let peer = try? SocketAddress(ipAddress: handshake.address, port: 0)
        let address = self.proxies.clientAddress(of: handshake.head, from: peer)
        return Requester(user: session.user, device: session.device, origin: ClientOrigin(address.flatMap { IPAddress($0) }).keys)
    }

    func devices(of requester: Requester) async throws(ChatError) -> DevicesAnswer {
        try await self.refusing { try await self.accounts.devices(of: requester.session) }
    }

    func removeDevice(_ request: DeviceRemoveRequest, of requester: Requester) async throws(ChatError) -> ChangeAnswer {
        try await self.refusing { try await self.accounts.endDevices(request, of: requester.session) }
    }

    func setPush(_ request: PushSetRequest, of requester: Requester) async throws(ChatError) {
        try await self.refusing { try await self.accounts.setPush(request, of: requester.session) }
    }

    /// Converts errors other than `ChatError` to `unavailable`, after which the client retries.
    private func refusing<Value: Sendable>(_ body: () async throws -> Value) async throws(ChatError) -> Value {
        do {
            return try await body()
        } catch let error as ChatError {
            throw error
        } catch {
            throw ChatError(.unavailable, message: "The server cannot read its data. Try again later.", retryAfter: 5_000)
        }
    }
}

extension Requester {
    /// The session with which the connection was admitted.
    fileprivate var session: AccountSession { AccountSession(user: self.user, device: self.device, expiresAt: .max) }
}
