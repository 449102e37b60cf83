import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

/// The answers to each command from each kind of outsider and restricted member. A refusal to an
/// outsider does not reveal that the conversation exists.
@Suite struct VerbTests {
    enum Role: String, CaseIterable, Sendable {
        case stranger, invited, requested, former, silenced, reader, banned, member
    }

    struct Verb: Sendable, CustomTestStringConvertible {
        let name: String
        /// The roles for which the command is accepted. It is refused for all others.
        let accepted: Set<Role>
        let action: @Sendable (ConversationKey, UserKey) -> Command.Action
        var testDescription: String { self.name }
    }

    private static let members: Set<Role> = [.silenced, .reader, .member]
    private static let text = MessageContent(kind: .text, body: "{}")

    static let verbs: [Verb] = [
        Verb(name: "send", accepted: [.member]) { key, _ in .send(SendCommand(conversation: key, content: .success(Self.text))) },
        Verb(name: "forward", accepted: [.member]) { key, _ in .forward(key, .success([Self.text])) },
        Verb(name: "call.start", accepted: [.member]) { key, _ in .startCall(key, .audio) },
        Verb(name: "mark", accepted: Self.members) { key, _ in .mark(MarkCommand(conversation: key, read: 1)) },
        Verb(name: "edit", accepted: []) { key, _ in .edit(EventAddress(key, 1), .success(Self.text)) },
        Verb(name: "preview.remove", accepted: []) { key, _ in .removePreview(EventAddress(key, 1)) },
        Verb(name: "recall", accepted: []) { key, _ in .recall(EventAddress(key, 1)) },
        Verb(name: "hide", accepted: Self.members) { key, _ in .hide(key, [1]) },
        Verb(name: "react", accepted: [.reader, .member]) { key, _ in .react(EventAddress(key, 1), key: "+", isOn: true) },
        Verb(name: "vote", accepted: []) { key, _ in .vote(EventAddress(key, 1), options: [0]) },
        Verb(name: "poll.close", accepted: []) { key, _ in .closePoll(EventAddress(key, 1)) },
        Verb(name: "pin", accepted: []) { key, _ in .pin(EventAddress(key, 1), isOn: true) },
        Verb(name: "conversation.set", accepted: []) { key, _ in
            var update = ConversationUpdate()
            update.title = "x"
            return .set(key, update)
        },
        Verb(name: "conversation.delete", accepted: []) { key, _ in .delete(key) },
        Verb(name: "schedule", accepted: [.member]) { key, _ in
            let send = SendCommand(conversation: key, content: .success(Self.text))
            return .schedule(ScheduleCommand(send: send, kind: .text, body: "{}", sendAt: 1_700_000_100_000))
        },
        Verb(name: "member.add", accepted: [.member]) { key, other in .invite(key, [other]) },
        Verb(name: "member.join", accepted: [.invited, .requested, .silenced, .reader, .member]) { key, _ in .join(key) },
        Verb(name: "member.answer", accepted: [.invited]) { key, _ in .answerInvitation(key, accepts: true) },
        Verb(name: "member.approve", accepted: []) { key, other in .answerRequest(key, other, approves: true) },
        Verb(name: "member.leave", accepted: [.invited, .requested, .former, .silenced, .reader, .member]) { key, _ in
            .leave(key, forgets: true)
        },
        Verb(name: "member.remove", accepted: []) { key, other in .remove(key, [other]) },
        Verb(name: "member.ban", accepted: []) { key, other in .ban(key, [other], isOn: true) },
        Verb(name: "member.mute", accepted: []) { key, other in .silence(key, [other], until: 9) },
        Verb(name: "member.role", accepted: []) { key, other in .setRole(key, [other], .reader) },
        Verb(name: "transfer", accepted: []) { key, other in .transfer(key, to: other) },
        Verb(name: "link.create", accepted: []) { key, _ in .createLink(key, LinkTerms(code: "c")) },
        Verb(name: "own.set", accepted: [.former, .silenced, .reader, .member]) { key, _ in .personalize(key, .archive(true)) },
        Verb(name: "own.set of several", accepted: [.former, .silenced, .reader, .member]) { key, _ in
            .personalizeAll(key, [.archive(true), .mute(until: 9)])
        },
        Verb(name: "draft", accepted: [.former, .silenced, .reader, .member]) { key, _ in .personalize(key, .draft("{}")) },
        Verb(name: "report", accepted: [.former, .silenced, .reader, .member]) { key, _ in
            .report(user: nil, events: [EventAddress(key, 1)], reason: "spam")
        },
        Verb(name: "report of the conversation", accepted: [.invited, .former, .silenced, .reader, .member]) { key, _ in
            .report(user: nil, conversation: key, reason: "spam")
        },
    ]

