import ApusChatCore
import ApusChatStorage

/// The kinds of commands.
enum Verb: Int, CaseIterable, Sendable {
    case text, poll, reply, forward, mark, edit, recall, react, vote, closePoll, pin, hide
    case schedule, unschedule, sendScheduled, setPreview, removePreview, startCall, updateCall, blank, finishErasure
    case openPair, create, set, invite, answerInvitation, leave, remove, ban, unban, silence, setRole, transfer
    case createLink, revokeLink, joinByLink, answerRequest
    case draft, personalize, request, block, other

    init(_ command: Command) {
        self =
            switch command.action {
            case .send(let send) where send.thread > 0: .reply
            case .send(let send): if case .success(let content) = send.content, content.options > 0 { .poll } else { .text }
            case .mark: .mark
            case .forward: .forward
            case .removePreview: .removePreview
            case .startCall: .startCall
            case .updateCall: .updateCall
            case .finishErasure: .finishErasure
            case .edit: .edit
            case .recall: .recall
            case .react: .react
            case .vote: .vote
            case .closePoll: .closePoll
            case .pin: .pin
            case .hide: .hide
            case .schedule: .schedule
            case .unschedule: .unschedule
            case .sendScheduled: .sendScheduled
            case .setPreview: .setPreview
            case .blank: .blank
            case .openPair: .openPair
            case .create: .create
            case .set: .set
            case .invite: .invite
            case .answerInvitation: .answerInvitation
            case .leave: .leave
            case .remove: .remove
            case .ban(_, _, let isOn, _): isOn ? .ban : .unban
            case .silence: .silence
            case .setRole: .setRole
            case .transfer: .transfer
            case .createLink: .createLink
            case .revokeLink: .revokeLink
            case .joinByLink: .joinByLink
            case .answerRequest: .answerRequest
            case .personalize(_, .draft): .draft
            case .personalize, .personalizeAll: .personalize
            case .contact(_, .block): .block
            case .contact: .request
            default: .other
            }
    }
}

/// Events of a run other than commands.
enum Incident: Int, CaseIterable, Sendable {
    case restart, diskFault, clockJump, partition, newEpoch
    /// A connection did not read; a connection was closed because it did not read.
    case stall, slowClose
    /// A member was removed or banned while the connection of its device was interrupted.
    case removedWhileCut
    /// A silenced member tried to write; a user tried to join by a link without remaining uses.
    case silencedRefusal, exhaustedLink
    /// A message was refused because of slow mode.
    case slowRefusal
    /// The server ended a call that no device answered, or a call whose devices had all
    /// disconnected.
    case unansweredCall, abandonedCall
    /// The last device left the call of a group.
    case emptiedCall
    /// An account was deleted; all its messages were erased.
    case deletedAccount, erasedAccount
    /// A text was edited or recalled before its preview arrived; a scheduled message was refused.
    case voidPreview, failedSchedule
    /// A member who does not see the beginning of a log read it; a former member read a log; an
    /// event was sent as hidden.
    case floor, formerHistory, hidden
}

/// Counts the commands and incidents of runs, to verify that the runs cover the intended cases.
struct Coverage: Sendable {
    /// For each verb, four numbers of commands: those that wrote an event, those accepted without
    /// an event, retries, and refused ones.
    private(set) var verbs = [[Int]](repeating: [0, 0, 0, 0], count: Verb.allCases.count)
    private(set) var incidents = [Int](repeating: 0, count: Incident.allCases.count)

    mutating func note(_ incident: Incident) { self.incidents[incident.rawValue] += 1 }

    mutating func note(_ verb: Verb, _ decision: Decision) {
        let column =
            switch decision {
            case .accepted(let answer): answer.seq > 0 ? 0 : 1
            case .repeated: 2
            case .refused: 3
            }
        self.verbs[verb.rawValue][column] += 1
    }

    mutating func add(_ other: Coverage) {
        for verb in self.verbs.indices { for column in 0..<4 { self.verbs[verb][column] += other.verbs[verb][column] } }
        for incident in self.incidents.indices { self.incidents[incident] += other.incidents[incident] }
    }

    /// The verbs that were never accepted, and the incidents that never occurred.
    var missing: [String] {
        Verb.allCases.filter { $0 != .other && self.verbs[$0.rawValue][0] + self.verbs[$0.rawValue][1] == 0 }.map { "\($0)" }
            + Incident.allCases.filter { self.incidents[$0.rawValue] == 0 }.map { "\($0)" }
    }

    /// The table that `--coverage` prints.
    var text: String {
        func line(_ name: String, _ numbers: [Int]) -> String {
            ([name] + numbers.map(String.init)).map { $0 + String(repeating: " ", count: max(0, 17 - $0.count)) }.joined()
        }
        let verbs = Verb.allCases.map { line("\($0)", self.verbs[$0.rawValue]) }
        let incidents = Incident.allCases.map { line("\($0)", [self.incidents[$0.rawValue]]) }
        return (["verb             written          no event         repeated         refused"] + verbs + ["", "incident"] + incidents)
            .joined(separator: "\n")
    }
}
