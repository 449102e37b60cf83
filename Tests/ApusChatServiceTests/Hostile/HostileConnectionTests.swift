import ApusChatCore
import ApusChatProtocol
import ApusChatService
import ApusJSON
import Testing

/// A hostile account against the gateway with the default budgets.
@Suite(.timeLimit(.minutes(5)))
struct HostileConnectionTests {
    /// Runs `body` with the default budgets and a clock that does not advance, so that no budget is
    /// refilled.
    private func withLimits(_ users: [String] = ["alice", "bob", "carol"], _ body: (ServiceFixture) async throws -> Void) async throws {
        try await withService(users: users, isFrozen: true, configure: { $0.rates = .standard }, body)
    }

    @Test func aFloodOfMessagesIsRefusedWithATimeAndDoesNotStopOthers() async throws {
        try await self.withLimits { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            var refusal: ChatError?
            for number in 0..<200 where refusal == nil {
                do { _ = try await alice.send("spam", to: pair, id: "m\(number)") } catch let error as ChatError { refusal = error }
            }
            #expect(refusal?.code == .tooMany)
            #expect(try #require(refusal?.retryAfter) > 0)
            // A second device of the account has the same budget.
            let tablet = try await fixture.client("alice", device: 1)
            await #expect { try await tablet.send("spam", to: pair, id: "t") } throws: { ($0 as? ChatError)?.code == .tooMany }
            #expect(try await bob.send("still here", to: pair, id: "b").n > 0)
        }
    }

    @Test func moreConnectionsThanTheBudgetAreRefused() async throws {
        try await self.withLimits { fixture in
            var peers: [ChatPeer] = []
            var refused = 0
            for device in 0..<30 {
                do { peers.append(try await fixture.client("alice", device: Int64(device))) } catch { refused += 1 }
            }
            #expect(peers.count == 20 && refused == 10)
            _ = try await fixture.client("bob")
        }
    }

