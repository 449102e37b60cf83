import ApusChatProtocol
import ApusJSON
import GRDB

/// The demo accounts `alice` and `bobby`, with the password `apus-demo` and a first message between
/// them.
struct DemoAccounts: Sendable {
    let store: ChatStore
    let cost: ChatServerConfiguration.PasswordCost

    static let password = "apus-demo"

    /// Creates the accounts and the message that do not exist yet.
    func make() async throws {
        guard let alice = UserName("alice"), let bobby = UserName("bobby") else { return }
        let (store, cost) = (self.store, self.cost)
        let exists = try await store.read { db in try AccountRows.find(alice, db) != nil && AccountRows.find(bobby, db) != nil }
        if exists { return }
        let hash = try PasswordHash(Self.password, cost: cost)
        try await store.write { db in
            let now = store.clock.stamp()
            var ids: [UserID] = []
            for (name, display) in [(alice, "Alice"), (bobby, "Bobby")] {
                if let found = try AccountRows.find(name, db) {
                    ids.append(found.user.id)
                } else {
                    let id = UserID(unchecked: Secrets.newID())
                    ids.append(try AccountRows.insertUser(id, name: name, display: display, password: hash, at: now, db).id)
                }
            }
            let pair = try Conversations.open(with: ids[1], by: ids[0], newID: Secrets.newID(), at: now, db)
            guard pair.head.n == 0 else { return }
            let hello = SendRequest(
                conv: pair.head.conv, id: ClientID(unchecked: "demo-hello"), kind: .text, body: ["text": "Hello Bobby, this is Apus."])
            _ = try ChatLog.send(hello, from: ids[0], at: now, db)
        }
    }
}
