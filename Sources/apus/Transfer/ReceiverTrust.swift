import ApusCommandSupport
import ApusConnectivity
import ApusFramedSocket
import ArgumentParser
import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// By what a receiver is known, and what shows it that we may send.
struct ReceiverTrust: Sendable {
    /// `nil`: no TLS.
    var fingerprint: CertificateFingerprint?
    var code: TransferCode?

    var tls: TLSSettings? { self.fingerprint.map { .pinned($0) } }

    /// With a code: the certificate it begins to name is looked at, and from then on only this one is accepted.
    static func checking(_ code: TransferCode, at address: ListenAddress) async throws -> ReceiverTrust {
        let fingerprint = try await self.shownFingerprint(at: address)
        guard code.names(fingerprint.bytes) else {
            throw ConnectivityError(.pinMismatch, message: "the code belongs to another receiver")
        }
        return ReceiverTrust(fingerprint: fingerprint, code: code)
    }

    /// Without anything: whoever sits there compares, or nothing is sent.
    static func asking(at address: ListenAddress, _ output: TransferOutput) async throws -> ReceiverTrust {
        let fingerprint = try await self.shownFingerprint(at: address)
        output.note("The receiver shows the certificate sha256\n  \(fingerprint)")
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            output.note("apus send: nobody is here to compare it with what apus receive has printed; give --fingerprint or --code")
            throw ExitCode(77)
        }
        writeStandardError(Data("Is that what apus receive has printed? [y/N] ".utf8))
        let answer = readLine()?.lowercased() ?? ""
        guard answer == "y" || answer == "yes" else {
            output.note("apus send: nothing was sent")
            throw ExitCode(77)
        }
        return ReceiverTrust(fingerprint: fingerprint)
    }

    /// Connects, looks at the certificate and hangs up. Nothing is said, and nothing is believed: the connection for the files is made anew and
    /// accepts this certificate only.
    private static func shownFingerprint(at address: ListenAddress) async throws -> CertificateFingerprint {
        guard case .tcp(let host, let port) = address else { throw ConnectivityError(.invalidSettings, message: "no TLS on a Unix socket") }
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let channel = try await eventLoop.flatSubmit {
            Dialer(tls: .insecureSkipVerification).dial(.host(host, port: port), on: eventLoop).futureResult
        }.get()
        let certificate = try await channel.nioSSL_peerCertificate().get()
        channel.close(promise: nil)
        guard let der = try certificate?.toDERBytes(), let fingerprint = CertificateFingerprint(bytes: SHA256.hash(data: der)) else {
            throw ConnectivityError(.tlsFailed, message: "the receiver shows no certificate")
        }
        return fingerprint
    }
}
