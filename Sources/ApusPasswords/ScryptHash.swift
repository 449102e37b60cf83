import Crypto
import CryptoExtras
import Foundation

/// A stored password hash: `scrypt$logN$r$p$salt$hash`, the last two in base64.
///
/// Source: RFC 7914. The text contains the cost, so that a higher cost for new passwords does not
/// invalidate stored hashes.
package struct ScryptHash: Sendable {
    /// The cost parameters: N = 2^`logRounds`, r = `blockSize` and p = `parallelism`.
    package struct Cost: Sendable {
        package var logRounds: Int
        package var blockSize: Int
        package var parallelism: Int

        package init(logRounds: Int, blockSize: Int = 8, parallelism: Int = 1) {
            self.logRounds = logRounds
            self.blockSize = blockSize
            self.parallelism = parallelism
        }

        fileprivate var isPermitted: Bool {
            (1...22).contains(self.logRounds) && (1...64).contains(self.blockSize) && (1...64).contains(self.parallelism)
        }
    }

    /// A cost parameter is out of range.
    package struct CostError: Error, Equatable, CustomStringConvertible {
        package let description =
            "The cost of a password hash must have a `logRounds` from 1 to 22, and a `blockSize` and `parallelism` from 1 to 64."
    }

    /// A new password contains a control character.
    ///
    /// RFC 8265 section 4.2 excludes these characters. HMAC pads its key with zeros (RFC 2104
    /// section 2), so that a hash would not distinguish passwords by the NULs at their end.
    package struct PasswordError: Error, Equatable, CustomStringConvertible {
        package let description = "A password must not contain control characters."
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
    /// - Throws: ``CostError``, ``PasswordError``, or the error of swift-crypto.
    package init(hashing password: String, cost: Cost) throws {
        guard cost.isPermitted else { throw CostError() }
        guard !password.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { throw PasswordError() }
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
        guard parts.count == 6, parts[0] == "scrypt", let logRounds = Int(parts[1]), let blockSize = Int(parts[2]),
            let parallelism = Int(parts[3]), let salt = Data(base64Encoded: String(parts[4])),
            let hash = Data(base64Encoded: String(parts[5])), hash.count == Self.hashBytes
        else { return nil }
        let cost = Cost(logRounds: logRounds, blockSize: blockSize, parallelism: parallelism)
        guard cost.isPermitted else { return nil }
        self.text = text
        self.cost = cost
        self.salt = Array(salt)
        self.hash = SHA256.hash(data: hash)
    }

    /// Returns whether the password matches. Slow by design, so it must not run on an event loop.
    package func verifies(_ password: String) -> Bool {
        // The hash of a password is also that of the password with NULs after it.
        guard password.utf8.last != 0 else { return false }
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
