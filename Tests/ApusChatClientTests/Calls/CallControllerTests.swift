import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatClient

/// Calls between clients whose stack has no media, with a server in the same process.
@Suite(.timeLimit(.minutes(2))) @MainActor
struct CallControllerTests {
    /// A device of a user, with its controller.
    @MainActor
    final class Phone {
        let device: TestDevice
        let client: ChatClient
        let stack = ScriptedStack()
        let calls: CallController

        init(_ user: UserName, _ server: FakeServer, _ clock: ScriptedClock) async throws {
            self.device = try TestDevice(server, environment: clock.environment, handlesCalls: true)
            self.client = try await self.device.signIn(user)
            try await self.client.isOnline()
            self.calls = CallController(client: self.client, stack: self.stack)
            try await self.calls.start()
        }

        var isConnected: Bool { !self.calls.peers.isEmpty && self.calls.peers.allSatisfy { $0.connection == .connected } }

        func close() async {
            await self.client.close()
            self.device.remove()
        }
    }

    private let server = FakeServer()
    private let clock = ScriptedClock()
    private let carol = Value.name("carol")

    private func withPhones(
        _ users: [UserName] = [Value.alice, Value.bob], kind: ConversationKind = .pair,
        _ body: ([Phone], ConversationID) async throws -> Void
    ) async throws {
        for user in Set(users) { self.server.user(user) }
        var members: [UserName] = []
        for user in users where !members.contains(user) { members.append(user) }
        let conversation = self.server.conversation(kind, kind == .pair ? Array(members.prefix(2)) : members)
        // A third user of a pair has a conversation with the second.
        if kind == .pair, members.count == 3 { _ = self.server.conversation(.pair, [members[2], members[1]]) }
        var phones: [Phone] = []
        for user in users { phones.append(try await Phone(user, self.server, self.clock)) }
        try await body(phones, conversation)
        for phone in phones { await phone.close() }
    }

    /// Calls from the first phone, answers on the others, and waits until all are connected.
    private func connect(_ phones: [Phone], _ conversation: ConversationID) async throws {
        try await phones[0].calls.call(conversation, media: .video)
        for phone in phones.dropFirst() {
            try await eventually { phone.calls.phase == .incoming }
            try await phone.calls.answer()
        }
        try await eventually { phones.allSatisfy { $0.isConnected && $0.calls.peers.count == phones.count - 1 } }
    }

    @Test func aCallIsAnsweredAndEnds() async throws {
        try await self.withPhones { phones, pair in
            let (alice, bob) = (phones[0], phones[1])
            try await alice.calls.call(pair, media: .video)
            #expect(alice.calls.phase == .outgoing && alice.stack.log == ["open video"])
            try await eventually { bob.calls.phase == .incoming }
            #expect(bob.calls.caller == Value.alice && bob.calls.media == .video && bob.calls.conversation == pair)
            #expect(bob.stack.log.isEmpty, "nothing is opened before the answer")
            try await bob.calls.answer(.audio)
            try await eventually { alice.isConnected && bob.isConnected }
            #expect(alice.calls.phase == .active && bob.calls.phase == .active && alice.calls.startedAt != nil)
            #expect(alice.stack.configurations.first?.servers.first?.username == "1:alice")
            try await eventually { alice.calls.peers.first?.media.camera == false && bob.calls.peers.first?.media.camera == true }
            let logs = [alice, bob].map { $0.stack.connections.values.flatMap(\.log) }
            #expect(logs.contains(["local offer 1", "remote answer 1"]) && logs.contains(["remote offer 1", "local answer 1"]))
            try await eventually { alice.stack.connections.values.first?.candidates.count == 1 }
            await bob.calls.hangUp()
            #expect(bob.calls.phase == .over(.hungUp) && bob.stack.log.last == "close")
            try await eventually { alice.calls.phase == .over(.ended) }
            #expect(!alice.stack.connections.values.contains { !$0.isClosed })
            alice.calls.dismiss()
            #expect(alice.calls.phase == .idle && alice.calls.peers.isEmpty)
        }
    }

