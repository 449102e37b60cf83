import ApusSocketIOServer

/// A password as the database keeps it.
struct PasswordHash: Sendable {
    var text: String

    /// Hashes a new password. Takes tens to hundreds of milliseconds: never on an event loop.
    init(_ password: String, cost: ChatServerConfiguration.PasswordCost) throws {
        let cost = ScryptHash.Cost(logRounds: cost.logRounds, blockSize: cost.blockSize, parallelism: cost.parallelism)
        self.text = try ScryptHash(hashing: password, cost: cost).text
    }

    /// Takes what the database kept.
    init(stored text: String) { self.text = text }

    /// Whether this is the password; a damaged hash is nobody's.
    func verifies(_ password: String) -> Bool { ScryptHash(text: self.text)?.verifies(password) ?? false }
}
