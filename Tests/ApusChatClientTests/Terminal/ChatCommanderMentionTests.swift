import ApusChatProtocol
import ApusChatTerminal
import ApusJSON
import Testing

@testable import ApusChatClient

@MainActor @Suite("Mentions and completion of commands", .timeLimit(.minutes(5)))
struct ChatCommanderMentionTests {
    /// The server refuses `@all` of a user who may not mention all members.
    @Test func allAreMentionedOnlyWhereTheServerPermitsIt() async throws {
        let fixture = try await CommandFixture()
        let isCompleted = { await fixture.commander.completions().contains("@all") }
        func entities(_ conversation: ConversationID?) async throws -> JSONValue? {
            let before = fixture.server.count(of: "send")
            fixture.host.conversation = conversation.map { fixture.client.conversation($0) }
            await fixture.perform("@all come")
            try await eventually { fixture.server.count(of: "send") > before }
            return fixture.request("send")?["body"]?["entities"]
        }
        let head = try await fixture.client.conversation(fixture.group).head
        var changed = head
        for (role, scope, permits) in [
            (MemberRole.owner, MemberScope.admins, true), (.admin, .admins, true), (.member, .admins, false), (.member, .members, true),
            (.guest, .members, false),
        ] {
            changed.role = role
            changed.settings = ConversationSettings()
            changed.settings?.mentionAll = scope
            #expect(changed.wordsForAll == (permits ? ["all"] : []), "\(role), \(scope)")
        }
        #expect(try await entities(fixture.group) == [["type": "all", "offset": 0, "length": 4]])
        #expect(await isCompleted())
        for conversation in [fixture.pair, try #require(await fixture.client.notes).id] {
            #expect(try await entities(conversation) == nil)
            #expect(await isCompleted() == false)
        }
        await fixture.end()
    }

    @Test func wordsAreCompleted() async throws {
        let fixture = try await CommandFixture()
        await fixture.commander.loadMembers()
        let words = await fixture.commander.completions()
        for word in ["/help", "@all", "@bob", "bob"] { #expect(words.contains(word), "\(word)") }
        await fixture.end()
    }
}
