import ApusChatProtocol
import ApusChatService
import ApusChatStorage
import ApusJSON
import Testing

/// Contacts, members and presence, over the gateway.
@Suite(.timeLimit(.minutes(5)))
struct PeopleTests {
    @Test func aRequestShowsItsTextAndTime() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            _ = try await alice.ask(
                ChatVerbs.contactRequest,
                ContactRequestRequest(id: .make("r"), user: UserName(prepared: "bob"), text: "We met at the regatta"))
            let asked = try #require(try await bob.ask(ChatVerbs.contacts, ContactsRequest(state: .asked)).contacts.first)
            #expect(asked.text == "We met at the regatta" && abs(asked.at - fixture.now) < 60_000)
            _ = try await bob.ask(
                ChatVerbs.contactAnswer, ContactAnswerRequest(id: .make("a"), user: UserName(prepared: "alice"), isAccepted: true))
            let friend = try #require(try await alice.ask(ChatVerbs.contacts, ContactsRequest()).contacts.first)
            #expect(friend.state == .friend && friend.text == nil && friend.at >= asked.at)
        }
    }

    @Test func membersAreFoundByNameAndState() async throws {
        let names = (0..<130).map { "user\($0)" } + ["zoe"]
        try await withService(users: ["alice"] + names) { fixture in
            let alice = try await fixture.client("alice")
            let group = try await alice.ask(
                ChatVerbs.conversationCreate, CreateRequest(id: .make("c"), kind: .group, title: "Big")
            ).head.conversation
            try await fixture.join(group, users: 2...UserKey(Int64(names.count) + 1).rawValue)
            func members(_ query: String?, _ state: MemberState? = nil, page: PageToken? = nil) async throws -> MembersAnswer {
                try await alice.ask(ChatVerbs.members, MembersRequest(conversation: group, query: query, state: state, page: page))
            }
            let zoe = try await members("zo")
            #expect(zoe.members.map(\.user.name.rawValue) == ["zoe"] && zoe.total == 1 && zoe.page == nil)
            #expect(try await members("@zoe").members.map(\.user.name.rawValue) == ["zoe"])
            let first = try await members("user")
            #expect(first.total == 130 && first.members.count == ChatLimits.membersPage)
            let second = try await members("user", page: first.page)
            #expect(first.members.count + second.members.count == 130 && second.total == 130)
            #expect(try await members(nil).total == 132)
            _ = try await alice.ask(
                ChatVerbs.memberBan,
                MemberUntilRequest(
                    id: .make("b"), conversation: group, users: [UserName(prepared: "zoe")], until: fixture.now + 3_600_000))
            let banned = try await members(nil, .banned)
            #expect(banned.total == 1 && banned.members.map(\.state) == [.banned])
            #expect(banned.members.first.flatMap(\.bannedUntil).map { $0 > fixture.now } == true)
            #expect(try await members("zo").total == 0)
            let user = try await fixture.client("user0")
            await #expect {
                try await user.ask(ChatVerbs.members, MembersRequest(conversation: group, state: .banned))
            } throws: { ($0 as? ChatError)?.code == .forbidden }
        }
    }

    @Test func presenceIsReportedToMembersWhoLookAtTheConversation() async throws {
        try await withService(users: ["alice", "bob", "carol", "dave"]) { fixture in
            let alice = try await fixture.client("alice")
            let group = try await alice.ask(
                ChatVerbs.conversationCreate, CreateRequest(id: .make("c"), kind: .group, title: "Rowing")
            ).head.conversation
            // The rows are written directly, because users without a contact are only invited. Dave
            // is not a member.
            try await fixture.join(group, users: 2...3)
            // Bob and Dave show their presence to all, Carol to contacts.
            try await fixture.service.log.withStorage { storage in
                var changes = Changes()
                changes.accounts = try storage.accounts([UserKey(2), UserKey(4)]).map { account in
                    var account = account
                    account.privacy.lastSeen = .all
                    return account
                }
                _ = try storage.begin(Needs())
                _ = try storage.commit(changes)
            }
            let viewer = try await fixture.client("alice", device: 1)
            _ = try await viewer.ask(ChatVerbs.subscribe, SubscribeRequest(conversations: [group]))
            for name in ["carol", "dave", "bob"] { _ = try await fixture.client(name) }
            #expect(try await viewer.next(ChatPushes.presence).users.map(\.user.rawValue) == ["bob"])
            alice.disconnect()
            viewer.disconnect()
            #expect(await alice.rest().allSatisfy { $0.name != ChatPushes.presence.name }, "it does not show the conversation")
        }
    }

    @Test func aChangedProfileReachesContactsAndSharedGroups() async throws {
        try await withService(users: ["alice", "bob", "carol", "dave"]) { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let carol = try await fixture.client("carol")
            let dave = try await fixture.client("dave")
            // The rows have the same effect as requests of both users to be contacts.
            try await fixture.service.log.withStorage { storage in
                var changes = Changes()
                for (owner, peer) in [(1, 2), (2, 1)] as [(Int64, Int64)] {
                    var row = ContactRow(address: ContactAddress(owner: UserKey(owner), peer: UserKey(peer)))
                    row.relation = .friend
                    changes.contacts.append(row)
                }
                _ = try storage.begin(Needs())
                _ = try storage.commit(changes)
            }
            let group = try await alice.ask(
                ChatVerbs.conversationCreate, CreateRequest(id: .make("c"), kind: .group, title: "Rowing")
            ).head.conversation
            let link = try await alice.ask(ChatVerbs.linkCreate, LinkCreateRequest(id: .make("l"), conversation: group)).link
            _ = try await carol.ask(ChatVerbs.memberJoin, MemberJoinRequest(id: .make("j"), link: link.code))
            // A blocked user does not see the status.
            _ = try await alice.ask(ChatVerbs.block, ContactUserRequest(id: .make("b"), user: UserName(prepared: "carol")))
            for nick in ["A", "Al", "Alice L."] {
                _ = try await alice.ask(ChatVerbs.profileSet, ProfileSetRequest(id: .make(nick), nick: nick, status: "rowing"))
            }
            for (peer, status) in [(bob, "rowing"), (carol, nil)] as [(ChatPeer, String?)] {
                let push = try await peer.next(ChatPushes.user) {
                    $0.users.contains { $0.name.rawValue == "alice" && $0.nick == "Alice L." }
                }
                #expect(push.users.map(\.status) == [status])
            }
            dave.disconnect()
            #expect(await dave.rest().allSatisfy { $0.name != ChatPushes.user.name }, "a stranger is not told")
        }
    }

    @Test func anExpiredLinkDisclosesNothing() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let group = try await alice.ask(
                ChatVerbs.conversationCreate, CreateRequest(id: .make("c"), kind: .group, title: "Rowing")
            ).head.conversation
            let link = try await alice.ask(
                ChatVerbs.linkCreate, LinkCreateRequest(id: .make("l"), conversation: group, expiresAt: fixture.now + 60_000)
            ).link
            #expect(try await bob.ask(ChatVerbs.linkInfo, LinkInfoRequest(code: link.code)).title == "Rowing")
            fixture.pass(milliseconds: 60_001)
            await #expect {
                try await bob.ask(ChatVerbs.linkInfo, LinkInfoRequest(code: link.code))
            } throws: { ($0 as? ChatError)?.code == .notFound }
        }
    }

    @Test func theLinkOfADeletedConversationDisclosesNothing() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let group = try await alice.ask(
                ChatVerbs.conversationCreate, CreateRequest(id: .make("c"), kind: .group, title: "Rowing")
            ).head.conversation
            let link = try await alice.ask(ChatVerbs.linkCreate, LinkCreateRequest(id: .make("l"), conversation: group)).link
            #expect(try await bob.ask(ChatVerbs.linkInfo, LinkInfoRequest(code: link.code)).title == "Rowing")
            _ = try await alice.ask(ChatVerbs.conversationDelete, DeleteRequest(id: .make("d"), conversation: group, isForAll: true))
            await #expect {
                try await bob.ask(ChatVerbs.linkInfo, LinkInfoRequest(code: link.code))
            } throws: { ($0 as? ChatError)?.code == .notFound }
        }
    }

    @Test func aLinkWithApprovalKeepsItsRoleAndTerms() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let created = try await alice.ask(
                ChatVerbs.conversationCreate,
                CreateRequest(
                    id: .make("c"), kind: .group, title: "Rowing", users: [UserName(prepared: "carol"), UserName(prepared: "nobody")]))
            #expect(created.invited.map(\.rawValue) == ["carol"] && created.unknown.map(\.rawValue) == ["nobody"])
            let group = created.head.conversation
            let link = try await alice.ask(
                ChatVerbs.linkCreate,
                LinkCreateRequest(
                    id: .make("l"), conversation: group, role: .reader, expiresAt: fixture.now + 60_000, uses: 1, needsApproval: true)
            ).link
            #expect(link.needsApproval && link.role == .reader && link.uses == 1 && link.used == 0)
            #expect(try await bob.ask(ChatVerbs.linkInfo, LinkInfoRequest(code: link.code)).join == .approval)
            let asked = try await bob.ask(ChatVerbs.memberJoin, MemberJoinRequest(id: .make("j"), link: link.code))
            #expect(asked.head.state == .requested)
            let requests = try await alice.ask(ChatVerbs.members, MembersRequest(conversation: group, state: .requested))
            #expect(requests.members.map(\.user.name.rawValue) == ["bob"] && requests.total == 1)
            _ = try await alice.ask(
                ChatVerbs.memberApprove,
                MemberApproveRequest(id: .make("p"), conversation: group, user: UserName(prepared: "bob"), isAccepted: true))
            let head = try await bob.ask(ChatVerbs.sync, SyncRequest()).heads.first { $0.conversation == group }
            #expect(head?.state == .joined && head?.role == .reader)
            #expect(try await alice.ask(ChatVerbs.linkList, LinkListRequest(conversation: group)).links.first?.used == 1)
            let carol = try await fixture.client("carol")
            await #expect {
                try await carol.ask(ChatVerbs.linkInfo, LinkInfoRequest(code: link.code))
            } throws: { ($0 as? ChatError)?.code == .notFound }
            let answer = try await carol.ask(
                ChatVerbs.memberAnswer, MemberAnswerRequest(id: .make("a"), conversation: group, isAccepted: true))
            #expect(answer.head?.state == .joined && answer.head?.members == 3)
        }
    }

    @Test func aDeclinedInvitationHasNoHead() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let group = try await alice.ask(
                ChatVerbs.conversationCreate,
                CreateRequest(id: .make("c"), kind: .group, title: "Rowing", users: [UserName(prepared: "bob")])
            ).head.conversation
            let request = MemberAnswerRequest(id: .make("a"), conversation: group, isAccepted: false)
            for _ in 0..<2 {
                let answer = try await bob.ask(ChatVerbs.memberAnswer, request)
                #expect(answer.head == nil && answer.id == request.id)
            }
        }
    }
}
