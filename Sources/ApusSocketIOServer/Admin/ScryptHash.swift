import Crypto
import CryptoExtras
import Foundation

/// A stored password hash: `scrypt$logN$r$p$salt$hash`, the last two in base64. The chat server
/// stores its users' passwords in this form, too.
///
/// Source: RFC 7914. The text contains the cost, so that a higher cost for new passwords does not
/// invalidate stored hashes.
package struct ScryptHash: Sendable {
    /// The cost parameters: N = 2^`logRounds`, r and p.
    package struct Cost: Sendable {
        package var logRounds: Int
        package var blockSize: Int
        package var parallelism: Int

        package init(logRounds: Int, blockSize: Int = 8, parallelism: Int = 1) {
            self.logRounds = logRounds
            self.blockSize = blockSize
            self.parallelism = parallelism
        }
    }

    /// The hash and its parameters as text, for storage.
    package let text: String
    private let cost: Cost
    private let salt: [UInt8]
    private let hash: SHA256.Digest

    private static let hashBytes = 32

    /// Hashes a new password. Takes tens to hundreds of milliseconds and must not run on an event
    /// loop.
    ///
    /// - Throws: The error of swift-crypto, for a cost out of range.
    package init(hashing password: String, cost: Cost) throws {
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        let hash = try Self.derive(password, salt: salt, cost: cost)
        let parts = [
            "scrypt", "\(cost.logRounds)", "\(cost.blockSize)", "\(cost.parallelism)", Data(salt).base64EncodedString(),
            Data(hash).base64EncodedString(),
        ]
        guard let made = Self(text: parts.joined(separator: "$")) else { throw CryptoKitError.incorrectParameterSize }
        self = made
    }

    /// Parses a stored hash. Returns `nil` when the text is malformed or its cost exceeds the
    /// limits.
    package init?(text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "scrypt", let logRounds = Int(parts[1]), (1...22).contains(logRounds),
            let blockSize = Int(parts[2]), (1...64).contains(blockSize), let parallelism = Int(parts[3]), (1...64).contains(parallelism),
            let salt = Data(base64Encoded: String(parts[4])), let hash = Data(base64Encoded: String(parts[5])), hash.count == Self.hashBytes
        else { return nil }
        self.text = text
        self.cost = Cost(logRounds: logRounds, blockSize: blockSize, parallelism: parallelism)
        self.salt = Array(salt)
        self.hash = SHA256.hash(data: hash)
    }

    /// Returns whether the password matches. Slow by design, so it must not run on an event loop.
    package func verifies(_ password: String) -> Bool {
        let derived = try? Self.derive(password, salt: self.salt, cost: self.cost)
        // The comparison of digests takes constant time.
        return derived.map { SHA256.hash(data: $0) } == self.hash
    }

    private static func derive(_ password: String, salt: [UInt8], cost: Cost) throws -> [UInt8] {
        let key = try KDF.Scrypt.deriveKey(
            from: Array(password.utf8), salt: salt, outputByteCount: Self.hashBytes, rounds: 1 << cost.logRounds, blockSize: cost.blockSize,
            parallelism: cost.parallelism)
        return key.withUnsafeBytes { Array($0) }
    }
}
