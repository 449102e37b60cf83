import ApusChatProtocol
import ApusJSON
import Testing

/// The answers to every verb that names a user outside of a conversation, by the relation to that
/// user.
@Suite(.timeLimit(.minutes(5)))
struct PeopleStandingTests {
    /// The senders of the requests. `asked` has sent the other user a contact request, `asking` has
    /// received one from it, `guest` is a guest in its group, `blocked` is blocked by it, and
    /// `blocker` blocks it.
    private static let standings = ["stranger", "friend", "guest", "asked", "asking", "blocked", "blocker"]

    /// The last column is a request of the stranger that names no user. The answers to a user who
    /// is blocked, and to a guest in a group of the user, are those to a stranger.
    static let table = """
                            stranger  friend    guest     asked     asking    blocked   blocker   nameless
        conversation.open   ok        ok        ok        ok        ok        ok        ok        -
        conversation.create ok        ok        ok        ok        ok        ok        ok        ok
        contact.request     ok        ok        ok        ok        ok        ok        ok        -
        contact.answer      -         -         -         -         ok        -         -         -
        contact.remove      ok        ok        ok        ok        ok        ok        ok        -
        contact.alias       ok        ok        ok        ok        ok        ok        ok        -
        block               ok        ok        ok        ok        ok        ok        ok        -
        unblock             ok        ok        ok        ok        ok        ok        ok        -
        users               ok        ok        ok        ok        ok        ok        ok        ok
        people              ok        ok        ok        ok        ok        ok        ok        ok
        report              ok        ok        ok        ok        ok        ok        ok        -
        """

    static let rows = StandingTests.rows(Self.table)

    private static func request(_ verb: String, _ user: String) -> (verb: String, request: JSONValue) {
        var fields: JSONObject = ["id": .string("request-\(verb)-\(user)")]
        switch verb {
        case "conversation.create":
            fields["kind"] = "group"
            fields["title"] = "Group"
            fields["users"] = [.string(user)]
        case "users": fields["names"] = [.string(user)]
        case "people": fields["query"] = .string(user)
        default:
            fields["user"] = .string(user)
            fields["accept"] = true
            fields["alias"] = verb == "contact.alias" ? "Al" : nil
            fields["reason"] = "spam"
        }
        return (verb, .object(fields))
    }

    private static func relate(_ user: ChatPeer, _ standing: String, to other: ChatPeer, _ name: UserName) async throws {
        let own = UserName(prepared: standing)
        func id(_ text: String) -> ClientID { .make("\(text)-\(standing)-\(name.rawValue)") }
        switch standing {
        case "friend":
            _ = try await user.ask(ChatVerbs.contactRequest, ContactRequestRequest(id: id("ask"), user: name))
            _ = try await other.ask(ChatVerbs.contactAnswer, ContactAnswerRequest(id: id("answer"), user: own, isAccepted: true))
        case "guest":
            let group = try await other.ask(ChatVerbs.conversationCreate, CreateRequest(id: id("group"), kind: .group, title: "Group"))
            let link = try await other.ask(
                ChatVerbs.linkCreate, LinkCreateRequest(id: id("link"), conversation: group.head.conversation, role: .guest))
            _ = try await user.ask(ChatVerbs.memberJoin, MemberJoinRequest(id: id("join"), link: link.link.code))
        case "asked": _ = try await user.ask(ChatVerbs.contactRequest, ContactRequestRequest(id: id("ask"), user: name))
        case "asking": _ = try await other.ask(ChatVerbs.contactRequest, ContactRequestRequest(id: id("ask"), user: own))
        case "blocked": _ = try await other.ask(ChatVerbs.block, ContactUserRequest(id: id("block"), user: own))
        case "blocker": _ = try await user.ask(ChatVerbs.block, ContactUserRequest(id: id("block"), user: name))
        default: break
        }
    }

    @Test func everyVerbAsEveryRelation() async throws {
        let others = Self.rows.indices.map { "other\($0)" }
        try await withService(users: Self.standings + others) { fixture in
            var peers: [ChatPeer] = []
            for name in Self.standings { peers.append(try await fixture.client(name)) }
            for (index, (verb, expected)) in Self.rows.enumerated() {
                fixture.pass(milliseconds: 86_400_000)  // the budget of invitations is that of a day
                let other = try await fixture.client(others[index])
                for (standing, peer) in zip(Self.standings, peers) {
                    try await Self.relate(peer, standing, to: other, UserName(prepared: others[index]))
                }
                var answers = try await StandingTests.answers(peers, to: Self.request(verb, others[index]))
                answers += try await StandingTests.answers([peers[0]], to: Self.request(verb, "nobody"))
                #expect(answers == expected, "\(verb)")
                other.disconnect()
            }
        }
    }
}
