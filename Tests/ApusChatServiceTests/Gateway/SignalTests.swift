import ApusChatProtocol
import ApusChatService
import ApusJSON
import Testing

/// The recipients of the signals of a call.
@Suite(.timeLimit(.minutes(5)))
struct SignalTests {
    /// A call in a group that Alice started and Bob answered. Bob has a second device.
    private struct Call {
        let conversation: ConversationID
        let seq: Int64
        /// The clients by the names of their users, with the suffix 1 for a second device.
        let clients: [String: ChatPeer]

        init(_ fixture: ServiceFixture) async throws {
            var clients: [String: ChatPeer] = [:]
            for name in ["alice", "bob", "carol", "dave"] { clients[name] = try await fixture.client(name) }
            clients["bob1"] = try await fixture.client("bob", device: 1)
            self.clients = clients
            let alice = try #require(clients["alice"])
            let others = ["bob", "carol", "dave"].map { UserName(prepared: $0) }
            let head = try await alice.ask(
                ChatVerbs.conversationCreate, CreateRequest(id: .make("g"), kind: .group, title: "Crew", users: others)
            ).head
            self.conversation = head.conversation
            for name in ["bob", "carol", "dave"] {
                // Users who are not contacts are invited.
                _ = try? await clients[name]?.ask(
                    ChatVerbs.memberAnswer, MemberAnswerRequest(id: .make("a"), conversation: head.conversation, isAccepted: true))
            }
            self.seq = try await alice.ask(
                ChatVerbs.callStart, CallStartRequest(id: .make("c"), conversation: head.conversation, media: .audio)
            ).call
            try await self.accept("bob")
        }

        func accept(_ name: String) async throws {
            _ = try await self.clients[name]?.ask(
                ChatVerbs.callUpdate,
                CallUpdateRequest(id: .make("u"), conversation: self.conversation, call: self.seq, state: .accepted))
        }

        func signal(from name: String, to recipient: String? = nil, device: DeviceID? = nil, _ type: String) async throws {
            _ = try await self.clients[name]?.ask(
                ChatVerbs.signal,
                SignalRequest(
                    conversation: self.conversation, call: self.seq, recipient: recipient.map { UserName(prepared: $0) },
                    device: device, data: ["type": .string(type)]))
        }

        /// Sends a message and returns the types of the signals that a client received before it.
        func signals(at name: String, last: String) async throws -> [String] {
            guard let peer = self.clients[name] else { return [] }
            _ = try await self.clients["alice"]?.send(last, to: self.conversation, id: "last-\(last)")
            var types: [String] = []
            while true {
                let push = try await peer.nextPush()
                if push.name == "signal", let type = try SignalPush(json: push.payload).data["type"]?.stringValue { types.append(type) }
                guard push.name == "event" else { continue }
                if try EventPush(json: push.payload).events.contains(where: { $0.body["text"] == .string(last) }) { return types }
            }
        }
    }

    @Test func aSignalWithoutARecipientReachesTheDevicesOfTheCallOnly() async throws {
        try await withService(users: ["alice", "bob", "carol", "dave"]) { fixture in
            let call = try await Call(fixture)
            try await call.accept("carol")
            try await call.signal(from: "carol", "join")
            #expect(try await call.signals(at: "alice", last: "1") == ["join"])
            #expect(try await call.signals(at: "bob", last: "2") == ["join"])
            #expect(try await call.signals(at: "bob1", last: "3") == [], "the device takes no part")
            #expect(try await call.signals(at: "dave", last: "4") == [], "the user takes no part")
            #expect(try await call.signals(at: "carol", last: "5") == [], "the sender")
        }
    }

    @Test func aMemberWhoWasRemovedReceivesNoSignal() async throws {
        try await withService(users: ["alice", "bob", "carol", "dave"]) { fixture in
            let call = try await Call(fixture)
            let alice = try #require(call.clients["alice"])
            _ = try await alice.ask(
                ChatVerbs.memberRemove,
                MemberUsersRequest(id: .make("r"), conversation: call.conversation, users: [UserName(prepared: "bob")]))
            try await call.signal(from: "alice", "again")
            await #expect(throws: ChatError.self) { try await call.signal(from: "alice", to: "bob", "offer") }
            call.clients["bob"]?.disconnect()
            let rest = await call.clients["bob"]?.rest() ?? []
            #expect(!rest.contains { $0.name == "signal" })
        }
    }

    @Test func anOfferReachesItsDeviceOnly() async throws {
        try await withService(users: ["alice", "bob", "carol", "dave"]) { fixture in
            let call = try await Call(fixture)
            try await call.signal(from: "bob1", to: "alice", "join")
            let alice = try #require(call.clients["alice"])
            let join = try await alice.next(ChatPushes.signal)
            try await call.signal(from: "alice", to: "bob", device: join.device, "offer")
            #expect(try await call.signals(at: "bob1", last: "1") == ["offer"])
            #expect(try await call.signals(at: "bob", last: "2") == [])
            #expect(try await call.signals(at: "carol", last: "3") == [])
        }
    }
}
