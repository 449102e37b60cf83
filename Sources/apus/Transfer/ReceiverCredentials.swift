import ApusCommandSupport
import ApusConnectivity
import ApusFramedSocket
import ArgumentParser
import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// The credentials of a connection: the TLS settings that identify the receiver, and the code that
/// authorizes the sender.
struct ReceiverCredentials: Sendable {
    /// The TLS settings, which verify the receiver's certificate; `nil` for a connection without
    /// TLS.
    var tls: TLSSettings?
    /// The code; `nil` if the user specified none.
    var code: TransferCode?

    /// Connects and compares the receiver's certificate with a code. The code contains the first
    /// half of the certificate's fingerprint.
    ///
    /// - Returns: The credentials, which accept this certificate only.
    /// - Throws: `ConnectivityError` with the code `pinMismatch` if the certificate does not match.
    static func checking(_ code: TransferCode, at address: ListenAddress) async throws -> ReceiverCredentials {
        let fingerprint = try await self.receivedFingerprint(at: address)
        guard code.names(fingerprint.bytes) else {
            throw ConnectivityError(.pinMismatch, message: "the code belongs to another receiver")
        }
        return ReceiverCredentials(tls: .pinned(fingerprint), code: code)
    }

    /// Connects and asks the user to confirm the fingerprint of the receiver's certificate.
    ///
    /// - Throws: `ExitCode` if the user does not confirm, or if there is no terminal.
    static func asking(at address: ListenAddress, _ output: TransferOutput) async throws -> ReceiverCredentials {
        let fingerprint = try await self.receivedFingerprint(at: address)
        output.note("The receiver's certificate has the SHA-256 fingerprint\n  \(fingerprint)")
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            output.note("apus send: there is no terminal to confirm the fingerprint; use --pin or --code")
            throw ExitCode(77)
        }
        writeStandardError(Data("Did apus receive print this fingerprint? [y/N] ".utf8))
        let answer = readLine()?.lowercased() ?? ""
        guard answer == "y" || answer == "yes" else {
            output.note("apus send: nothing was sent")
            throw ExitCode(77)
        }
        return ReceiverCredentials(tls: .pinned(fingerprint))
    }

    /// Connects, returns the fingerprint of the receiver's certificate and closes the connection.
    ///
    /// This connection transmits no data. The connection for the files accepts only the certificate
    /// with this fingerprint.
    private static func receivedFingerprint(at address: ListenAddress) async throws -> CertificateFingerprint {
        guard case .tcp(let host, let port) = address else {
            throw ConnectivityError(.invalidConfiguration, message: "TLS is not supported on a Unix socket")
        }
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let channel = try await eventLoop.flatSubmit {
            Dialer(tls: .insecureSkipVerification).dial(.host(host, port: port), on: eventLoop).futureResult
        }.get()
        let certificate = try await channel.nioSSL_peerCertificate().get()
        channel.close(promise: nil)
        guard let der = try certificate?.toDERBytes(), let fingerprint = CertificateFingerprint(bytes: SHA256.hash(data: der)) else {
            throw ConnectivityError(.tlsFailed, message: "the receiver sent no certificate")
        }
        return fingerprint
    }
}
