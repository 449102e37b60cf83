import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatClient

/// Calls that end early, calls that do not ring, and methods that are called in another phase.
@Suite("Phases of calls", .timeLimit(.minutes(5))) @MainActor
struct CallEdgeTests {
    private let server = FakeServer()
    private let clock = ScriptedClock()

    @MainActor
    private final class Phone {
        let device: TestDevice
        let client: ChatClient
        let stack = ScriptedStack()
        private var controller: CallController?
        /// The controller, until its release.
        var calls: CallController {
            guard let controller else { preconditionFailure("the controller is released") }
            return controller
        }

        init(_ user: UserName, _ server: FakeServer, _ clock: ScriptedClock) async throws {
            self.device = try TestDevice(server, environment: clock.environment, handlesCalls: true)
            self.client = try await self.device.signIn(user)
            try await self.client.isOnline()
            self.controller = CallController(client: self.client, stack: self.stack)
            try await self.calls.start()
        }

        /// Releases the controller, as an application that no longer shows calls.
        func release() { self.controller = nil }
    }

    /// Runs `body` with the phones of alice and bob, who have a pair or a group.
    private func with(
        _ kind: ConversationKind = .pair, _ body: (_ alice: Phone, _ bob: Phone, ConversationID) async throws -> Void
    ) async throws {
        for user in [Value.alice, Value.bob] { self.server.user(user) }
        let conversation = self.server.conversation(kind, [Value.alice, Value.bob])
        let phones = [
            try await Phone(Value.alice, self.server, self.clock), try await Phone(Value.bob, self.server, self.clock),
        ]
        let result: Result<Void, any Error>
        do { result = .success(try await body(phones[0], phones[1], conversation)) } catch { result = .failure(error) }
        for phone in phones {
            await phone.client.close()
            phone.device.remove()
        }
        try result.get()
    }

    private func connect(_ alice: Phone, _ bob: Phone, _ conversation: ConversationID) async throws {
        try await alice.calls.call(conversation, media: .audio)
        try await eventually { bob.calls.phase == .incoming }
        try await bob.calls.answer()
        try await eventually {
            [alice, bob].allSatisfy { $0.calls.peers.count == 1 && $0.calls.peers.allSatisfy { $0.connection == .connected } }
        }
    }

    private func states(_ conversation: ConversationID) -> [JSONValue?] {
        self.server.events(in: conversation, as: Value.alice).filter { $0.kind == .callUpdate }.map { $0.body["state"] }
    }

    // MARK: Without a call

    @Test func nothingHappensWithoutACall() async throws {
        try await self.with { alice, _, _ in
            try await alice.calls.answer()
            await alice.calls.decline()
            await alice.calls.hangUp()
            try await alice.calls.setMedia(CallMediaState(camera: true))
            await alice.calls.networkChanged()
            alice.calls.dismiss()
            #expect(alice.calls.phase == .idle && alice.stack.log.isEmpty && alice.calls.local == CallMediaState())
            #expect(self.server.count(of: "call.update") == 0 && self.server.count(of: "signal") == 0)
        }
    }

    /// The caller cannot answer or decline its own call, and a call in progress is not removed.
    @Test func aMethodOfAnotherPhaseChangesNothing() async throws {
        try await self.with { alice, bob, pair in
            try await alice.calls.call(pair, media: .audio)
            try await alice.calls.answer()
            await alice.calls.decline()
            alice.calls.dismiss()
            #expect(alice.calls.phase == .outgoing && alice.calls.conversation == pair)
            try await eventually { bob.calls.phase == .incoming }
            bob.calls.dismiss()
            #expect(bob.calls.phase == .incoming)
            #expect(self.server.count(of: "call.update") == 0)
        }
    }

    @Test func aSecondCallIsRefusedAndTheFirstContinues() async throws {
        try await self.with { alice, bob, pair in
            try await alice.calls.call(pair, media: .audio)
            try await eventually { bob.calls.phase == .incoming }
            for phone in [alice, bob] {
                let log = phone.stack.log
                let error = await #expect(throws: ChatClientError.self) { try await phone.calls.call(pair, media: .video) }
                #expect(error?.code == .invalidUse && phone.stack.log == log)
            }
            #expect(alice.calls.phase == .outgoing && bob.calls.phase == .incoming && alice.calls.media == .audio)
        }
    }

