package import ApusConnectivity
package import ArgumentParser
import Foundation

/// The TLS options of all commands that connect to a server.
package struct TLSOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Accept only the certificate with this SHA-256 fingerprint, and do not verify its issuer, name and dates.",
            valueName: "fingerprint"))
    package var pin: String?

    @Option(help: ArgumentHelp("A PEM file with certificate authorities to trust in addition to the system's.", valueName: "file"))
    package var ca: String?

    @Flag(help: "Accept any certificate. For tests only: the network can then read and change all data.")
    package var insecure = false

    package init() {}

    /// Whether one of the options is set.
    package var isGiven: Bool { self.pin != nil || self.ca != nil || self.insecure }

    package func validate() throws {
        guard [self.pin != nil, self.ca != nil, self.insecure].count(where: { $0 }) <= 1 else {
            throw ValidationError("use only one of --pin, --ca and --insecure")
        }
        _ = try self.settings()
    }

    /// Returns the TLS settings for the connections of the command. Throws an error if an option is
    /// not valid.
    package func settings() throws -> TLSSettings {
        if self.insecure { return .insecureSkipVerification }
        if let pin = self.pin {
            guard let fingerprint = CertificateFingerprint(pin) else {
                throw ValidationError("--pin must be the 64 hexadecimal digits of the SHA-256 of the server's certificate")
            }
            return .pinned(fingerprint)
        }
        guard let file = self.ca else { return .system }
        guard let pem = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw ValidationError("cannot read the file \(file) (--ca)")
        }
        return .trusting(authoritiesPEM: pem)
    }

    /// Returns the error message for a rejected certificate, with the options that accept the
    /// certificate; `nil` for other errors.
    package static func advice(for error: any Error) -> String? {
        guard let error = ErrorText.connectivity(error) else { return nil }
        switch error.code {
        case .certificateSelfSigned, .certificateUntrusted: return "\(error.message) (--pin FINGERPRINT, or --ca FILE)"
        case .certificateExpired, .hostNameMismatch: return "\(error.message) (--pin FINGERPRINT accepts it)"
        default: return nil
        }
    }
}
