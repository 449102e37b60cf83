import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Short descriptions of requests and messages, for `--trace`.

extension Request: CustomStringConvertible {
    var description: String {
        switch self {
        case .hello(let since, let epoch): "hello since \(since?.rawValue ?? "-") epoch \(epoch?.rawValue ?? "-")"
        case .sync(let request): "sync since \(request.since?.rawValue ?? "-") page \(request.page?.rawValue ?? "-")"
        case .history(let request, let isScroll): "history \(request.conversation) \(request.range)\(isScroll ? " scroll" : "")"
        case .command(let command, _): command.traceText
        case .forward(let command, let originals, _): "\(command.traceText) of \(originals)"
        }
    }
}

extension Command {
    var traceText: String {
        let id = self.request?.id.rawValue ?? "-"
        let conversation = self.conversation.map { ConversationID(number: $0.rawValue).rawValue } ?? "-"
        return switch self.action {
        case .send(let send): "send \(id) in \(ConversationID(number: send.conversation.rawValue))"
        case .mark(let mark): "mark \(ConversationID(number: mark.conversation.rawValue)) read \(mark.read)"
        default: "\(id) in \(conversation): \(String(describing: self.action).prefix(200))"
        }
    }
}

extension Message: CustomStringConvertible {
    var description: String {
        switch self {
        case .hello(let answer): "hello: \(answer.sync?.traceText ?? "epoch \(answer.epoch)")"
        case .helloRefused(let error), .syncRefused(let error): "sync refused: \(error)"
        case .sync(let answer): "sync: \(answer.traceText)"
        case .history(let answer, let request, let isScroll):
            "history \(answer.conversation) \(request.range)\(isScroll ? " scroll" : ""): "
                + answer.events.map(\.traceText).joined(separator: ", ") + " of \(answer.seq)"
        case .historyRefused(let error, let request, _): "history \(request.conversation) refused: \(error)"
        case .answered(let answer, let purpose): "answer seq \(answer.seq) n \(answer.n) to \(purpose)"
        case .marked(let answer):
            "marked \(answer.conversation) read \(answer.read ?? 0) unread \(answer.unread ?? 0) mentions \(answer.mentions ?? 0)"
        case .refused(let error, let purpose): "refused \(purpose): \(error)"
        case .events(let push):
            "events " + (push.events.first?.conversation.rawValue ?? "") + ": "
                + push.events.map(\.traceText).joined(separator: ", ")
        case .heads(let push):
            "heads " + push.heads.map(\.traceText).joined(separator: ", ") + " nudges "
                + push.nudges.map { "\($0.conversation) seq \($0.seq) n \($0.n)" }.joined(separator: ", ") + " gone \(push.gone)"
        case .marks(let push): "marks " + push.marks.map { "\($0.conversation) \($0.user) \($0.read ?? 0)" }.joined(separator: ", ")
        }
    }
}

extension ChatEvent {
    fileprivate var traceText: String {
        "\(self.seq)\(self.n.map { "(n \($0))" } ?? "") \(self.kind)\(self.state == .normal ? "" : " \(self.state.rawValue)")"
            + (self.ref.map { " ref \($0)" } ?? "")
    }
}

extension ChatHead {
    fileprivate var traceText: String {
        "\(self.conversation) \(self.state.rawValue) seq \(self.minSeq)-\(self.seq) n \(self.n) read \(self.read) unread \(self.unread)"
            + " mentions \(self.mentions)"
    }
}

extension SyncAnswer {
    fileprivate var traceText: String {
        self.heads.map(\.traceText).joined(separator: ", ") + " gone \(self.gone) token \(self.token) page \(self.page?.rawValue ?? "-")"
    }
}