    @Test func aCallIsDeclinedOrNotAnswered() async throws {
        try await self.withPhones { phones, pair in
            let (alice, bob) = (phones[0], phones[1])
            try await alice.calls.call(pair, media: .audio)
            try await eventually { bob.calls.phase == .incoming }
            await bob.calls.decline()
            try await eventually { alice.calls.phase == .over(.declined) }
            try await alice.calls.call(pair, media: .audio)
            try await eventually { bob.calls.phase == .incoming }
            // A timer that starts after an advance needs a further one.
            try await eventually {
                self.clock.advance(by: 63_000)
                return alice.calls.phase == .over(.noAnswer) && bob.calls.phase == .over(.missed)
            }
            try await eventually { self.server.events(in: pair, as: Value.bob).last?.body["state"] == "missed" }
        }
    }

    @Test func theFirstEventOfAConversationRingsWhenTheHeadArrives() async throws {
        try await self.withPhones([Value.alice, Value.bob, self.carol]) { phones, _ in
            let (alice, carol) = (phones[0], phones[2])
            let keys = Dictionary(uniqueKeysWithValues: self.server.names.map { ($1, $0) })
            let pair = self.server.conversation(.pair, [Value.alice, self.carol])
            // The server pushes the head to the user who opens the pair.
            func open(_ user: UserName, with peer: UserName) {
                self.server.change(.openPair(peer: keys[peer], new: ConversationKey(0)), by: user)
            }
            open(Value.alice, with: self.carol)
            try await eventually { await alice.client.heads.contains { $0.conversation == pair } }
            try await alice.calls.call(pair, media: .audio)
            try await eventually { carol.calls.early[pair] != nil }
            #expect(carol.calls.phase == .idle)
            open(self.carol, with: Value.alice)
            try await eventually { carol.calls.phase == .incoming }
            #expect(carol.calls.conversation == pair && carol.calls.early.isEmpty)
        }
    }

    @Test func aUserInAnotherCallIsBusy() async throws {
        try await self.withPhones([Value.alice, Value.bob, self.carol]) { phones, pair in
            let other = try #require(await phones[2].client.heads.first { $0.kind == .pair }).conversation
            try await self.connect(Array(phones.prefix(2)), pair)
            try await phones[2].calls.call(other, media: .audio)
            try await eventually { phones[2].calls.phase == .over(.busy) }
            #expect(phones[1].calls.phase == .active && phones[1].calls.conversation == pair)
        }
    }

    @Test func anotherDeviceOfTheUserAnswers() async throws {
        try await self.withPhones([Value.alice, Value.bob, Value.bob]) { phones, pair in
            try await phones[0].calls.call(pair, media: .audio)
            try await eventually { phones[1].calls.phase == .incoming && phones[2].calls.phase == .incoming }
            try await phones[1].calls.answer()
            try await eventually { phones[2].calls.phase == .over(.elsewhere) && phones[1].isConnected }
            #expect(phones[2].stack.log.filter { $0 != "close" }.isEmpty)
        }
    }

    @Test func twoSimultaneousCallsBecomeOne() async throws {
        try await self.withPhones { phones, pair in
            let (alice, bob) = (phones[0], phones[1])
            async let first: Void = alice.calls.call(pair, media: .audio)
            async let second: Void = bob.calls.call(pair, media: .audio)
            _ = try await (first, second)
            try await eventually { alice.isConnected && bob.isConnected }
            #expect(self.server.events(in: pair, as: Value.alice).filter { $0.kind == .call }.count == 1)
            #expect(alice.calls.caller == bob.calls.caller)
            await alice.calls.hangUp()
            try await eventually { bob.calls.phase == .over(.ended) }
        }
    }

    @Test func mediaThatCannotBeOpenedStopTheCallOrLeaveItRinging() async throws {
        try await self.withPhones { phones, pair in
            let (alice, bob) = (phones[0], phones[1])
            alice.stack.openError = ScriptedConnection.WrongState()
            await #expect(throws: ScriptedConnection.WrongState.self) { try await alice.calls.call(pair, media: .audio) }
            #expect(alice.calls.phase == .over(.failed))
            alice.stack.openError = nil
            try await alice.calls.call(pair, media: .audio)
            try await eventually { bob.calls.phase == .incoming }
            bob.stack.openError = ScriptedConnection.WrongState()
            await #expect(throws: ScriptedConnection.WrongState.self) { try await bob.calls.answer() }
            #expect(bob.calls.phase == .incoming)
            bob.stack.openError = nil
            try await bob.calls.answer()
            try await eventually { alice.isConnected && bob.isConnected }
            await #expect(throws: ChatClientError.self) { try await alice.calls.call(pair, media: .audio) }
        }
    }