    @Test func pendingRequestsAreBounded() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let codes = await withTaskGroup(of: ChatError.Code?.self) { group in
                for _ in 0..<400 {
                    group.addTask {
                        do {
                            _ = try await alice.ask(ChatVerbs.sync, SyncRequest())
                            return nil
                        } catch { return (error as? ChatError)?.code }
                    }
                }
                return await group.reduce(into: [ChatError.Code?]()) { $0.append($1) }
            }
            #expect(codes.allSatisfy { $0 == nil || $0 == .tooMany })
            #expect(try await alice.ask(ChatVerbs.sync, SyncRequest()).heads.count == 1)
        }
    }

    @Test func strangersAreInvitedAndSeeNoMembers() async throws {
        try await self.withLimits { fixture in
            let mallory = try await fixture.client("alice")
            let victim = try await fixture.client("bob")
            for number in 0..<60 {
                do {
                    _ = try await mallory.ask(
                        ChatVerbs.conversationCreate,
                        CreateRequest(
                            id: .make("g\(number)"), kind: .group, title: "Spam \(number)", users: [UserName(prepared: "bob")]))
                } catch let error as ChatError {
                    #expect(error.code == .tooMany)
                    #expect(try #require(error.retryAfter) > 0)
                    break
                }
            }
            let sync = try await victim.ask(ChatVerbs.sync, SyncRequest())
            let invitations = sync.heads.filter { $0.state == .invited }
            #expect(invitations.count <= ChatLimits.newestHeads)
            #expect(invitations.allSatisfy { $0.members == 0 || $0.last == nil })
            #expect(invitations.allSatisfy { $0.seq == 0 && $0.unread == 0 })
        }
    }

    @Test func theDirectoryShowsExactNamesOnlyAndNoPresenceToStrangers() async throws {
        try await self.withLimits(["alice", "bob", "bobby"]) { fixture in
            let alice = try await fixture.client("alice")
            _ = try await fixture.client("bob")
            await #expect { try await alice.ask(ChatVerbs.people, PeopleRequest(query: "")) } throws: { _ in true }
            #expect(try await alice.ask(ChatVerbs.people, PeopleRequest(query: "bo")).users.isEmpty)
            let found = try await alice.ask(ChatVerbs.people, PeopleRequest(query: "@bob")).users
            #expect(found.map(\.name.rawValue) == ["bob"])
            #expect(found[0].online == nil && found[0].lastSeen == nil)
            let users = try await alice.ask(ChatVerbs.users, UsersRequest(names: [UserName(prepared: "bob")])).users
            #expect(users[0].online == nil && users[0].lastSeen == nil)
        }
    }

    @Test func aBlockedSenderLearnsNothing() async throws {
        try await withService { fixture in
            let mallory = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await mallory.open("bob")
            _ = try await mallory.send("before", to: pair, id: "m1")
            _ = try await bob.next(ChatPushes.event) { $0.events.contains { $0.body["text"] == "before" } }
            _ = try await bob.ask(ChatVerbs.block, ContactUserRequest(id: .make("block"), user: UserName(prepared: "alice")))
            let sent = try await mallory.send("after", to: pair, id: "m2")
            #expect(sent.n == 2)
            _ = try await mallory.ask(ChatVerbs.typing, TypingRequest(conversation: pair))
            #expect(try await mallory.history(pair).events.contains { $0.body["text"] == "after" })
            let seen = try await bob.history(pair)
            #expect(seen.events.last?.kind == .hidden && seen.events.last?.body.isEmpty == true)
            #expect(seen.events.last?.seq == sent.seq)
            let head = try await bob.ask(ChatVerbs.sync, SyncRequest()).heads.first { $0.conversation == pair }
            #expect(head?.unread == 1)  // the one before
            bob.disconnect()
            for (name, payload) in await bob.rest() {
                #expect(name != "typing")
                #expect(!"\(payload)".contains("after"))
            }
            let profile = try await mallory.ask(ChatVerbs.users, UsersRequest(names: [UserName(prepared: "bob")])).users
            #expect(profile.first?.online == nil && profile.first?.lastSeen == nil)
        }
    }

    @Test func signalsReachPartiesOfTheCallOnly() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let mallory = try await fixture.client("carol")
            let pair = try await alice.open("bob")
            _ = try await alice.send("x", to: pair, id: "m1")
            let call = try await alice.ask(ChatVerbs.callStart, CallStartRequest(id: .make("c"), conversation: pair, media: .audio)).call
            let data: JSONObject = ["sdp": "v=0"]
            await #expect {
                try await mallory.ask(
                    ChatVerbs.signal, SignalRequest(conversation: pair, call: call, recipient: UserName(prepared: "bob"), data: data))
            } throws: { ($0 as? ChatError)?.code == .notFound }
            _ = try await alice.ask(
                ChatVerbs.signal, SignalRequest(conversation: pair, call: call, recipient: UserName(prepared: "bob"), data: data))
            let push = try await bob.next(ChatPushes.signal)
            #expect(push.sender.rawValue == "alice" && push.data == data)
        }
    }

    @Test(arguments: [
        JSONValue.null, 7, "text", [], ["id": 1], ["conv": "zzz"], ["id": "", "conv": ""], ["page": "h~~~~"], ["page": "k~x"],
        ["limit": -1],
    ]) func malformedRequestsAreRefusedByEveryVerb(value: JSONValue) async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            for verb in StandingTests.rows.map(\.verb) + [
                "sync", "contacts", "people", "users", "settings", "link.info", "signal", "devices",
            ] {
                do {
                    _ = try await alice.raw(verb, value)
                } catch let error as ChatError {
                    #expect(![.internal, .unknown].contains(error.code), "\(verb): \(error)")
                }
            }
            #expect(try await alice.ask(ChatVerbs.sync, SyncRequest()).heads.count == 1)
        }
    }
}