    @Test(arguments: Self.verbs, Role.allCases) func eachVerb(verb: Verb, role: Role) throws {
        let world = World()
        let (ann, bob, cid) = (world.user("ann"), world.user("bob"), world.user("cid"))
        let group = world.conversation(owner: ann, members: [cid])
        try world.run(world.text(ann, group))
        self.place(bob, as: role, in: group, world)
        let before = world.storage.head(of: ann, in: group)
        let decision = try world.run(world.command(bob, verb.action(group, cid)))
        if verb.accepted.contains(role) {
            #expect(decision.code == nil, "\(verb.name) as \(role)")
        } else {
            let code = try #require(decision.code, "\(verb.name) as \(role) must be refused")
            #expect(world.storage.head(of: ann, in: group) == before, "a refusal has no effect")
            if [.stranger, .requested, .banned].contains(role) {
                #expect(code == .notFound, "an outsider must not learn of the conversation")
                // The same command on a conversation that does not exist has the same answer.
                let absent = try world.run(world.command(bob, verb.action(ConversationKey(5), cid)))
                #expect(absent == decision)
            }
        }
    }

    private func place(_ user: UserKey, as role: Role, in group: ConversationKey, _ world: World) {
        guard role != .stranger else { return }
        var member = MemberRow(address: MemberAddress(group, user), role: role == .reader ? .reader : .member, state: .joined)
        switch role {
        case .stranger, .reader, .member: break
        case .invited: member.state = .invited
        case .requested: member.state = .requested
        case .former:
            member.state = .left
            member.leftSeq = 1
        case .silenced: member.silencedUntil = .max
        case .banned: member.state = .banned
        }
        var changes = Changes()
        changes.members = [member]
        world.write(changes)
    }

    @Test func blockedUsersGetTheAnswersOfOthers() throws {
        // Each command of a blocked user is answered as that of a user who is not blocked.
        let actions: [@Sendable (UserKey, ConversationKey) -> Command.Action] = [
            { _, pair in .send(SendCommand(conversation: pair, content: .success(Self.text))) },
            { _, pair in .react(EventAddress(pair, 1), key: "+", isOn: true) },
            { _, pair in .pin(EventAddress(pair, 1), isOn: true) },
            { peer, _ in .openPair(peer: peer, new: ConversationKey(6)) },
            { peer, _ in .contact(peer, .request(text: "")) },
            { peer, _ in .create(CreateCommand(profile: ConversationProfile(), members: [peer], new: ConversationKey(7))) },
        ]
        func outcomes(isBlocked: Bool) throws -> [Decision] {
            let world = World()
            let (ann, bob) = (world.user("ann"), world.user("bob"))
            let pair = world.pair(ann, bob)
            try world.run(world.text(ann, pair))
            try world.run(world.command(bob, .contact(isBlocked ? ann : world.user("eve"), .block(true))))
            return try actions.map { try world.run(world.command(ann, $0(bob, pair))) }
        }
        #expect(try outcomes(isBlocked: true) == outcomes(isBlocked: false))
    }
}