    @Test func twoSimultaneousOffersAreSettledByThePoliteSide() async throws {
        try await self.withPhones { phones, pair in
            try await self.connect(phones, pair)
            let connections = phones.compactMap { $0.stack.connections.values.first }
            // Both sides add a track at the same time.
            for connection in connections { connection.report(.negotiationNeeded) }
            try await eventually { connections.allSatisfy { $0.state == .stable && $0.log.count >= 4 } }
            let logs = connections.map { Array($0.log.dropFirst(2)) }
            #expect(logs.contains { $0.starts(with: ["local offer 1", "remote answer 1"]) }, "the impolite side")
            // The polite side either rolled its offer back or made none before the other arrived.
            #expect(logs.contains { $0.contains("remote offer 1") && $0.contains("local answer 1") })
        }
    }

    @Test func anotherNetworkRestartsICE() async throws {
        try await self.withPhones { phones, pair in
            try await self.connect(phones, pair)
            await phones[0].calls.networkChanged()
            let connections = phones.compactMap { $0.stack.connections.values.first }
            try await eventually { connections.allSatisfy { $0.log.contains { $0.hasSuffix("offer 2") } && $0.state == .stable } }
            #expect(connections.flatMap(\.log).filter { $0 == "restart" }.count == 1)
        }
    }

    @Test func aFailedConnectionIsRepairedAndThenAbandoned() async throws {
        try await self.withPhones { phones, pair in
            let alice = phones[0]
            try await self.connect(phones, pair)
            for phone in phones { phone.stack.connectsByItself = false }
            let connection = try #require(alice.stack.connections.values.first)
            connection.report(.state(.failed))
            // The next repair restarts ICE only if the answer to the last offer was applied.
            for repair in 1...4 {
                if repair > 1 { self.clock.advance(by: 8_000) }
                try await eventually {
                    connection.log.suffix(2) == ["local offer \(repair + 1)", "remote answer 1"] && self.clock.isWaiting(8_000)
                }
                #expect(connection.log.count { $0 == "restart" } == repair)
                #expect(alice.calls.peers.first?.connection == .failed && alice.calls.peers.first?.wasConnected == true)
            }
            self.clock.advance(by: 8_000)
            try await eventually { alice.calls.phase == .over(.lost) && phones[1].calls.phase == .over(.ended) }
        }
    }

    @Test func aCallContinuesWithoutTheChat() async throws {
        try await self.withPhones { phones, pair in
            try await self.connect(phones, pair)
            let before = self.server.count(of: "call.update")
            self.server.disconnectAll()
            try await eventually { self.server.count(of: "call.update") >= before + 2 }
            #expect(phones.allSatisfy { $0.isConnected && $0.calls.phase == .active })
            #expect(phones.allSatisfy { $0.stack.connections.count == 1 })
            try await phones[0].calls.setMedia(CallMediaState(microphone: false))
            try await eventually { phones[1].calls.peers.first?.media.microphone == false }
            await phones[1].calls.hangUp()
            try await eventually { phones[0].calls.phase == .over(.ended) }
        }
    }

    @Test func threeMembersOfAGroupConnectToEachOther() async throws {
        try await self.withPhones([Value.alice, Value.bob, self.carol], kind: .group) { phones, group in
            try await self.connect(phones, group)
            #expect(phones[0].calls.isGroup)
            await phones[1].calls.hangUp()
            try await eventually { phones[0].calls.peers.map(\.user) == [self.carol] && phones[2].calls.peers.map(\.user) == [Value.alice] }
            #expect(phones[0].calls.phase == .active, "the call goes on")
            await phones[0].calls.hangUp()
            try await eventually { phones[2].calls.peers.isEmpty }
            #expect(self.server.events(in: group, as: Value.alice).last?.body["state"] == "accepted")
            await phones[2].calls.hangUp()
            let updates = self.server.events(in: group, as: Value.alice).filter { $0.kind == .callUpdate }
            #expect(updates.map { $0.body["state"] } == ["accepted", "ended"])
        }
    }

