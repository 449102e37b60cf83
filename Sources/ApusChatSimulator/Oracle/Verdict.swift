import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

/// The expected decision on a command.
enum Verdict: Equatable {
    case accepted(seq: Int64, n: Int64)
    case repeated(seq: Int64, n: Int64)
    case refused(ChatError.Code)

    static let unchanged = Verdict.accepted(seq: 0, n: 0)

    init(_ decision: Decision) {
        switch decision {
        case .accepted(let answer): self = .accepted(seq: answer.seq, n: answer.n)
        case .repeated(let answer): self = .repeated(seq: answer.seq, n: answer.n)
        case .refused(let error): self = .refused(error.code)
        }
    }

    /// The verdict on a retry of the command.
    var again: Verdict {
        if case .accepted(let seq, let n) = self { .repeated(seq: seq, n: n) } else { self }
    }
}

/// A refusal by the oracle.
struct Refusal: Error {
    let code: ChatError.Code
    /// The time after which the request can succeed, in milliseconds; nil if it is not known.
    let retryAfter: Int64?

    init(_ code: ChatError.Code, retryAfter: Int64? = nil) {
        self.code = code
        self.retryAfter = retryAfter
    }
}
