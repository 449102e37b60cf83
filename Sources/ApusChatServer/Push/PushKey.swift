import ApusChatHTTP
import ApusChatStorage
import Crypto

/// The key by which push services identify the server (RFC 8292). The file `push.key` contains its
/// 32 bytes.
///
/// Browsers bind their subscriptions to the key. If the file is lost, all browsers must subscribe
/// again.
enum PushKey {
    /// Reads the key of a data folder, or creates one.
    static func load(from folder: String) throws -> P256.Signing.PrivateKey {
        let bytes = try ServerKey.load(from: folder, named: "push.key", makes: { Array(P256.Signing.PrivateKey().rawRepresentation) })
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes) else {
            throw StorageError(
                .corrupt,
                message:
                    "\(folder)/push.key is not a valid private key; restore it, or remove it to create a new key, which ends all subscriptions"
            )
        }
        return key
    }
}
