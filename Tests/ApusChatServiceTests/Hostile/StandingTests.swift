import ApusChatProtocol
import ApusJSON
import Testing

/// What each standing in a group may do, end to end: every verb that concerns a conversation, as
/// every kind of user. A refusal that would reveal the group is `not_found`.
@Suite(.timeLimit(.minutes(2)))
struct StandingTests {
    static let standings = ["member", "reader", "muted", "invited", "requested", "left", "removed", "banned", "stranger"]

    /// `no` is `forbidden`, `-` is `not_found`, which also a group that does not exist is. The
    /// message is of another user and no poll, which is a `bad` request for some verbs. `typing`
    /// is accepted and not told.
    static let table = """
                          member    reader    muted     invited   requested left      removed   banned    stranger
        send              ok        no        no        no        -         no        no        -         -
        history           ok        ok        ok        -         -         ok        ok        -         -
        mark              ok        ok        ok        no        -         no        no        -         -
        readers           ok        ok        ok        -         -         -         -         -         -
        edit              no        no        no        no        -         no        no        -         -
        recall            no        no        no        no        -         no        no        -         -
        hide              ok        ok        ok        no        -         no        no        -         -
        react             ok        ok        no        no        -         no        no        -         -
        pin               no        no        no        no        -         no        no        -         -
        vote              bad       bad       no        no        -         no        no        -         -
        poll.close        bad       no        bad       no        -         no        no        -         -
        forward           ok        no        no        no        -         no        no        -         -
        conversation.info ok        ok        ok        -         -         -         -         -         -
        conversation.set  no        no        no        no        -         no        no        -         -
        members           ok        ok        ok        no        -         no        no        -         -
        member.add        ok        no        no        no        -         no        no        -         -
        member.answer     no        no        no        ok        -         no        no        -         -
        member.join       ok        ok        ok        ok        ok        ok        ok        -         ok
        member.approve    no        no        no        no        -         no        no        -         -
        member.leave      ok        ok        ok        ok        ok        ok        ok        -         -
        member.remove     no        no        no        no        -         no        no        -         -
        member.ban        no        no        no        no        -         no        no        -         -
        member.unban      no        no        no        no        -         no        no        -         -
        member.role       no        no        no        no        -         no        no        -         -
        member.mute       no        no        no        no        -         no        no        -         -
        link.create       no        no        no        no        -         no        no        -         -
        link.list         no        no        no        no        -         no        no        -         -
        own.set           ok        ok        ok        no        -         ok        ok        -         -
        draft             ok        ok        ok        no        -         ok        ok        -         -
        report            ok        ok        ok        -         -         ok        ok        -         -
        call.start        ok        no        no        no        -         no        no        -         -
        typing            ok        ok        ok        ok        ok        ok        ok        ok        ok
        """

    /// A group of its owner `alice` with a message of hers, and a user of each standing.
    final class Group {
        let owner: ChatPeer
        let peers: [String: ChatPeer]
        let conversation: ConversationID
        let message: Int64