    @Test func aMemberLosesItsConnectionsAndTheOthersContinue() async throws {
        try await self.withPhones([Value.alice, Value.bob, self.carol], kind: .group) { phones, group in
            try await self.connect(phones, group)
            let bob = phones[1]
            for connection in bob.stack.connections.values { connection.report(.state(.failed)) }
            await bob.calls.hangUp()
            try await eventually { phones[0].calls.peers.count == 1 && phones[2].calls.peers.count == 1 }
            // A device that is alone waits for others, and does not end the call by itself.
            await phones[2].calls.hangUp()
            try await eventually { phones[0].calls.peers.isEmpty }
            #expect(phones[0].calls.phase == .active)
            // The report of the departure precedes that of the return.
            bob.calls.dismiss()
            try await bob.calls.call(group, media: .audio)
            try await eventually { bob.isConnected && phones[0].isConnected }
            await phones[0].calls.hangUp()
            try await eventually { bob.calls.peers.isEmpty }
            #expect(bob.calls.phase == .active && self.server.events(in: group, as: Value.bob).last?.body["state"] == "accepted")
            await bob.calls.hangUp()
            #expect(self.server.events(in: group, as: Value.bob).last?.body["state"] == "ended")
        }
    }

    @Test func aFifthMemberIsInformedThatTheCallIsFullAndDoesNotEndIt() async throws {
        let users = [Value.alice, Value.bob, self.carol, Value.name("davey"), Value.name("erina")]
        try await self.withPhones(users, kind: .group) { phones, group in
            let (four, erina) = (phones.dropLast(), phones[4])
            try await self.connect(Array(four), group)
            try await erina.calls.answer()
            // The device waits, because a single member could send a false `full`.
            try await eventually {
                self.clock.advance(by: 3_000)
                return erina.calls.phase == .over(.full)
            }
            #expect(erina.stack.log.last == "close" && erina.stack.connections.isEmpty)
            #expect(four.allSatisfy { $0.isConnected && $0.calls.peers.count == 3 })
            #expect(self.server.events(in: group, as: Value.bob).filter { $0.body["state"] == "ended" }.isEmpty)
            // A place becomes free.
            await phones[3].calls.hangUp()
            try await eventually { phones.prefix(3).allSatisfy { $0.calls.peers.count == 2 } }
            erina.calls.dismiss()
            try await erina.calls.call(group, media: .audio)
            try await eventually { erina.isConnected && erina.calls.peers.count == 3 }
        }
    }

    @Test func aCallOfAMediaServerIsHandedToTheStack() async throws {
        try await self.withPhones(kind: .group) { phones, group in
            let (alice, bob) = (phones[0], phones[1])
            alice.stack.backends = ["livekit"]
            let access = CallAccess(backend: "livekit", url: "wss://media.test", token: "secret")
            self.server.setCallAccess(access)
            try await alice.calls.call(group, media: .video)
            #expect(self.server.requests(of: "call.start").last?["backends"] == ["livekit"])
            #expect(alice.calls.access == access && alice.calls.backend == "livekit" && alice.stack.rooms.isEmpty)
            try await eventually { bob.calls.phase == .incoming }
            bob.stack.backends = ["livekit"]
            try await bob.calls.answer()
            try await eventually { alice.stack.rooms == [access] && bob.stack.rooms == [access] }
            #expect(alice.calls.peers.isEmpty && alice.stack.connections.isEmpty)
            let before = self.server.count(of: "call.update")
            await bob.calls.hangUp()
            #expect(bob.calls.phase == .over(.hungUp) && self.server.count(of: "call.update") == before + 1, "it leaves")
            #expect(alice.calls.phase == .active && self.server.events(in: group, as: Value.alice).last?.body["state"] == "accepted")
            await alice.calls.hangUp()
            #expect(self.server.events(in: group, as: Value.alice).last?.body["state"] == "ended")
        }
    }

    @Test func aClientWithoutTheSignalsOfCallsIsRefused() async throws {
        self.server.user(Value.alice)
        let device = try TestDevice(self.server)
        let client = try await device.signIn()
        let calls = CallController(client: client, stack: ScriptedStack())
        await #expect(throws: ChatClientError.self) { try await calls.start() }
        await client.close()
        device.remove()
    }
}
