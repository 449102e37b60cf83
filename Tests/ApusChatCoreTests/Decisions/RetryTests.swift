import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

/// A retry of a command with the same id has no further effect and the same answer.
@Suite struct RetryTests {
    struct Verb: Sendable, CustomTestStringConvertible {
        let name: String
        let action: @Sendable (ConversationKey, UserKey) -> Command.Action
        var testDescription: String { self.name }
    }

    static let verbs: [Verb] = [
        Verb(name: "edit") { key, _ in .edit(EventAddress(key, 1), .success(MessageContent(kind: .text, body: "{\"text\":\"x\"}"))) },
        Verb(name: "preview.remove") { key, _ in .removePreview(EventAddress(key, 1)) },
        Verb(name: "recall") { key, _ in .recall(EventAddress(key, 1)) },
        Verb(name: "forward") { key, _ in .forward(key, .success([MessageContent(kind: .text, body: "{}")])) },
        Verb(name: "hide") { key, _ in .hide(key, [1]) },
        Verb(name: "react") { key, _ in .react(EventAddress(key, 1), key: "+", isOn: true) },
        Verb(name: "pin") { key, _ in .pin(EventAddress(key, 1), isOn: true) },
        Verb(name: "call.start") { key, _ in .startCall(key, .audio) },
        Verb(name: "conversation.open") { _, other in .openPair(peer: other, new: ConversationKey(71)) },
        Verb(name: "conversation.create") { _, other in
            .create(CreateCommand(profile: ConversationProfile(), members: [other], new: ConversationKey(72)))
        },
        Verb(name: "conversation.set") { key, _ in
            var update = ConversationUpdate()
            update.title = "x"
            return .set(key, update)
        },
        Verb(name: "member.leave") { key, _ in .leave(key, forgets: false) },
        Verb(name: "member.remove") { key, other in .remove(key, [other]) },
        Verb(name: "member.ban") { key, other in .ban(key, [other], isOn: true) },
        Verb(name: "member.mute") { key, other in .silence(key, [other], until: 4_000_000_000_000) },
        Verb(name: "member.role") { key, other in .setRole(key, [other], .admin) },
        Verb(name: "transfer") { key, other in .transfer(key, to: other) },
        Verb(name: "link.create") { key, _ in .createLink(key, LinkTerms(code: "code")) },
        Verb(name: "own.set") { key, _ in .personalize(key, .pin(true)) },
        Verb(name: "draft") { key, _ in .personalize(key, .draft("{\"text\":\"x\"}")) },
        Verb(name: "contact.request") { _, other in .contact(other, .request(text: "")) },
        Verb(name: "contact.alias") { _, other in .contact(other, .alias("x")) },
        Verb(name: "block") { _, other in .contact(other, .block(true)) },
        Verb(name: "report") { _, other in .report(user: other, reason: "spam") },
    ]

    private func prepare() throws -> (world: World, ann: UserKey, bob: UserKey, group: ConversationKey) {
        let world = World()
        let (ann, bob) = (world.user("ann"), world.user("bob"))
        let group = world.conversation(owner: ann, members: [bob])
        try world.run(world.text(ann, group))
        return (world, ann, bob, group)
    }

    private func logs(_ world: World, _ user: UserKey) -> [HeadRow] { world.storage.heads(of: user, after: nil, limit: 99).heads }

    @Test(arguments: Self.verbs) func inALaterBatch(verb: Verb) throws {
        let (world, ann, bob, group) = try self.prepare()
        let command = world.command(ann, verb.action(group, bob))
        let first = try world.run(command)
        let answer = try #require(first.answer, "\(first)")
        let before = (self.logs(world, ann), self.logs(world, bob))
        world.now += 1_000
        #expect(try world.run(command) == .repeated(answer))
        #expect(before == (self.logs(world, ann), self.logs(world, bob)), "no second effect")
        #expect(world.pushes.isEmpty)
    }

    @Test(arguments: Self.verbs) func inTheSameBatch(verb: Verb) throws {
        let (world, ann, bob, group) = try self.prepare()
        let command = world.command(ann, verb.action(group, bob))
        let decisions = try world.run([command, command])
        let answer = try #require(decisions[0].answer)
        #expect(decisions == [.accepted(answer), .repeated(answer)])
    }

    @Test(arguments: Self.verbs) func anotherRequestUnderTheIDIsAConflict(verb: Verb) throws {
        let (world, ann, bob, group) = try self.prepare()
        try world.run(world.command(ann, verb.action(group, bob), id: "a", hash: 1))
        #expect(try world.run(world.command(ann, .leave(group, forgets: false), id: "a", hash: 2)).code == .conflict)
    }

    @Test func idsOfDifferentUsersAreApart() throws {
        let (world, ann, bob, group) = try self.prepare()
        try world.run(world.command(ann, .personalize(group, .archive(true)), id: "a", hash: 1))
        #expect(try world.run(world.command(bob, .personalize(group, .archive(true)), id: "a", hash: 2)).code == nil)
    }

    @Test func aRefusedRequestCanBeSentAgain() throws {
        let (world, _, bob, group) = try self.prepare()
        let command = world.command(bob, .personalize(group, .folders(["Work"])))
        #expect(try world.run(command).code == .notFound)
        var update = ProfileUpdate()
        update.settings = UserSettings(folders: [Folder(name: "Work")])
        try world.run(world.command(bob, .updateProfile(update)))
        #expect(try world.run(command).code == nil, "a refusal is not kept")
    }
}
