/// Why a connection did not come to be, or an exchange over it failed.
public struct ConnectivityError: Error, Hashable, CustomStringConvertible {
    /// The kind of an error. More may be added; switch with a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case invalidSettings, nameResolution, connectFailed, timeout, connectionLost, cancelled
            case proxyRefused, proxyAuthentication, proxyProtocol
            case tlsFailed, tlsVersion, certificateExpired, certificateSelfSigned, certificateUntrusted, hostNameMismatch, pinMismatch
            case clientCertificateRefused, httpProtocol, responseTooLarge
        }

        private let value: Value

        /// The settings contradict themselves or cannot be read (a PEM text, an address, a proxy's URL).
        public static let invalidSettings = Self(value: .invalidSettings)
        /// No address was found for the name.
        public static let nameResolution = Self(value: .nameResolution)
        /// No address answered, or all refused.
        public static let connectFailed = Self(value: .connectFailed)
        /// A deadline passed: of the connection, the proxy or TLS.
        public static let timeout = Self(value: .timeout)
        /// The transport ended before the connection stood.
        public static let connectionLost = Self(value: .connectionLost)
        /// The caller gave the attempt up.
        public static let cancelled = Self(value: .cancelled)
        /// The proxy answered that it will not, or cannot, connect.
        public static let proxyRefused = Self(value: .proxyRefused)
        /// The proxy wants credentials, or others.
        public static let proxyAuthentication = Self(value: .proxyAuthentication)
        /// The proxy does not speak its protocol.
        public static let proxyProtocol = Self(value: .proxyProtocol)
        /// TLS failed in a way that none of the other codes tells.
        public static let tlsFailed = Self(value: .tlsFailed)
        /// The server speaks no version of TLS that is allowed.
        public static let tlsVersion = Self(value: .tlsVersion)
        /// The server's certificate is not valid any more, or not yet.
        public static let certificateExpired = Self(value: .certificateExpired)
        /// The server's certificate is signed by itself. Name it with a ``TLSPin`` to accept it.
        public static let certificateSelfSigned = Self(value: .certificateSelfSigned)
        /// No trusted authority stands behind the server's certificate.
        public static let certificateUntrusted = Self(value: .certificateUntrusted)
        /// The server's certificate is for another host.
        public static let hostNameMismatch = Self(value: .hostNameMismatch)
        /// The server's certificate or key is none of the pinned ones.
        public static let pinMismatch = Self(value: .pinMismatch)
        /// The server did not accept our certificate, or wants one.
        public static let clientCertificateRefused = Self(value: .clientCertificateRefused)
        /// What the server answered is no HTTP, or not as it says.
        public static let httpProtocol = Self(value: .httpProtocol)
        /// The server's answer is larger than it may be.
        public static let responseTooLarge = Self(value: .responseTooLarge)

        /// The name of the code.
        public var description: String { "\(self.value)" }
    }

    /// The kind of the error.
    public var code: Code
    /// What happened, and what to do about it.
    public var message: String
    /// The error below, when there is one. Not part of the equality.
    public var cause: (any Error)?

    /// An error of the given kind.
    public init(_ code: Code, message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Equal are errors of one code and message.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code && left.message == right.message }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.code)
        hasher.combine(self.message)
    }

    /// Code, message and cause on one line.
    public var description: String {
        let cause = self.cause.map { " (\($0))" } ?? ""
        return "\(self.code): \(self.message)\(cause)"
    }
}

extension ConnectivityError: RetryClassifiable {
    /// Not worth it where only a person can help: settings, and certificates that were refused.
    ///
    /// (A portal that wants a log-in first shows foreign certificates as well; who wants to outlast one classifies these himself.)
    public var retryDecision: RetryDecision {
        switch self.code {
        case .invalidSettings, .cancelled, .proxyAuthentication, .tlsVersion, .certificateExpired, .certificateSelfSigned,
            .certificateUntrusted, .hostNameMismatch, .pinMismatch, .clientCertificateRefused:
            .giveUp
        default:
            .retry
        }
    }
}
