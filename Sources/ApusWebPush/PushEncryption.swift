package import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Encrypts the messages of Web Push so that the push service cannot read them.
///
/// Source: RFC 8291 over RFC 8188 (`aes128gcm`), with one record.
package enum PushEncryption {
    /// The record size in the header. A push service must accept bodies of 4,096 bytes (RFC 8030
    /// section 7.2).
    private static let recordSize: UInt32 = 4_096
    /// The maximum size of a message: 4,096 bytes minus the header (86), the delimiter (1) and the
    /// tag (16).
    package static let maximumBytes = 4_096 - 86 - 1 - 16

    /// Returns the body of a push request with `Content-Encoding: aes128gcm`.
    ///
    /// - Parameters:
    ///   - message: The message, at most ``maximumBytes``.
    ///   - key: A key that is used for this message only.
    ///   - salt: 16 random bytes.
    /// - Throws: An error of swift-crypto if the key of the subscription is not valid.
    package static func encrypt(
        _ message: [UInt8], for subscription: PushSubscription, key: P256.KeyAgreement.PrivateKey, salt: [UInt8]
    ) throws -> [UInt8] {
        let own = key.publicKey.x963Representation
        let shared = try key.sharedSecretFromKeyAgreement(with: subscription.key).withUnsafeBytes { Array($0) }
        // RFC 8291 section 3.4.
        let extracted = self.hmac(shared, key: subscription.secret)
        let info = Array("WebPush: info\0".utf8) + subscription.key.x963Representation + own
        let input = self.hmac(info + [1], key: extracted)
        return try self.encode(message, input: input, salt: salt, keyID: Array(own), recordSize: self.recordSize)
    }

    /// Encodes content as one record (RFC 8188 section 2).
    static func encode(_ content: [UInt8], input: [UInt8], salt: [UInt8], keyID: [UInt8], recordSize: UInt32) throws -> [UInt8] {
        let key = self.hmac(input, key: salt)
        let contentKey = self.hmac(Array("Content-Encoding: aes128gcm\0".utf8) + [1], key: key).prefix(16)
        let nonce = self.hmac(Array("Content-Encoding: nonce\0".utf8) + [1], key: key).prefix(12)
        // The delimiter 2 marks the last record.
        let box = try AES.GCM.seal(content + [2], using: SymmetricKey(data: contentKey), nonce: AES.GCM.Nonce(data: nonce))
        var body = salt
        for shift in [24, 16, 8, 0] as [UInt32] { body.append(UInt8(truncatingIfNeeded: recordSize >> shift)) }
        body.append(UInt8(clamping: keyID.count))
        return body + keyID + box.ciphertext + box.tag
    }

    private static func hmac(_ data: [UInt8], key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: data, using: SymmetricKey(data: key)))
    }
}
