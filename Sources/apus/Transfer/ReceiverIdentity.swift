import ApusChatServer
import ApusConnectivity
import Crypto
import Foundation
import NIOSSL

/// The certificate by which a receiver is known, and what is derived from its key. It is made once and kept, so that what was copied to the
/// sender stays right when the receiver is started again.
struct ReceiverIdentity {
    let context: NIOSSLContext
    /// 64 hexadecimal digits.
    let fingerprint: String
    let code: TransferCode

    /// Reads the identity in a folder, or makes one.
    ///
    /// - Parameters:
    ///   - folder: Only its owner can look into it.
    ///   - renews: Makes a new one in any case; fingerprints and codes that were given away are worthless then.
    init(folder: String, renews: Bool, now: Date) throws {
        let (certificate, key) = (folder + "/certificate.pem", folder + "/key.pem")
        let manager = FileManager.default
        if renews || !manager.fileExists(atPath: certificate) || !manager.fileExists(atPath: key) {
            try manager.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let pem = try ServerIdentity.selfSignedPEM(host: "localhost", now: now)
            // The certificate last: it says that the key is there.
            try? manager.removeItem(atPath: certificate)
            try Self.write(pem.key, to: key)
            try Self.write(pem.certificate, to: certificate)
        }
        let identity = try ServerIdentity(certificates: certificate, key: key)
        self.context = try identity.context()
        self.fingerprint = identity.fingerprint
        let secret = HMAC<SHA256>.authenticationCode(
            for: Array("apus receive: the sender's secret".utf8), using: SymmetricKey(data: try Data(contentsOf: URL(fileURLWithPath: key)))
        )
        let digest = CertificateFingerprint(self.fingerprint)?.bytes ?? []
        self.code = TransferCode(fingerprint: digest, secret: Array(secret))
    }

    /// A file that was never readable for others.
    private static func write(_ text: String, to path: String) throws {
        let new = path + ".new"
        try? FileManager.default.removeItem(atPath: new)
        guard FileManager.default.createFile(atPath: new, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]),
            rename(new, path) == 0
        else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path]) }
    }

    /// Where it is when nobody says.
    static var standardFolder: String {
        let environment = ProcessInfo.processInfo.environment
        let base =
            environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser.path + "/.local/share"
        return base + "/apus/receive"
    }
}
