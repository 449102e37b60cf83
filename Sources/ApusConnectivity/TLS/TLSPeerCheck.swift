import Crypto
import NIOCore
import NIOSSL

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The certificate checks of one connection that swift-nio-ssl does not make, and the diagnosis of
/// failures.
///
/// Confined to its event loop.
final class TLSPeerCheck {
    private let settings: TLSSettings
    /// The name that is verified.
    private let host: String
    /// The failed check, reported instead of the general error of swift-nio-ssl.
    private var finding: ConnectivityError?

    init(settings: TLSSettings, host: String) {
        self.settings = settings
        self.host = host
    }

    /// Verifies the leaf certificate against the pins, in place of the chain verification by
    /// swift-nio-ssl.
    ///
    /// - Parameter chain: The server's certificate chain, the leaf certificate first.
    func verifyPinned(_ chain: [NIOSSLCertificate]) -> NIOSSLVerificationResult {
        guard case .pinned(let pins) = self.settings.verification, let leaf = chain.first else { return .failed }
        guard Self.matches(leaf, pins) else {
            self.finding = ConnectivityError(.pinMismatch, message: "the certificate of \(self.host) matches no pin")
            return .failed
        }
        return .certificateVerified
    }

    /// Verifies the host name and the pins after swift-nio-ssl has verified the chain and the
    /// dates, and before the first application data.
    func handshakeCompleted(_ certificate: NIOSSLCertificate?) throws(ConnectivityError) {
        switch self.settings.verification {
        case .insecureSkipVerification, .pinned: break
        case .system, .additionalAuthorities, .onlyAuthorities:
            guard let certificate, let facts = (try? certificate.toDERBytes()).flatMap(CertificateFacts.init(der:)),
                facts.isFor(host: self.host)
            else { throw ConnectivityError(.hostNameMismatch, message: "the certificate is not for \(self.host)") }
        }
        guard self.settings.pins.isEmpty || certificate.map({ Self.matches($0, self.settings.pins) }) == true else {
            throw ConnectivityError(.pinMismatch, message: "the certificate of \(self.host) matches no pin")
        }
    }

    private static func matches(_ certificate: NIOSSLCertificate, _ pins: [TLSPin]) -> Bool {
        guard let der = try? certificate.toDERBytes() else { return false }
        let digest = Array(SHA256.hash(data: der))
        let keyDigest = CertificateFacts(der: der).map { Array(SHA256.hash(data: Array($0.publicKeyInfo))) }
        return pins.contains {
            switch $0 {
            case .certificate(let fingerprint): fingerprint.bytes == digest
            case .publicKey(let fingerprint): fingerprint.bytes == keyDigest
            }
        }
    }

    // MARK: Diagnosis

    /// Returns an error for the check that failed.
    ///
    /// - Parameters:
    ///   - error: The error from the pipeline.
    ///   - certificate: The server's certificate, if it was received.
    func diagnose(_ error: any Error, certificate: NIOSSLCertificate?) -> ConnectivityError {
        if let finding { return finding }
        if let known = error as? ConnectivityError { return known }
        let text = "\(error)"
        if case NIOSSLError.unableToValidateCertificate = error {
            return self.refusal(of: certificate, cause: error)
        }
        // BoringSSL's errors have no Swift cases, but their names are stable.
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            return self.refusal(of: certificate, cause: error)
        }
        if text.contains("UNSUPPORTED_PROTOCOL") || text.contains("PROTOCOL_VERSION") || text.contains("WRONG_VERSION_ON_EARLY_DATA") {
            return ConnectivityError(.tlsVersion, message: "\(self.host) supports no permitted version of TLS", cause: error)
        }
        let alerts = [
            "BAD_CERTIFICATE", "CERTIFICATE_REQUIRED", "UNKNOWN_CA", "CERTIFICATE_EXPIRED", "CERTIFICATE_REVOKED", "CERTIFICATE_UNKNOWN",
        ]
        if text.contains("ALERT"), alerts.contains(where: text.contains) {
            return ConnectivityError(
                .clientCertificateRefused, message: "\(self.host) requires a client certificate, or rejected the one that was sent",
                cause: error)
        }
        return ConnectivityError(.tlsFailed, message: "the TLS handshake with \(self.host) failed", cause: error)
    }

    private func refusal(of certificate: NIOSSLCertificate?, cause: any Error) -> ConnectivityError {
        if let certificate {
            let now = time(nil)
            if now > certificate.notValidAfter || now < certificate.notValidBefore {
                return ConnectivityError(
                    .certificateExpired, message: "the certificate of \(self.host) has expired or is not valid yet", cause: cause)
            }
            if let der = try? certificate.toDERBytes(), CertificateFacts(der: der)?.isSelfIssued == true {
                return ConnectivityError(
                    .certificateSelfSigned, message: "the certificate of \(self.host) is self-signed; pin it to accept it",
                    cause: cause)
            }
        }
        return ConnectivityError(
            .certificateUntrusted, message: "no trusted authority issued the certificate of \(self.host)", cause: cause)
    }
}

@available(*, unavailable)
extension TLSPeerCheck: Sendable {}
