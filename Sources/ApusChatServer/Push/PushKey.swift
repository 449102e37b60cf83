import ApusChatHTTP
import ApusChatStorage
import Crypto

/// The key by which push services know the server (RFC 8292): the file `push.key`, 32 bytes.
///
/// Browsers bind subscriptions to it. Without the file, all of them have to subscribe again.
enum PushKey {
    /// Reads the key of a data folder, or makes one.
    static func load(from folder: String) throws -> P256.Signing.PrivateKey {
        let bytes = try ServerKey.load(from: folder, named: "push.key", makes: { Array(P256.Signing.PrivateKey().rawRepresentation) })
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes) else {
            throw StorageError(.corrupt, message: "\(folder)/push.key is not a private key. Remove it to end all subscriptions.")
        }
        return key
    }
}
