import Crypto
import CryptoExtras
import Foundation

/// A password as it is kept: `scrypt$logN$r$p$salt$hash`, the last two in base64.
///
/// Source: RFC 7914. The settings stand in the text, so that raising the cost does not lock anybody out.
struct PasswordHash: Sendable {
    var text: String

    private static let hashBytes = 32

    /// Hashes a new password. Takes tens to hundreds of milliseconds: never on an event loop.
    init(_ password: String, cost: ChatServerConfiguration.PasswordCost) throws {
        let salt = Secrets.randomBytes(16)
        let hash = try Self.derive(password, salt: salt, cost: cost)
        self.text =
            "scrypt$\(cost.logRounds)$\(cost.blockSize)$\(cost.parallelism)$\(Data(salt).base64EncodedString())$\(Data(hash).base64EncodedString())"
    }

    /// Takes what the database kept.
    init(stored text: String) { self.text = text }

    /// Whether this is the password. The comparison takes the same time wherever the difference is.
    func verifies(_ password: String) -> Bool {
        let parts = self.text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "scrypt", let logRounds = Int(parts[1]), (1...22).contains(logRounds),
            let blockSize = Int(parts[2]),
            (1...64).contains(blockSize), let parallelism = Int(parts[3]), (1...64).contains(parallelism),
            let salt = Data(base64Encoded: String(parts[4])),
            let expected = Data(base64Encoded: String(parts[5])),
            let actual = try? Self.derive(
                password, salt: Array(salt), cost: .init(logRounds: logRounds, blockSize: blockSize, parallelism: parallelism))
        else { return false }
        return Secrets.isEqual(Array(expected), actual)
    }

    private static func derive(_ password: String, salt: [UInt8], cost: ChatServerConfiguration.PasswordCost) throws -> [UInt8] {
        let key = try KDF.Scrypt.deriveKey(
            from: Array(password.utf8), salt: salt, outputByteCount: self.hashBytes, rounds: 1 << cost.logRounds, blockSize: cost.blockSize,
            parallelism: cost.parallelism)
        return key.withUnsafeBytes { Array($0) }
    }
}
