import ApusCommandSupport
import ApusConnectivity
import ApusFramedProtocol
import ApusFramedSocket

/// The exit codes and messages for failures.
enum TransferFailure {
    /// Returns the exit code for an error code, as in sysexits.h.
    static func exitCode(for code: TransferError.Code) -> Int32 {
        switch code {
        case .source: 66
        case .diskFull, .storage: 74
        case .busy, .timeout, .cancelled: 75
        case .refused, .quota, .nameRefused: 77
        default: 76
        }
    }

    static func exitCode(for error: any Error) -> Int32 {
        switch error {
        case let error as TransferError: self.exitCode(for: error.code)
        case let error as FramedError:
            switch error.code {
            case .transport: (error.cause as? ConnectivityError).map(self.exitCode(for:)) ?? 69
            case .connectionLost, .timeout: 69
            case .closed: 75
            case .invalidUse: 64
            default: 76
            }
        case let error as ConnectivityError: self.exitCode(for: error)
        default: 70
        }
    }

    private static func exitCode(for error: ConnectivityError) -> Int32 {
        switch error.code {
        case .pinMismatch: 77
        case .invalidConfiguration: 64
        default: 69
        }
    }

    /// Returns the error's message with instructions for resolving it.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - address: The receiver's address as specified by the user.
    ///   - isPlain: Whether the connection did not use TLS and the receiver has not answered the
    ///     first message.
    static func advice(for error: any Error, address: String, isPlain: Bool = false) -> String {
        let cause = (error as? FramedError)?.cause as? ConnectivityError ?? error as? ConnectivityError
        switch cause?.code {
        case .pinMismatch?:
            return "\(address) is not the expected receiver: its certificate has another fingerprint. Nothing was sent."
        case .connectFailed?, .nameResolution?, .timeout?:
            return "\(cause?.message ?? "no connection to \(address)"). Check that apus receive is running there."
        case .tlsFailed?, .tlsVersion?, .connectionLost?:
            return "no TLS connection to \(address). If the receiver was started with --plain, add --plain."
        default: break
        }
        switch error {
        case let error as TransferError: return error.message
        case let error as FramedError:
            if isPlain, [.unsupportedVersion, .protocolViolation, .malformedHeader, .connectionLost, .timeout].contains(error.code) {
                return "\(address) is not apus receive, or requires TLS (omit --plain): \(error.message)"
            }
            if error.code == .closed { return "the receiver stopped before all files were sent; run the same command again to resume" }
            return error.cause == nil ? error.message : "\(error.message) (\(address))"
        default: return ErrorText.line(error)
        }
    }
}
