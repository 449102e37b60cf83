import ApusCertificates
import ApusConnectivity
import Crypto
import Foundation

/// The certificate that identifies a receiver, and the code derived from its key.
///
/// It is created once and stored, so that a code that was copied to the sender remains valid after
/// a restart of the receiver.
struct ReceiverIdentity {
    let tls: TLSServerSettings
    /// The certificate's SHA-256 as 64 hexadecimal digits.
    let fingerprint: String
    let code: TransferCode

    /// Reads the identity from a folder, or creates an identity in the folder.
    ///
    /// - Parameters:
    ///   - folder: The folder. If it does not exist, it is created with access for its owner only.
    ///   - renews: Whether to replace an existing identity. This invalidates its fingerprint and
    ///     its code.
    ///   - now: The start of the validity of a new certificate.
    init(folder: String, renews: Bool, now: Date) throws {
        let (certificate, key) = (folder + "/certificate.pem", folder + "/key.pem")
        let manager = FileManager.default
        if renews || !manager.fileExists(atPath: certificate) || !manager.fileExists(atPath: key) {
            try manager.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let new = try SelfSignedCertificate.makeIdentity(host: "localhost", now: now)
            // Write the certificate last: if it exists, the key also exists.
            try? manager.removeItem(atPath: certificate)
            try Self.write(new.privateKeyPEM, to: key)
            try Self.write(new.certificateChainPEM, to: certificate)
        }
        let identity = try TLSIdentity(certificateChainFile: certificate, privateKeyFile: key)
        self.tls = TLSServerSettings(identity: identity)
        _ = try self.tls.makeContext()  // reports a damaged file before the server listens
        self.fingerprint = identity.fingerprint?.description ?? ""
        let secret = HMAC<SHA256>.authenticationCode(
            for: Array("apus receive: the sender's secret".utf8), using: SymmetricKey(data: try Data(contentsOf: URL(fileURLWithPath: key)))
        )
        self.code = TransferCode(fingerprint: identity.fingerprint?.bytes ?? [], secret: Array(secret))
    }

    /// Writes a file that only its owner can read, even while it is being written.
    private static func write(_ text: String, to path: String) throws {
        let new = path + ".new"
        try? FileManager.default.removeItem(atPath: new)
        guard FileManager.default.createFile(atPath: new, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]),
            rename(new, path) == 0
        else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path]) }
    }

    /// The default folder.
    static var standardFolder: String {
        let environment = ProcessInfo.processInfo.environment
        let base =
            environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser.path + "/.local/share"
        return base + "/apus/receive"
    }
}
