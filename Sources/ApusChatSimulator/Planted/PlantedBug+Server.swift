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
        case .replyCountedAgain:
            for command in commands {
                guard case .send(let send) = command.action, send.thread > 0, let request = command.request,
                    facts.sends[SendAddress(send.conversation, command.actor, request.id)] != nil
                else { continue }
                facts.events.modify(EventAddress(send.conversation, send.thread)) { $0.replyCount += 1 }
            }
        case .callsCollide:
            for command in commands {
                guard case .startCall(let key, _, _) = command.action, let request = command.request,
                    facts.requests[RequestAddress(command.actor, request.id)] == nil,
                    facts.members[MemberAddress(key, command.actor)]?.state == .joined
                else { continue }
                facts.conversations.modify(key) { $0.counters.callSeq = 0 }
            }
        case .erasureIncomplete:
            for index in commands.indices {
                if case .blank(let targets, .erased) = commands[index].action {
                    commands[index].action = .blank(targets.dropLast(), .erased)
                }
            }
        default: break
        }
    }

    /// Changes the data that a batch writes.
    func spoil(_ changes: inout Changes, _ oracle: Oracle) {
        switch self {
        case .linkPastLimit: changes.links.removeAll { $0.used > 0 }
        case .recallReachesCopies:
            for blank in changes.blanks where blank.state == .recalled {
                changes.blanks += oracle.copies(of: blank.address).map { EventBlank(address: $0, state: .recalled) }
            }
        case .deletedForAll:
            for row in changes.annotations where row.isHidden {
                for user in (oracle.books[row.address.event.conversation]?.people.keys).map({ $0.sorted() }) ?? [] {
                    var copy = AnnotationRow(address: AnnotationAddress(row.address.event, user), n: row.n)
                    copy.isHidden = true
                    changes.annotations.append(copy)
                }
            }
        case .slowModeForgets: for index in changes.members.indices { changes.members[index].lastSentAt = 0 }
        case .previewStays:
            let refs = changes.events.filter { $0.kind == .preview && $0.body.isEmpty }.map { EventAddress($0.conversation, $0.ref) }
            changes.targets.removeAll { refs.contains($0.address) }
        default: break
        }
    }

    /// Returns the user with whose permissions a page of a log is read; nil for the requesting
    /// user.
    func reader(of row: HeadRow, in book: Book?) -> UserKey? {
        switch self {
        case .deletedForMeServed where book?.entries.contains(where: { $0.deletedBy.contains(row.member.address.user) }) ?? false:
            book?.people.filter { user, person in
                person.state == .joined && person.first == 1 && book?.entries.allSatisfy { !$0.deletedBy.contains(user) } ?? false
            }.keys.max()
        case .formerServed where row.member.state != .joined, .floorIgnored where row.member.state == .joined && row.member.minSeq > 1:
            book?.people.filter { $1.state == .joined && $1.first == 1 }.keys.min()
        default: nil
        }
    }
}

/// The planted bug that compares a retry with the stored body, as a server does that computes the
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
