import ApusConnectivity
import ApusFramedSocket

/// What a failure means to the shell and to the person in front of it.
enum TransferFailure {
    /// The codes of sysexits.h.
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
        case .invalidSettings: 64
        default: 69
        }
    }

    /// - Parameter address: The receiver's, as it was typed.
    /// - Parameter isPlain: Whether it was tried without TLS, and never got beyond the beginning.
    static func advice(for error: any Error, address: String, isPlain: Bool = false) -> String {
        let cause = (error as? FramedError)?.cause as? ConnectivityError ?? error as? ConnectivityError
        switch cause?.code {
        case .pinMismatch?:
            return "\(address) is not the receiver you named: its certificate has another fingerprint. Nothing was sent."
        case .connectFailed?, .nameResolution?, .timeout?:
            return "\(cause?.message ?? "no connection to \(address)"). Is apus receive running there?"
        case .tlsFailed?, .tlsVersion?, .connectionLost?:
            return "no TLS with \(address). A receiver that was started with --plain is sent to with --plain."
        default: break
        }
        switch error {
        case let error as TransferError: return error.message
        case let error as FramedError:
            if isPlain, [.unsupportedVersion, .protocolViolation, .malformedHeader, .connectionLost, .timeout].contains(error.code) {
                return "\(address) is no apus receive, or one that wants TLS (leave --plain out): \(error.message)"
            }
            if error.code == .closed { return "the receiver stopped before everything was sent; run the same again to go on" }
            return error.cause == nil ? error.message : "\(error.message) (\(address))"
        default: return "\(error)"
        }
    }
}
