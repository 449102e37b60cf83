import ApusSocketIOServer

/// The stored form of a password.
struct PasswordHash: Sendable {
    var text: String

    /// Hashes a new password. Takes tens to hundreds of milliseconds, so it must not run on an
    /// event loop.
    init(_ password: String, cost: ChatServerConfiguration.PasswordCost) throws {
        let cost = ScryptHash.Cost(logRounds: cost.logRounds, blockSize: cost.blockSize, parallelism: cost.parallelism)
        self.text = try ScryptHash(hashing: password, cost: cost).text
    }

    /// Creates a hash from its stored form.
    init(stored text: String) { self.text = text }

    /// Returns whether a password is right; `false` for a damaged hash.
    func verifies(_ password: String) -> Bool { ScryptHash(text: self.text)?.verifies(password) ?? false }
}
