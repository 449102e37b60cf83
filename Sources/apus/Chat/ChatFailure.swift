import ApusChatClient
import ApusChatProtocol
import ApusCommandSupport

/// The exit codes and messages for failures.
enum ChatFailure {
    /// Returns the exit code for an error, as in sysexits.h.
    static func exitCode(for error: ChatClientError) -> Int32 {
        switch error.code {
        case .signedOut, .wrongCredentials: 77
        case .refused where error.serverError?.code == .unauthorized: 77
        case .refused where error.serverError?.code.isTemporary == true: 69
        case .unreachable, .timeout, .notConnected, .badAnswer: 69
        case .store, .wrongStore: 74
        case .badAddress, .invalidUse, .refused: 64
        case .notFound: 66
        default: 70
        }
    }

    /// Returns the error's message with instructions for resolving it.
    static func advice(for error: ChatClientError, user: String) -> String {
        switch error.code {
        case .refused where error.serverError?.field == "code": "\(error.message) Enter it with --code."
        case .wrongCredentials where error.serverError?.field == "code" || error.serverError?.code == .forbidden: error.message
        case .wrongCredentials: "\(error.message) Check the name and password; to create the account \"\(user)\", add --register."
        case .refused where error.serverError?.code == .conflict && error.serverError?.field == "name":
            "\(error.message) To sign in to an existing account, omit --register."
        case .unreachable:
            error.cause.flatMap { TLSOptions.advice(for: $0) }.map { "cannot reach the server: \($0)" } ?? error.message
        default: error.message
        }
    }
}
