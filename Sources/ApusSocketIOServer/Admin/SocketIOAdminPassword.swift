import ApusPasswords
public import ApusSocketIOProtocol

/// A password hash for storage: `scrypt$logN$r$p$salt$hash`, with the salt and the hash in base64.
///
/// ```swift
/// // Once; then store the text in the configuration.
/// print(try SocketIOAdminPassword(hashing: "secret").text)
/// guard let password = SocketIOAdminPassword(text: environment["ADMIN_PASSWORD_HASH"] ?? "") else { … }
/// ```
///
/// Source: RFC 7914. Node's admin server uses bcrypt, whose hashes are not supported.
public struct SocketIOAdminPassword: Sendable {
    private let hash: ScryptHash

    /// The hash and its parameters as text, for storage.
    public var text: String { self.hash.text }

    /// Hashes a password.
    ///
    /// - Parameters:
    ///   - password: The password.
    ///   - logRounds: The cost, N = 2^logRounds. Default: 14, which requires 16 MiB and tens of
    ///     milliseconds in a release build.
    /// - Throws: `SocketIOError.Code.invalidUse` for a cost outside of 1 to 22, or if the password
    ///   contains a control character or cannot be hashed.
    public init(hashing password: String, logRounds: Int = 14) throws(SocketIOError) {
        guard (1...22).contains(logRounds) else {
            throw SocketIOError(.invalidUse, message: "`logRounds` must be from 1 to 22, not \(logRounds)")
        }
        do {
            self.hash = try ScryptHash(hashing: password, cost: .init(logRounds: logRounds))
        } catch is ScryptHash.PasswordError {
            throw SocketIOError(.invalidUse, message: "the password must not contain control characters")
        } catch {
            throw SocketIOError(.invalidUse, message: "the password cannot be hashed", cause: error)
        }
    }

    /// Parses a stored hash. Returns `nil` when the text is malformed or its cost exceeds the
    /// limits.
    public init?(text: String) {
        guard let hash = ScryptHash(text: text) else { return nil }
        self.hash = hash
    }

    /// Returns whether the password matches. Slow by design, so it must not run on an event loop.
    package func verifies(_ password: String) -> Bool { self.hash.verifies(password) }
}
