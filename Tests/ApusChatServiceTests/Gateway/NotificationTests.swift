import ApusChatCore
import ApusChatProtocol
import ApusChatService
import ApusChatStorage
import ApusJSON
import NIOConcurrencyHelpers
import Testing

/// Notifications: silent messages, rules, quiet hours, the badge, and sign-ins.
@Suite(.timeLimit(.minutes(5)))
struct NotificationTests {
    private func silent(_ text: String, to conversation: ConversationID, id: String) -> SendRequest {
        SendRequest(id: .make(id), conversation: conversation, kind: .text, body: ["text": .string(text)], isSilent: true)
    }

    @Test func aSilentMessageIsPushedWithoutANotification() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            // The messages of a push are all silent or all not silent, even if a batch has both.
            let answers = [
                alice.begin(ChatVerbs.send, self.silent("1", to: pair, id: "m1")),
                alice.begin(ChatVerbs.send, SendRequest(id: .make("m2"), conversation: pair, kind: .text, body: ["text": "2"])),
                alice.begin(ChatVerbs.send, self.silent("3", to: pair, id: "m3")),
            ]
            for answer in answers { _ = try await answer() }
            var told: [String: Bool] = [:]
            while told.count < 3 {
                let push = try await bob.next(ChatPushes.event)
                for event in push.events where event.kind == .text { told[event.body["text"]?.stringValue ?? ""] = push.isSilent }
            }
            #expect(told == ["1": true, "2": false, "3": true])
            let source = try #require(try await alice.history(pair).events.last?.seq)
            _ = try await alice.ask(
                ChatVerbs.forward,
                ForwardRequest(id: .make("f"), conversation: pair, source: pair, seqs: [source], isSilent: true))
            #expect(try await bob.next(ChatPushes.event) { $0.events.contains { $0.body["forwarded"] != nil } }.isSilent)
        }
    }

    @Test func aScheduledMessageStaysSilent() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            for (id, isSilent) in [("s1", true), ("s2", false)] {
                _ = try await alice.ask(
                    ChatVerbs.schedule,
                    ScheduleRequest(
                        id: .make(id), conversation: pair, kind: .text, body: ["text": .string(id)], isSilent: isSilent,
                        sendAt: fixture.now + (isSilent ? 60_000 : 120_000)))
            }
            for (id, isSilent) in [("s1", true), ("s2", false)] {
                fixture.pass(milliseconds: 60_001)
                _ = try await fixture.service.maintain()
                let push = try await bob.next(ChatPushes.event) { $0.events.contains { $0.body["text"] == .string(id) } }
                #expect(push.isSilent == isSilent)
            }
        }
    }

    @Test func aRuleOfAConversationFollowsToTheOtherDevices() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let tablet = try await fixture.client("alice", device: 1)
            let pair = try await alice.open("bob")
            func own(_ peer: ChatPeer) async throws -> OwnSettings? {
                try await peer.ask(ChatVerbs.sync, SyncRequest()).heads.first { $0.conversation == pair }?.own
            }
            #expect(try await own(tablet)?.notify == .all)
            _ = try await alice.ask(ChatVerbs.ownSet, OwnSetRequest(id: .make("o"), conversation: pair, notify: .mentions))
            let push = try await tablet.next(ChatPushes.event) { $0.events.contains { $0.kind == EventKind(.selfMute) } }
            let event = try #require(push.events.first { $0.kind == EventKind(.selfMute) })
            guard case .ownSet(let body) = ChatChange(event) else { return #expect(Bool(false), "\(event.body)") }
            #expect(body == OwnSetBody(conversation: pair, notify: .mentions))
            #expect(try await own(tablet)?.notify == .mentions)
            _ = try await alice.ask(ChatVerbs.ownSet, OwnSetRequest(id: .make("p"), conversation: pair, mutedUntil: 5, notify: .all))
            #expect(try await own(tablet) == OwnSettings(mutedUntil: 5))
        }
    }

    @Test func settingsAreKept() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            func set(_ id: String, _ settings: UserSettings) async throws {
                _ = try await alice.ask(ChatVerbs.settingsSet, SettingsSetRequest(id: .make(id), settings: settings))
            }
            func settings() async throws -> UserSettings { try await alice.ask(ChatVerbs.settings, WireEmpty()).settings }
            let folders = [Folder(name: "Work"), Folder(name: "New", filter: "unread")]
            try await set("1", UserSettings(messages: .contacts, quietFrom: 1_320, quietUntil: 420, folders: folders))
            try await set("2", UserSettings(typing: false))
            var found = try await settings()
            #expect(found.quietFrom == 1_320 && found.quietUntil == 420 && found.folders == folders)
            #expect(found.messages == .contacts && found.typing == false && found.receipts == true)
            await #expect { try await bob.open("alice") } throws: { ($0 as? ChatError)?.code == .forbidden }
            try await set("3", UserSettings(quietFrom: 420))
            found = try await settings()
            #expect(found.quietFrom == nil && found.quietUntil == nil, "an empty range has no quiet hours")
            await #expect { try await set("4", UserSettings(quietFrom: 1)) } throws: { ($0 as? ChatError)?.code == .badRequest }
        }
    }

    @Test func theBadgeOfASyncLeavesMutedConversationsOut() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let carol = try await fixture.client("carol")
            let pair = try await alice.open("bob")
            let other = try await carol.open("bob")
            for number in 1...3 { _ = try await alice.send("\(number)", to: pair, id: "m\(number)") }
            _ = try await carol.send("x", to: other, id: "x")
            let sync = try await bob.ask(ChatVerbs.sync, SyncRequest())
            #expect(sync.badge == 4)
            _ = try await bob.ask(ChatVerbs.mark, MarkRequest(conversation: pair, read: 1))
            _ = try await bob.ask(ChatVerbs.ownSet, OwnSetRequest(id: .make("o"), conversation: other, mutedUntil: fixture.now + 60_000))
            #expect(try await bob.ask(ChatVerbs.sync, SyncRequest(since: sync.token)).badge == 2)
            let hello = HelloRequest(device: HelloDevice(name: "Test", platform: "test"), sync: SyncRequest())
            let tablet = ChatPeer(url: fixture.url, token: "bob:1")
            try await tablet.connect()
            #expect(try await tablet.ask(ChatVerbs.hello, hello).sync?.badge == 2)
        }
    }

    /// Sends messages to a group whose members 3, 400 and `members` have devices for notifications.
    ///
    /// - Parameter rounds: The messages before each notice.
    /// - Returns: The devices of each notice.
    private func noticed(members: Int64, _ rounds: [[JSONObject]]) async throws -> [Set<Int64>] {
        let key: Int64 = 4_000
        let told = NIOLockedValueBox<[Set<Int64>]>([])
        try await withService(users: ["alice", "bob"], configure: { $0.noticeDelay = .zero }) { fixture in
            try await fixture.service.log.withStorage { storage in
                let rows = LargeRows(storage: storage)
                try rows.addAccounts(3...members, prefix: "m")
                try rows.addConversation(key, .group, owner: 1, members: 2...members, messages: 1)
                var changes = Changes()
                for user in [3, 400, members] {
                    changes.credentials.devices.append(
                        DeviceRow(key: DeviceKey(user), user: UserKey(user), name: "T", platform: "test", at: 1))
                    changes.credentials.pushes.append((DeviceKey(user), "{}"))
                }
                _ = try storage.begin(Needs())
                _ = try storage.commit(changes)
            }
            let (notices, continuation) = AsyncStream.makeStream(of: [PushNotice].self)
            fixture.service.notifier.start { continuation.yield($0) }
            let alice = try await fixture.client("alice")
            for (round, bodies) in rounds.enumerated() {
                for (index, body) in bodies.enumerated() {
                    let id = ClientID.make("m\(round)-\(index)")
                    _ = try await alice.ask(
                        ChatVerbs.send, SendRequest(id: id, conversation: ConversationID(number: key), kind: .text, body: body))
                }
                for await batch in notices {
                    told.withLockedValue { $0.append(Set(batch.map(\.device.rawValue))) }
                    break
                }
            }
        }
        return told.withLockedValue { $0 }
    }

    private static let mention: JSONObject = [
        "text": "@m3 and more", "entities": [["type": "mention", "offset": 0, "length": 3, "user": "m3"]],
    ]
    private static let mentionOfAll: JSONObject = ["text": "@all and more", "entities": [["type": "all", "offset": 0, "length": 4]]]

    @Test func aMentionOfAllIsReportedToAllMembersOfALargeGroup() async throws {
        #expect(try await self.noticed(members: 600, [[Self.mention], [Self.mentionOfAll]]) == [[3], [3, 400, 600]])
    }

    @Test func aMentionOfAllIsReportedToNoMemberOfAVeryLargeGroup() async throws {
        // The second message shows that the first one has no notice.
        #expect(try await self.noticed(members: 10_001, [[Self.mentionOfAll, Self.mention]]) == [[3]])
    }

    @Test func aSignInReachesTheOtherDevices() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let change = DeviceChange(device: DeviceKey(77), name: "Phone", platform: "ios", isAdded: true)
            let command = Command(actor: UserKey(1), device: DeviceKey(77), request: nil, action: .noteDevice(change))
            _ = try await fixture.service.log.submit(command)
            let event = try #require(try await alice.next(ChatPushes.event).events.first)
            #expect(event.kind == EventKind(.deviceAdd))
            guard case .device(let body) = ChatChange(event) else { return #expect(Bool(false), "\(event.body)") }
            #expect(body == DeviceBody(device: DeviceID(number: 77), name: "Phone", platform: "ios"))
        }
    }
}
