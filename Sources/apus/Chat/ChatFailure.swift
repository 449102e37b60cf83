import ApusChatClient
import ApusChatProtocol

/// What a failure means to the shell and to the person in front of it.
enum ChatFailure {
    /// The codes of sysexits.h.
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

    static func advice(for error: ChatClientError, user: String) -> String {
        switch error.code {
        case .unauthorized: "\(error.message). Check the name and password; to make the account \"\(user)\" add --register."
        case .refused where error.serverError?.code == .nameTaken:
            "\(error.message). Choose another --user, or leave out --register to log in."
        default: error.message
        }
    }
}
