import ApusChatProtocol
import ApusChatStorage
import Crypto

/// Creates and verifies the tokens of sessions. A token contains numbers and an HMAC-SHA-256 of
/// them.
///
/// The server does not store tokens, so a copy of the database does not give access to sessions.
/// The server can create the same refresh token again.
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

    /// Creates a token that shows, at a later sign-in, that the user has signed in on the device
    /// before.
    func known(_ user: UserKey) -> String { self.sealed("k", [user.rawValue, Secrets.key()]) }

    /// Returns the number in a token of `known(_:)`; nil if it is not valid or belongs to another
    /// user.
    func known(_ text: String, of user: UserKey) -> Int64? {
        self.opened("k", text, count: 2).flatMap { $0[0] == user.rawValue ? $0[1] : nil }
    }

    /// Creates the legacy token of a device, whose client sends it in a URL and never renews it. It
    /// contains no character that a URL escapes, and only `LegacyServer` accepts it.
    func legacy(_ user: UserKey, _ device: DeviceKey) -> String {
        String(self.sealed("l", [user.rawValue, device.rawValue]).dropFirst(2))
    }

    func legacy(_ text: String) -> (user: UserKey, device: DeviceKey)? {
        self.opened("l", "l." + text, count: 2).map { (UserKey($0[0]), DeviceKey($0[1])) }
    }

    /// The content of a link to a blob.
    struct Link: Sendable, Hashable {
        var user: UserKey
        var device: DeviceKey
        var expiresAt: Int64
    }

    /// Signs a link to a blob.
    func text(of link: Link, to blob: BlobID) -> String {
        self.sealed("b", [link.user.rawValue, link.device.rawValue, link.expiresAt], with: Array(blob.rawValue.utf8))
    }

    /// Returns the content of a link; nil if it is not valid or leads to another blob.
    func link(_ text: String, to blob: BlobID) -> Link? {
        self.opened("b", text, count: 3, with: Array(blob.rawValue.utf8)).map {
            Link(user: UserKey($0[0]), device: DeviceKey($0[1]), expiresAt: $0[2])
        }
    }

    /// Returns the secret part of the permanent path of a file. It cannot be derived from the
    /// content of the file.
    func tag(of blob: BlobID) -> String {
        Secrets.hex(HMAC<SHA256>.authenticationCode(for: Array(blob.rawValue.utf8), using: self.key("file")).prefix(16))
    }

    /// Encrypts a secret for storage in the database.
    func sealed(_ secret: [UInt8], of user: UserKey) throws -> [UInt8] {
        let box = try AES.GCM.seal(secret, using: self.key("totp"), authenticating: Self.bytes([user.rawValue]))
        return box.combined.map(Array.init) ?? []
    }

    /// Decrypts a stored secret; nil if the server's key was replaced.
    func opened(_ sealed: [UInt8], of user: UserKey) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let secret = try? AES.GCM.open(box, using: self.key("totp"), authenticating: Self.bytes([user.rawValue]))
        else { return nil }
        return Array(secret)
    }

    // MARK: The format

    private func key(_ purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: self.master, info: Array("apus chat \(purpose)".utf8), outputByteCount: 32)
    }

    /// Returns a token with the numbers and an HMAC of them.
    ///
    /// - Parameter context: Bytes that are included in the HMAC but not in the token.
    private func sealed(_ purpose: String, _ numbers: [Int64], with context: [UInt8] = []) -> String {
        let bytes = Self.bytes(numbers)
        let code = HMAC<SHA256>.authenticationCode(for: bytes + context, using: self.key(purpose))
        return purpose + "." + Secrets.base64url(bytes + Array(code))
    }

    private func opened(_ purpose: String, _ text: String, count: Int, with context: [UInt8] = []) -> [Int64]? {
        guard text.utf8.count <= 200, text.hasPrefix(purpose + "."), let all = Secrets.bytes(base64url: text.dropFirst(2)),
            all.count == count * 8 + SHA256.byteCount
        else { return nil }
        let bytes = Array(all.prefix(count * 8))
        guard
            HMAC<SHA256>.isValidAuthenticationCode(all.suffix(SHA256.byteCount), authenticating: bytes + context, using: self.key(purpose))
        else {
            return nil
        }
        return stride(from: 0, to: bytes.count, by: 8).map { start in bytes[start..<start + 8].reduce(0) { $0 << 8 | Int64($1) } }
    }

    private static func bytes(_ numbers: [Int64]) -> [UInt8] {
        numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
    }
}
