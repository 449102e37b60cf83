import ApusChatCore
import ApusChatProtocol
import ApusChatService
import ApusChatStorage
import ApusJSON
import NIOConcurrencyHelpers
import Testing

/// Notifications of requests to join, to the devices of the owner and the admins.
@Suite(.timeLimit(.minutes(5)))
struct JoinRequestNoticeTests {
    /// A group of `alice` with the admin `bob` and the member `carol`, each with one device for
    /// notifications. All other users may request to join.
    private struct Scene {
        let fixture: ServiceFixture
        let group: ConversationID
        let alice: ChatPeer
        let notices: NIOLockedValueBox<[PushNotice]>

        /// Decides the notifications, and returns the devices and the contents since the last call.
        func decided() async throws -> [(device: Int64, content: JSONValue)] {
            await self.fixture.service.notifier.decideNow()
            let notices = self.notices.withLockedValue { all in
                defer { all = [] }
                return all
            }
            return try notices.map { ($0.device.rawValue, try JSONReader.read($0.content)) }.sorted { $0.0 < $1.0 }
        }

        func request(_ user: String, id: String = "join") async throws {
            let peer = try await self.fixture.client(user)
            _ = try await peer.ask(ChatVerbs.memberJoin, MemberJoinRequest(id: .make(id), conversation: self.group))
            peer.disconnect()
        }
    }

    private func with(_ body: (Scene) async throws -> Void) async throws {
        let users = ["alice", "bob", "carol", "dave", "eve", "frank", "grace"]
        try await withService(users: users, isFrozen: true, configure: { $0.noticeDelay = .seconds(86_400) }) { fixture in
            let alice = try await fixture.client("alice")
            var settings = ConversationSettingsChange()
            (settings.join, settings.listed) = (.approval, true)
            let group = try await alice.ask(
                ChatVerbs.conversationCreate,
                CreateRequest(
                    id: .make("g"), kind: .group, title: "Crew", users: ["bob", "carol"].map { UserName(prepared: $0) },
                    settings: settings)
            ).head.conversation
            for name in ["bob", "carol"] {
                let peer = try await fixture.client(name)
                _ = try await peer.ask(ChatVerbs.memberAnswer, MemberAnswerRequest(id: .make("a"), conversation: group, isAccepted: true))
                peer.disconnect()
            }
            _ = try await alice.ask(
                ChatVerbs.memberRole,
                MemberRoleRequest(id: .make("r"), conversation: group, users: [UserName(prepared: "bob")], role: .admin))
            try await fixture.service.log.withStorage { storage in
                var changes = Changes()
                for user in Int64(1)...3 {
                    changes.credentials.devices.append(
                        DeviceRow(key: DeviceKey(user), user: UserKey(user), name: "T", platform: "test", at: 1))
                    changes.credentials.pushes.append((DeviceKey(user), "{}"))
                }
                _ = try storage.begin(Needs())
                _ = try storage.commit(changes)
            }
            let notices = NIOLockedValueBox<[PushNotice]>([])
            fixture.service.notifier.start { batch in notices.withLockedValue { $0 += batch } }
            try await body(Scene(fixture: fixture, group: group, alice: alice, notices: notices))
        }
    }

    @Test func aRequestIsReportedToTheOwnerAndTheAdmins() async throws {
        try await self.with { scene in
            try await scene.request("dave")
            let told = try await scene.decided()
            #expect(told.map(\.device) == [1, 2])
            let content = try #require(told.first?.content)
            #expect(content["kind"] == "join_request" && content["conv"] == .string(scene.group.description))
            #expect(content["title"] == "Crew" && content["body"] == "Dave: Request to join")
            #expect(content["sender"] == "dave" && content["nick"] == "Dave" && content["count"] == 1)
            #expect(try await scene.decided().isEmpty)
        }
    }

    /// An attacker with many accounts causes one notification, and one more an hour later.
    @Test func manyRequestsAreReportedTogether() async throws {
        try await self.with { scene in
            for user in ["dave", "eve"] { try await scene.request(user) }
            let first = try await scene.decided()
            #expect(first.map(\.device) == [1, 2])
            #expect(first.first?.content["count"] == 2 && first.first?.content["body"] == "2 requests to join")
            #expect(first.first?.content["sender"] == nil)
            for user in ["frank", "grace"] {
                try await scene.request(user)
                #expect(try await scene.decided().isEmpty, "within the pause")
            }
            scene.fixture.pass(milliseconds: JoinRequestQueue.pause)
            let second = try await scene.decided()
            #expect(second.map(\.device) == [1, 2] && second.first?.content["count"] == 4)
        }
    }

    @Test func aRequestThatIsRepeatedCausesOneNotification() async throws {
        try await self.with { scene in
            for round in 0..<20 {
                let dave = try await scene.fixture.client("dave")
                _ = try await dave.ask(ChatVerbs.memberJoin, MemberJoinRequest(id: .make("j\(round)"), conversation: scene.group))
                #expect(try await scene.decided().count == (round == 0 ? 2 : 0))
                _ = try await dave.ask(ChatVerbs.memberLeave, MemberLeaveRequest(id: .make("l\(round)"), conversation: scene.group))
                dave.disconnect()
            }
            scene.fixture.pass(milliseconds: JoinRequestQueue.pause)
            #expect(try await scene.decided().isEmpty, "the request was withdrawn")
        }
    }

    @Test func mutedAdminsAndThoseWhoBlockTheUserAreNotNotified() async throws {
        try await self.with { scene in
            _ = try await scene.alice.ask(
                ChatVerbs.ownSet, OwnSetRequest(id: .make("o"), conversation: scene.group, mutedUntil: scene.fixture.now + 7_200_000))
            try await scene.request("dave")
            #expect(try await scene.decided().map(\.device) == [2])
            scene.fixture.pass(milliseconds: JoinRequestQueue.pause)
            _ = try await scene.alice.ask(ChatVerbs.ownSet, OwnSetRequest(id: .make("p"), conversation: scene.group, notify: .mentions))
            let bob = try await scene.fixture.client("bob")
            for user in ["dave", "eve"] {
                _ = try await bob.ask(ChatVerbs.block, ContactUserRequest(id: .make(user), user: UserName(prepared: user)))
            }
            try await scene.request("eve")
            #expect(try await scene.decided().isEmpty)
            try await scene.request("frank")
            let told = try await scene.decided()
            #expect(told.map(\.device) == [2] && told.first?.content["sender"] == "frank" && told.first?.content["count"] == 1)
        }
    }

    @Test func anAnsweredRequestIsNotReported() async throws {
        try await self.with { scene in
            try await scene.request("dave")
            _ = try await scene.alice.ask(
                ChatVerbs.memberApprove,
                MemberApproveRequest(id: .make("y"), conversation: scene.group, user: UserName(prepared: "dave"), isAccepted: true))
            #expect(try await scene.decided().isEmpty)
        }
    }
}
