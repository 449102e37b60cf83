import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// The effects of the planted bugs in the shell of the server.
extension PlantedBug {
    /// Changes the commands and facts of a batch before it is decided.
    func spoil(_ commands: inout [Command], _ facts: inout Facts, _ storage: MemoryStorage) {
        switch self {
        case .retryByStoredBody: RetryByStoredBody.apply(to: &commands, &facts, storage)
        case .voteCountedTwice:
            for command in commands {
                guard case .vote(let target, _) = command.action else { continue }
                facts.annotations.modify(AnnotationAddress(target, command.actor)) { $0.votes = 0 }
            }
        case .previewAfterRecall:
            for command in commands {
                guard case .setPreview(let preview) = command.action else { continue }
                facts.events.modify(preview.target) { row in
                    guard row.state == .recalled else { return }
                    (row.state, row.body) = (.normal, preview.before)
                }
            }
        default: break
        }
    }

    /// Changes the data that a batch writes.
    func spoil(_ changes: inout Changes) {
        if self == .linkPastLimit { changes.links.removeAll { $0.used > 0 } }
    }

    /// Returns the user as whom a page of a log is read; nil for the user that requests it.
    func reader(of row: HeadRow, in book: Book?) -> UserKey? {
        switch self {
        case .formerServed where row.member.state != .joined, .floorIgnored where row.member.state == .joined && row.member.minSeq > 1:
            book?.people.filter { $1.state == .joined && $1.first == 1 }.keys.min()
        default: nil
        }
    }
}

/// The planted bug that compares a retry with the stored body, as a server would that computes the
/// hash from the log.
private enum RetryByStoredBody {
    static func apply(to commands: inout [Command], _ facts: inout Facts, _ storage: MemoryStorage) {
        for index in commands.indices {
            guard case .send(let send) = commands[index].action, case .success(let content) = send.content,
                let request = commands[index].request
            else { continue }
            commands[index].request?.hash = self.hash(content.body)
            let address = SendAddress(send.conversation, commands[index].actor, request.id)
            guard let sent = facts.sends[address],
                let row = storage.events(in: send.conversation, .from(sent.seq), as: address.sender, limit: 1).first?.row
            else { continue }
            facts.sends.modify(address) { $0.hash = self.hash(row.body) }
        }
    }

    private static func hash(_ text: String) -> RequestHash {
        RequestHash(text.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }, 0, 0, 0)
    }
}
