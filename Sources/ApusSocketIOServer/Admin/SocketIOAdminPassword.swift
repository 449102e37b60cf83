import Crypto
import CryptoExtras
import Foundation

/// A password as it is kept: `scrypt$logN$r$p$salt$hash`, the last two in base64.
///
/// ```swift
/// print(try SocketIOAdminPassword(hashing: "secret").text)       // once; the text goes into the configuration
/// let password = SocketIOAdminPassword(text: environment["ADMIN_PASSWORD_HASH"])
/// ```
///
/// Source: RFC 7914. (The reference keeps bcrypt, whose form is another: hash the password anew.)
public struct SocketIOAdminPassword: Sendable {
    /// The hash with its settings, to be kept.
    public let text: String
    private let logRounds: Int
    private let blockSize: Int
    private let parallelism: Int
    private let salt: [UInt8]
    private let hash: SHA256.Digest

    /// Hashes a password.
    ///
    /// - Parameters:
    ///   - password: The password.
    ///   - logRounds: The cost, N = 2^logRounds. Default: 14, 16 MiB and tens of milliseconds in a release build.
    /// - Throws: The error of swift-crypto, for a cost out of range.
    public init(hashing password: String, logRounds: Int = 14) throws {
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        let hash = try Self.derive(password, salt: salt, logRounds: logRounds, blockSize: 8, parallelism: 1)
        let parts = ["scrypt", "\(logRounds)", "8", "1", Data(salt).base64EncodedString(), Data(hash).base64EncodedString()]
        guard let made = Self(text: parts.joined(separator: "$")) else { throw CryptoKitError.incorrectParameterSize }
        self = made
    }

    /// Takes a hash that was kept; `nil` when it is none, or of a cost no server should pay.
    public init?(text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "scrypt", let logRounds = Int(parts[1]), (1...22).contains(logRounds),
            let blockSize = Int(parts[2]), (1...64).contains(blockSize), let parallelism = Int(parts[3]), (1...64).contains(parallelism),
            let salt = Data(base64Encoded: String(parts[4])), let hash = Data(base64Encoded: String(parts[5])), hash.count == 32
        else { return nil }
        self.text = text
        self.logRounds = logRounds
        self.blockSize = blockSize
        self.parallelism = parallelism
        self.salt = Array(salt)
        self.hash = SHA256.hash(data: hash)
    }

    /// Whether this is the password. Takes long on purpose: never on an event loop.
    package func verifies(_ password: String) -> Bool {
        let derived = try? Self.derive(
            password, salt: self.salt, logRounds: self.logRounds, blockSize: self.blockSize, parallelism: self.parallelism)
        // Digests compare in a time that does not depend on where they differ.
        return derived.map { SHA256.hash(data: $0) } == self.hash
    }

    private static func derive(
        _ password: String, salt: [UInt8], logRounds: Int, blockSize: Int, parallelism: Int
    ) throws -> [UInt8] {
        let key = try KDF.Scrypt.deriveKey(
            from: Array(password.utf8), salt: salt, outputByteCount: 32, rounds: 1 << logRounds, blockSize: blockSize,
            parallelism: parallelism)
        return key.withUnsafeBytes { Array($0) }
    }
}
