/// A password as it is kept: `scrypt$logN$r$p$salt$hash`, the last two in base64.
///
/// ```swift
/// print(try SocketIOAdminPassword(hashing: "secret").text)       // once; the text goes into the configuration
/// let password = SocketIOAdminPassword(text: environment["ADMIN_PASSWORD_HASH"])
/// ```
///
/// Source: RFC 7914. (The reference keeps bcrypt, whose form is another: hash the password anew.)
public struct SocketIOAdminPassword: Sendable {
    private let hash: ScryptHash

    /// The hash with its settings, to be kept.
    public var text: String { self.hash.text }

    /// Hashes a password.
    ///
    /// - Parameters:
    ///   - password: The password.
    ///   - logRounds: The cost, N = 2^logRounds. Default: 14, 16 MiB and tens of milliseconds in a release build.
    /// - Throws: The error of swift-crypto, for a cost out of range.
    public init(hashing password: String, logRounds: Int = 14) throws {
        self.hash = try ScryptHash(hashing: password, cost: .init(logRounds: logRounds))
    }

    /// Takes a hash that was kept; `nil` when it is none, or of a cost no server should pay.
    public init?(text: String) {
        guard let hash = ScryptHash(text: text) else { return nil }
        self.hash = hash
    }

    /// Whether this is the password. Takes long on purpose: never on an event loop.
    package func verifies(_ password: String) -> Bool { self.hash.verifies(password) }
}