    @Test func ofTwoCallsAtOnceTheSecondIsRefused() async throws {
        try await self.with { alice, _, pair in
            async let first: Void = alice.calls.call(pair, media: .audio)
            async let second: Void = alice.calls.call(pair, media: .audio)
            var errors: [ChatClientError.Code] = []
            do { try await first } catch { errors.append(try #require(error as? ChatClientError).code) }
            do { try await second } catch { errors.append(try #require(error as? ChatClientError).code) }
            #expect(errors == [.invalidUse] && alice.stack.log == ["open audio"] && alice.calls.phase == .outgoing)
        }
    }

    @Test func aCallOfAnUnknownConversationOpensNothing() async throws {
        try await self.with { alice, _, _ in
            let error = await #expect(throws: ChatClientError.self) { try await alice.calls.call(Value.other, media: .audio) }
            #expect(error?.code == .notFound && alice.calls.phase == .idle && alice.stack.log.isEmpty)
        }
    }

    // MARK: Early ends

    @Test func aRefusedCallFailsAndClosesTheMedia() async throws {
        try await self.with { alice, _, pair in
            self.server.fail("call.start", with: ChatError(.forbidden, message: "You are blocked."))
            let error = await #expect(throws: ChatClientError.self) { try await alice.calls.call(pair, media: .video) }
            #expect(error?.message == "You are blocked." && alice.calls.phase == .over(.failed))
            #expect(alice.stack.log == ["open video", "close"])
            alice.calls.dismiss()
            #expect(alice.calls.phase == .idle && alice.calls.conversation == nil && alice.calls.caller == nil)
        }
    }

    /// However far the call got, the end of the user is the end of the call on all devices.
    @Test(arguments: [0, 1, 5, 20, 60, 200]) func aCallThatIsEndedAtOnceRingsNowhere(turns: Int) async throws {
        try await self.with { alice, bob, pair in
            async let call: Void = alice.calls.call(pair, media: .audio)
            try await eventually { alice.calls.phase != .idle }
            for _ in 0..<turns { await Task.yield() }
            await alice.calls.hangUp()
            _ = try? await call
            #expect(alice.calls.phase == .over(.hungUp) && alice.stack.log.last == "close")
            try await eventually { bob.calls.phase != .incoming && self.server.count(of: "call.start") == self.states(pair).count }
            #expect(bob.stack.log.allSatisfy { $0 == "close" })
        }
    }

    @Test func aCallerWhoHangsUpEndsTheRinging() async throws {
        try await self.with { alice, bob, pair in
            try await alice.calls.call(pair, media: .audio)
            try await eventually { bob.calls.phase == .incoming }
            await alice.calls.hangUp()
            try await eventually { bob.calls.phase == .over(.missed) || bob.calls.phase == .over(.ended) }
            #expect(bob.calls.startedAt == nil && bob.calls.peers.isEmpty)
        }
    }

    /// The user no longer has the conversation: the call ends without a report.
    @Test(arguments: [true, false]) func aCallEndsWithItsConversation(isAnswered: Bool) async throws {
        try await self.with { alice, bob, pair in
            if isAnswered {
                try await self.connect(alice, bob, pair)
            } else {
                try await alice.calls.call(pair, media: .audio)
            }
            let reports = self.server.count(of: "call.update")
            self.server.push("head", HeadPush(gone: [Value.other]).json)
            self.server.push("head", HeadPush(gone: [pair]).json)
            try await eventually { alice.calls.phase == .over(.ended) }
            try await eventually { bob.calls.phase == .over(.ended) || !isAnswered }
            #expect(self.server.count(of: "call.update") == reports && alice.stack.log.last == "close")
            #expect(alice.stack.connections.values.allSatisfy { $0.isClosed })
        }
    }

    @Test func aCallEndsWithTheSession() async throws {
        try await self.with { alice, bob, pair in
            try await self.connect(alice, bob, pair)
            self.server.revoke()
            self.server.disconnectAll()
            try await eventually { alice.calls.phase == .over(.ended) && bob.calls.phase == .over(.ended) }
            #expect(alice.stack.connections.values.allSatisfy { $0.isClosed })
        }
    }

    @Test func aMemberWhoIsRemovedFromTheGroupIsDisconnected() async throws {
        try await self.with(.group) { alice, bob, group in
            try await self.connect(alice, bob, group)
            let bobs = try #require(self.server.names.first { $0.value == Value.bob }?.key)
            self.server.change(.remove(ConversationKey(group.number), [bobs]), by: Value.alice)
            try await eventually { alice.calls.peers.isEmpty }
            #expect(alice.calls.phase == .active, "the call of a group continues")
        }
    }

    /// The connections can have reported events before the release of the controller.
    @Test(arguments: [true, false]) func aReleasedControllerIsSilent(isAnswered: Bool) async throws {
        try await self.with { alice, bob, pair in
            if isAnswered {
                try await self.connect(alice, bob, pair)
            } else {
                try await alice.calls.call(pair, media: .audio)
            }
            let signals = self.server.count(of: "signal")
            weak let released = alice.calls
            // The events are handled after the release.
            for connection in alice.stack.connections.values {
                connection.report(.candidate(CallCandidate("late", mid: "0", index: 0)))
                connection.report(.negotiationNeeded)
                connection.report(.state(.failed))
            }
            alice.release()
            try await eventually { released == nil }
            self.clock.advance(by: 63_000)
            for _ in 0..<200 { await Task.yield() }
            #expect(self.server.requests(of: "signal").dropFirst(signals).allSatisfy { $0["data"]?["candidate"]?["candidate"] != "late" })
        }
    }

    // MARK: Media

    @Test func mediaThatCannotBeSentKeepTheirState() async throws {
        try await self.with { alice, bob, pair in
            try await self.connect(alice, bob, pair)
            try await alice.calls.setMedia(CallMediaState(microphone: false, camera: true, screen: true))
            try await eventually { bob.calls.peers.first?.media == CallMediaState(microphone: false, camera: true, screen: true) }
            #expect(alice.calls.local == CallMediaState(microphone: false, camera: true, screen: true))
            await alice.calls.hangUp()
            try await alice.calls.setMedia(CallMediaState())
            #expect(alice.stack.log.filter { $0 == "send" }.count == 1, "an ended call sends nothing")
        }
    }

    /// A camera that the user turns on for the answer is announced.
    @Test(arguments: [(nil, false), (.video, true), (.audio, false)] as [(CallMedia?, Bool)])
    func theMediaOfTheAnswerAreThoseOfTheUser(media: CallMedia?, camera: Bool) async throws {
        try await self.with { alice, bob, pair in
            try await alice.calls.call(pair, media: .audio)
            try await eventually { bob.calls.phase == .incoming }
            try await bob.calls.answer(media)
            #expect(bob.stack.log.first == "open \(camera ? "video" : "audio")" && bob.calls.local.camera == camera)
            try await eventually { alice.calls.peers.first?.media.camera == camera && alice.calls.peers.first?.connection == .connected }
        }
    }

    /// The microphone is closed while the call rings, and the user can answer again or decline.
    @Test(arguments: [true, false]) func anAnswerThatFailsClosesTheMedia(isAnsweredAgain: Bool) async throws {
        try await self.with { alice, bob, pair in
            try await alice.calls.call(pair, media: .video)
            try await eventually { bob.calls.phase == .incoming }
            self.server.fail("call.update", with: ChatError(.forbidden, message: "no"))
            let error = await #expect(throws: ChatClientError.self) { try await bob.calls.answer(.audio) }
            #expect(error?.message == "no" && bob.calls.phase == .incoming)
            #expect(bob.stack.log == ["open audio", "close"])
            guard isAnsweredAgain else {
                await bob.calls.decline()
                return try await eventually { alice.calls.phase == .over(.declined) }
            }
            try await bob.calls.answer()
            #expect(bob.stack.log == ["open audio", "close", "open video"] && bob.calls.local.camera)
            try await eventually { alice.calls.peers.first?.connection == .connected && alice.calls.phase == .active }
        }
    }

    /// The ring can end while the user answers.
    @Test func aRingEndsAfterAnAnswerThatFailed() async throws {
        try await self.with { alice, _, pair in
            self.ring(pair, seq: 1, age: 0)
            try await eventually { alice.calls.phase == .incoming && self.clock.isWaiting(63_000) }
            alice.stack.openError = ScriptedConnection.WrongState()
            alice.stack.during["open"] = {
                self.clock.advance(by: 63_000)
                for _ in 0..<200 { await Task.yield() }
            }
            await #expect(throws: ScriptedConnection.WrongState.self) { try await alice.calls.answer() }
            try await eventually { alice.calls.phase == .over(.missed) }
        }
    }

    /// The media are closed without waiting for the server.
    @Test(arguments: [true, false]) func mediaThatOpenAfterTheEndAreClosed(isCaller: Bool) async throws {
        try await self.with { alice, bob, pair in
            if !isCaller { try await alice.calls.call(pair, media: .audio) }
            let phone = isCaller ? alice : bob
            if !isCaller { try await eventually { bob.calls.phase == .incoming } }
            self.server.withhold("call.servers")
            phone.stack.during["open"] = { await phone.calls.hangUp() }
            Task { if isCaller { try await phone.calls.call(pair, media: .audio) } else { try await phone.calls.answer() } }
            try await eventually { phone.stack.log == ["open audio", "close", "close"] }
            #expect(phone.calls.phase == .over(.hungUp))
        }
    }

    @Test func mediaThatOpenAfterTheEndRemainForALaterCall() async throws {
        try await self.with { alice, _, pair in
            alice.stack.during["open"] = {
                await alice.calls.hangUp()
                try? await alice.calls.call(pair, media: .video)
            }
            try await alice.calls.call(pair, media: .audio)
            #expect(alice.calls.phase == .outgoing && alice.stack.log == ["open audio", "close", "open video"])
        }
    }

    /// A camera that opens after the end of the call is closed.
    @Test func mediaThatAreSentAfterTheEndAreClosed() async throws {
        try await self.with { alice, bob, pair in
            try await self.connect(alice, bob, pair)
            alice.stack.during["send"] = { await alice.calls.hangUp() }
            try await alice.calls.setMedia(CallMediaState(camera: true))
            #expect(alice.calls.phase == .over(.hungUp) && alice.stack.log.suffix(3) == ["send", "close", "close"])
        }
    }

    /// A room that is joined after the end of the call is left.
    @Test func aRoomThatIsJoinedAfterTheEndIsLeft() async throws {
        try await self.with { alice, bob, pair in
            self.server.setCallAccess(CallAccess(backend: "livekit", url: "wss://media.test", token: "secret"))
            bob.stack.backends = ["livekit"]
            bob.stack.during["join"] = { await bob.calls.hangUp() }
            try await alice.calls.call(pair, media: .audio)
            try await eventually { bob.calls.phase == .incoming }
            try await bob.calls.answer()
            try await eventually { bob.stack.log == ["open audio", "close", "close"] }
            #expect(bob.stack.rooms.count == 1 && bob.calls.phase == .over(.hungUp))
        }
    }

    // MARK: Ringing

    /// Pushes the event of a call of bob, as it is at an age in milliseconds.
    private func ring(_ conversation: ConversationID, seq: Int64, age: Int64, state: String = "ringing", by user: UserName = Value.bob) {
        let event = ChatEvent(
            conversation: conversation, seq: seq, n: seq, sender: user, id: Value.id("c\(seq)"),
            at: self.clock.environment.now() - age, kind: .call, body: ["media": "audio", "state": .string(state)])
        self.server.push("event", EventPush(events: [event]).json)
    }

    @Test(
        arguments: [
            (0, "ringing", Value.bob, true), (60_000, "ringing", Value.bob, true), (60_001, "ringing", Value.bob, false),
            (-5_000, "ringing", Value.bob, true), (0, "accepted", Value.bob, false), (0, "missed", Value.bob, false),
            (0, "ended", Value.bob, false), (0, "ringing", Value.alice, false), (0, "future", Value.bob, false),
        ] as [(Int64, String, UserName, Bool)])
    func onlyANewCallOfAnotherUserRings(age: Int64, state: String, user: UserName, rings: Bool) async throws {
        try await self.with { alice, _, pair in
            self.ring(pair, seq: 1, age: age, state: state, by: user)
            try await eventually { try await alice.client.conversation(pair).storedMessages().messages.count == 1 }
            if rings { try await eventually { alice.calls.phase == .incoming } }
            for _ in 0..<200 { await Task.yield() }
            #expect((alice.calls.phase == .incoming) == rings)
        }
    }
}
