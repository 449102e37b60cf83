import ApusBytes
public import ApusEventLoop
import NIOCore
import NIOPosix
import NIOSSL

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An error of a connection attempt or of an exchange over a connection.
public struct ConnectivityError: Error, Hashable, CustomStringConvertible {
    /// The kind of an error. Later releases can add codes, so a `switch` needs a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case invalidConfiguration, nameResolution, connectFailed, timeout, connectionLost, cancelled
            case proxyRefused, proxyAuthentication, proxyProtocol
            case tlsFailed, tlsVersion, certificateExpired, certificateSelfSigned, certificateUntrusted, hostNameMismatch, pinMismatch
            case clientCertificateRefused, httpProtocol, responseTooLarge
        }

        private let value: Value

        /// A setting (for example a PEM text, an address or a proxy URL) is invalid or conflicts
        /// with another setting.
        public static let invalidConfiguration = Self(value: .invalidConfiguration)
        /// No permitted address was found for the host name.
        public static let nameResolution = Self(value: .nameResolution)
        /// No address accepted the connection.
        public static let connectFailed = Self(value: .connectFailed)
        /// The time limit for the connection (including the proxy), the TLS handshake or the
        /// exchange expired.
        public static let timeout = Self(value: .timeout)
        /// The transport closed or failed before the connection was ready, or during an exchange.
        public static let connectionLost = Self(value: .connectionLost)
        /// The caller cancelled the attempt or the exchange, the client was closed, too many
        /// requests wait for a connection, or the receiver of the body threw an error.
        public static let cancelled = Self(value: .cancelled)
        /// The proxy refused to connect to the server or could not connect to it.
        public static let proxyRefused = Self(value: .proxyRefused)
        /// The proxy requires credentials, or rejected those it received.
        public static let proxyAuthentication = Self(value: .proxyAuthentication)
        /// The proxy violated its protocol, or unexpected bytes arrived before the connection was
        /// ready.
        public static let proxyProtocol = Self(value: .proxyProtocol)
        /// TLS failed for a reason that no other code describes.
        public static let tlsFailed = Self(value: .tlsFailed)
        /// The server supports no permitted version of TLS.
        public static let tlsVersion = Self(value: .tlsVersion)
        /// The server's certificate has expired or is not valid yet.
        public static let certificateExpired = Self(value: .certificateExpired)
        /// The server's certificate is self-signed. To accept the certificate, use
        /// ``TLSSettings/Verification/pinned(_:)``.
        public static let certificateSelfSigned = Self(value: .certificateSelfSigned)
        /// No trusted authority issued the server's certificate.
        public static let certificateUntrusted = Self(value: .certificateUntrusted)
        /// The server's certificate was issued for another host.
        public static let hostNameMismatch = Self(value: .hostNameMismatch)
        /// Neither the server's certificate nor its key matches a pin.
        public static let pinMismatch = Self(value: .pinMismatch)
        /// The server requires a client certificate, or rejected the one it received.
        public static let clientCertificateRefused = Self(value: .clientCertificateRefused)
        /// The server's response is not valid HTTP or is not encoded as declared.
        public static let httpProtocol = Self(value: .httpProtocol)
        /// The body of the server's response exceeds the maximum size.
        public static let responseTooLarge = Self(value: .responseTooLarge)

        /// The name of the code.
        public var description: String { "\(self.value)" }
    }

    /// The kind of the error.
    public var code: Code
    /// A description of the failure and its remedy.
    public var message: String
    /// The underlying error, if any. It does not take part in comparisons.
    public var cause: (any Error)? {
        get { self.storedCause.error }
        set { self.storedCause.error = newValue }
    }
    private var storedCause: ErrorCause

    /// Creates an error of the given kind.
    ///
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - message: A description of the failure and its remedy.
    ///   - cause: The underlying error, if any.
    public init(_ code: Code, message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.storedCause = ErrorCause(cause)
    }

    /// The code, the message and the cause on one line.
    public var description: String { self.storedCause.description(of: self.code, self.message, text: Self.reason) }

    /// Returns the text of an operating-system, resolver or TLS error for use in a message. Omits
    /// the source files and function names of dependencies.
    package static func reason(of error: any Error) -> String {
        switch error {
        case let error as IOError: return String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError where !error.connectionErrors.isEmpty:
            var reasons: [String] = []
            for failure in error.connectionErrors {
                let reason = self.reason(of: failure.error)
                if !reasons.contains(reason) { reasons.append(reason) }
            }
            return reasons.joined(separator: ", ")
        case NIOSSLError.handshakeFailed(let error), NIOSSLError.shutdownFailed(let error): return self.reason(of: error)
        case NIOSSLError.failedToLoadCertificate: return "the certificate is not a valid PEM certificate"
        case NIOSSLError.failedToLoadPrivateKey: return "the private key is not valid, or is the key of another certificate"
        case NIOSSLError.noSuchFilesystemObject: return "the file does not exist"
        case BoringSSLError.sslError(let stack), BoringSSLError.unknownError(let stack):
            // An error without a code begins with `Error:` and two spaces.
            return stack.map { entry in
                let text = "\(entry)"
                return text.hasPrefix("Error:  ") ? String(text.dropFirst(8)) : CauseText.text(of: BoringSSLError.sslError([entry]))
            }.joined(separator: ", ")
        default: return CauseText.text(of: error)
        }
    }
}

extension ConnectivityError: RetryClassifiable {
    /// Permits no retry after errors that a retry cannot fix: invalid settings, cancellation,
    /// rejected credentials and certificates, and an unsupported version of TLS.
    ///
    /// A captive portal also presents a certificate for another host. To retry in that case,
    /// override the decision for the certificate codes.
    public var retryDecision: RetryDecision {
        switch self.code {
        case .invalidConfiguration, .cancelled, .proxyAuthentication, .tlsVersion, .certificateExpired, .certificateSelfSigned,
            .certificateUntrusted, .hostNameMismatch, .pinMismatch, .clientCertificateRefused:
            .giveUp
        default:
            .retry
        }
    }
}
