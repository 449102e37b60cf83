import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

/// What the oracle expects as the decision on a command.
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

    /// The same answer to a retry.
    var again: Verdict {
        if case .accepted(let seq, let n) = self { .repeated(seq: seq, n: n) } else { self }
    }
}

/// A refusal by the rules of the oracle.
struct Refusal: Error {
    let code: ChatError.Code
    init(_ code: ChatError.Code) { self.code = code }
}
