import ApusChatClient
import ApusChatProtocol
import ApusCommandSupport

/// The exit codes and messages for failures.
enum ChatFailure {
    /// Returns the exit code for an error, as in sysexits.h.
    static func exitCode(for error: ChatClientError) -> Int32 {
        switch error.code {
        case .unauthorized: 77
        case .unreachable, .timeout, .notConnected, .badReply: 69
        case .store, .wrongStore: 74
        case .badServerAddress, .badInput, .refused: 64
        case .notFound: 66
        default: 70
        }
    }

    /// Returns a message that includes how to resolve the error.
    static func advice(for error: ChatClientError, user: String) -> String {
        switch error.code {
        case .unauthorized: "\(error.message). Check the name and password; to create the account \"\(user)\", add --register."
        case .refused where error.serverError?.code == .nameTaken:
            "\(error.message). Choose another --user, or omit --register to log in."
        case .unreachable:
            error.cause.flatMap { TLSOptions.advice(for: $0) }.map { "cannot reach the server: \($0)" } ?? error.message
        default: error.message
        }
    }
}
