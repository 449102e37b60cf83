import ApusChatStorage
import Crypto

/// Makes and reads the tokens of sessions: some numbers, and an HMAC-SHA-256 over them.
///
/// The server stores no token. A refresh token and its successor can so be made again, and a copy
/// of the database opens no session.
struct SessionTokens: Sendable {
    private let master: SymmetricKey

    /// - Parameter key: The server's secret, at least 32 bytes.
    init(key: [UInt8]) { self.master = SymmetricKey(data: key) }

    struct Access: Sendable, Hashable {
        var user: UserKey
        var device: DeviceKey
        var generation: Int64
        var expiresAt: Int64
    }

    func text(of access: Access) -> String {
        self.sealed("a", [access.user.rawValue, access.device.rawValue, access.generation, access.expiresAt])
    }

    func access(_ text: String) -> Access? {
        self.opened("a", text, count: 4).map {
            Access(user: UserKey($0[0]), device: DeviceKey($0[1]), generation: $0[2], expiresAt: $0[3])
        }
    }

    func refresh(_ device: DeviceKey, generation: Int64) -> String { self.sealed("r", [device.rawValue, generation]) }

    func refresh(_ text: String) -> (device: DeviceKey, generation: Int64)? {
        self.opened("r", text, count: 2).map { (DeviceKey($0[0]), $0[1]) }
    }

    /// Makes a token by which a later sign-in shows that the user has signed in there before.
    func known(_ user: UserKey) -> String { self.sealed("k", [user.rawValue, Secrets.key()]) }

    /// The number of a known client of a user; nil for the token of another user.
    func known(_ text: String, of user: UserKey) -> Int64? {
        self.opened("k", text, count: 2).flatMap { $0[0] == user.rawValue ? $0[1] : nil }
    }

    /// Encrypts a secret that is stored.
    func sealed(_ secret: [UInt8], of user: UserKey) throws -> [UInt8] {
        let box = try AES.GCM.seal(secret, using: self.key("totp"), authenticating: Self.bytes([user.rawValue]))
        return box.combined.map(Array.init) ?? []
    }

    /// Decrypts a stored secret; nil if the server's key has changed.
    func opened(_ sealed: [UInt8], of user: UserKey) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let secret = try? AES.GCM.open(box, using: self.key("totp"), authenticating: Self.bytes([user.rawValue]))
        else { return nil }
        return Array(secret)
    }

    // MARK: The form

    private func key(_ purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: self.master, info: Array("apus chat \(purpose)".utf8), outputByteCount: 32)
    }

    private func sealed(_ purpose: String, _ numbers: [Int64]) -> String {
        let bytes = Self.bytes(numbers)
        return purpose + "." + Secrets.base64url(bytes + Array(HMAC<SHA256>.authenticationCode(for: bytes, using: self.key(purpose))))
    }

    private func opened(_ purpose: String, _ text: String, count: Int) -> [Int64]? {
        guard text.utf8.count <= 200, text.hasPrefix(purpose + "."), let all = Secrets.bytes(base64url: text.dropFirst(2)),
            all.count == count * 8 + SHA256.byteCount
        else { return nil }
        let bytes = Array(all.prefix(count * 8))
        guard HMAC<SHA256>.isValidAuthenticationCode(all.suffix(SHA256.byteCount), authenticating: bytes, using: self.key(purpose)) else {
            return nil
        }
        return stride(from: 0, to: bytes.count, by: 8).map { start in bytes[start..<start + 8].reduce(0) { $0 << 8 | Int64($1) } }
    }

    private static func bytes(_ numbers: [Int64]) -> [UInt8] {
        numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
    }
}
