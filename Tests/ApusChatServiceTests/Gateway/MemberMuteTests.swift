import ApusChatProtocol
import ApusJSON
import Testing

/// Members without the permission to write.
@Suite(.timeLimit(.minutes(5)))
struct MemberMuteTests {
    @Test func aMuteWithoutAnEndIsAPageThatClientsRead() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let group = try await alice.ask(
                ChatVerbs.conversationCreate, CreateRequest(id: .make("g"), kind: .group, title: "G", users: [])
            )
            .head.conversation
            try await fixture.join(group, users: 2...2)
            func mute(_ id: String, until: Int64?) async throws {
                _ = try await alice.ask(
                    ChatVerbs.memberMute,
                    MemberUntilRequest(id: .make(id), conversation: group, users: [UserName(prepared: "bob")], until: until))
            }
            func end() async throws -> Int64? {
                try await alice.ask(ChatVerbs.members, MembersRequest(conversation: group)).members
                    .first { $0.user.name.rawValue == "bob" }?.mutedUntil
            }
            try await mute("m1", until: nil)
            #expect(try await end() == WireReader.largestInteger)
            await #expect { try await bob.send("x", to: group, id: "x") } throws: { ($0 as? ChatError)?.code == .forbidden }
            try await mute("m2", until: 0)
            #expect(try await end() == nil)
            #expect(try await bob.send("x", to: group, id: "x").n == 1)
        }
    }
}
