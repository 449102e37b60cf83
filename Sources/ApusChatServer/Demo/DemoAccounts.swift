import ApusChatHTTP
import ApusChatProtocol
import ApusChatStorage
import ApusJSON

/// Creates the demo accounts `alice` and `bobby`, makes them contacts, and sends a first message
/// between them.
struct DemoAccounts: Sendable {
    let accounts: Accounts
    let requests: any ChatRequests

    static let password = "apus-demo"

    /// Creates the accounts, unless both exist.
    func make() async throws {
        guard let aliceName = UserName("alice"), let bobbyName = UserName("bobby") else { return }
        let known = try await [self.accounts.key(named: aliceName), self.accounts.key(named: bobbyName)]
        guard known.contains(nil) else { return }
        let alice = try await self.account(aliceName, nickname: "Alice")
        let bobby = try await self.account(bobbyName, nickname: "Bobby")
        try await self.ask("contact.request", ["id": "demo-request", "user": "bobby"], as: alice)
        try await self.ask("contact.answer", ["id": "demo-answer", "user": "alice", "accept": true], as: bobby)
        let pair = try await self.ask("conversation.open", ["id": "demo-open", "user": "bobby"], as: alice)
        try await self.ask(
            "send",
            ["conv": pair["head"]?["conv"] ?? .null, "id": "demo-hello", "kind": "text", "body": ["text": "Hello Bobby, this is Apus."]],
            as: alice)
    }

    private func account(_ name: UserName, nickname: String) async throws -> UserKey {
        if let key = try await self.accounts.key(named: name) { return key }
        return try await self.accounts.create(name, nickname: nickname, password: Self.password)
    }

    @discardableResult
    private func ask(_ verb: String, _ request: JSONValue, as user: UserKey) async throws -> JSONValue {
        try await self.requests.answer(
            verb, request, of: AccountSession(user: user, device: DeviceKey(0), expiresAt: .max), from: ClientOrigin(nil))
    }
}