        init(_ number: Int, owner: ChatPeer, peers: [String: ChatPeer]) async throws {
            self.owner = owner
            self.peers = peers
            let users = Self.members.map { UserName(prepared: $0) }
            let created = try await owner.ask(
                ChatVerbs.conversationCreate,
                CreateRequest(
                    id: .make("g\(number)"), kind: .group, title: "Group \(number)", users: users + [UserName(prepared: "invited")]))
            self.conversation = created.head.conversation
            let conversation = self.conversation
            for name in Self.members {
                _ = try await peers[name]?.ask(
                    ChatVerbs.memberAnswer, MemberAnswerRequest(id: .make("a\(number)"), conversation: conversation, isAccepted: true))
            }
            self.message = try await owner.send("of the owner", to: conversation, id: "m\(number)").seq
            func name(_ text: String) -> [UserName] { [UserName(prepared: text)] }
            _ = try await owner.ask(
                ChatVerbs.memberRole,
                MemberRoleRequest(id: .make("r\(number)"), conversation: conversation, users: name("reader"), role: .reader))
            _ = try await owner.ask(
                ChatVerbs.memberMute,
                MemberUntilRequest(id: .make("s\(number)"), conversation: conversation, users: name("muted"), until: 2_000_000_000_000))
            _ = try await peers["left"]?.ask(
                ChatVerbs.memberLeave, MemberLeaveRequest(id: .make("l\(number)"), conversation: conversation))
            _ = try await owner.ask(
                ChatVerbs.memberRemove,
                MemberUsersRequest(id: .make("x\(number)"), conversation: conversation, users: name("removed")))
            _ = try await owner.ask(
                ChatVerbs.memberBan, MemberUntilRequest(id: .make("b\(number)"), conversation: conversation, users: name("banned")))
            var settings = ConversationSettingsChange()
            settings.join = .approval
            _ = try await owner.ask(
                ChatVerbs.conversationSet,
                ConversationSetRequest(id: .make("j\(number)"), conversation: conversation, settings: settings))
            _ = try await peers["requested"]?.ask(
                ChatVerbs.memberJoin, MemberJoinRequest(id: .make("q\(number)"), conversation: conversation))
        }

        static let members = ["member", "reader", "muted", "left", "removed", "banned"]

        /// The fields of a request for any verb.
        func request(_ verb: String) -> JSONValue {
            var fields: JSONObject = [
                "id": .string("request-\(verb)"), "conv": .string(self.conversation.rawValue), "ref": .integer(self.message),
                "seq": .integer(self.message),
            ]
            switch verb {
            case "send":
                fields["ref"] = nil
                fields["kind"] = "text"
                fields["body"] = ["text": "hello"]
            case "edit": fields["body"] = ["text": "changed"]
            case "mark": fields["read"] = 1
            case "hide", "report":
                fields["seqs"] = [.integer(self.message)]
                fields["reason"] = "spam"
            case "react": fields["key"] = "👍"
            case "vote": fields["options"] = [0]
            case "forward":
                fields["from"] = fields["conv"]
                fields["seqs"] = [.integer(self.message)]
            case "conversation.set": fields["title"] = "Changed"
            case "member.add", "member.remove", "member.ban", "member.unban", "member.mute": fields["users"] = ["bob"]
            case "member.role":
                fields["users"] = ["bob"]
                fields["role"] = "admin"
            case "member.answer": fields["accept"] = true
            case "member.approve":
                fields["user"] = "requested"
                fields["accept"] = true
            case "own.set": fields["archived"] = true
            case "draft":
                fields["ref"] = nil
                fields["text"] = "later"
            case "call.start": fields["media"] = "audio"
            default: break
            }
            return .object(fields)
        }
    }

    /// The verbs of the table, with their answers by standing.
    static let rows: [(verb: String, answers: [String])] = table.split(separator: "\n").dropFirst().map { line in
        let fields = line.split(separator: " ").map(String.init)
        return (fields[0], Array(fields.dropFirst()))
    }

    private static func short(_ code: ChatError.Code) -> String {
        switch code {
        case .forbidden: "no"
        case .notFound: "-"
        case .badRequest: "bad"
        default: code.rawValue
        }
    }

    @Test func everyVerbAsEveryStanding() async throws {
        try await withService(users: ["alice", "bob"] + Self.standings) { fixture in
            let owner = try await fixture.client("alice")
            var peers: [String: ChatPeer] = [:]
            for name in Self.standings { peers[name] = try await fixture.client(name) }
            for (number, (verb, expected)) in Self.rows.enumerated() {
                fixture.pass(milliseconds: 86_400_000)  // the budget of invitations is that of a day
                let group = try await Group(number, owner: owner, peers: peers)
                var answers: [String] = []
                for name in Self.standings {
                    guard let peer = peers[name] else { continue }
                    do {
                        _ = try await peer.raw(verb, group.request(verb))
                        answers.append("ok")
                    } catch let error as ChatError {
                        answers.append(Self.short(error.code))
                    }
                }
                #expect(answers == expected, "\(verb)")
            }
        }
    }
}
