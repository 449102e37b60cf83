import ApusChatClient
import ApusChatProtocol
import ApusEventLoop
import ApusJSON
import Testing

/// Calls between two clients with a complete server, and a stack that only exchanges descriptions.
@Suite(.timeLimit(.minutes(5))) @MainActor
struct LiveCallTests {
    @MainActor
    private final class Stack: CallStack {
        func open(_ media: CallMedia) async throws {}
        func close() {}
        func connect(
            to peer: CallPeer.ID, configuration: CallConfiguration, isOffering: Bool,
            report: @escaping @Sendable (CallConnectionEvent) -> Void
        ) throws -> any CallConnection {
            if isOffering { report(.negotiationNeeded) }
            return Connection(report)
        }
    }

    @MainActor
    private final class Connection: CallConnection {
        private let report: @Sendable (CallConnectionEvent) -> Void
        private var descriptions = 0

        init(_ report: @escaping @Sendable (CallConnectionEvent) -> Void) { self.report = report }

        func makeOffer() async throws -> CallDescription { CallDescription(.offer, sdp: "v=0 offer") }
        func makeAnswer() async throws -> CallDescription { CallDescription(.answer, sdp: "v=0 answer") }
        func setLocal(_ description: CallDescription) async throws { self.set() }
        func setRemote(_ description: CallDescription) async throws { self.set() }
        func rollBack() async throws { self.descriptions -= 1 }
        func add(_ candidate: CallCandidate) async throws {}
        func restartICE(_ configuration: CallConfiguration?) {}
        func close() {}

        private func set() {
            self.descriptions += 1
            if self.descriptions == 2 { self.report(.state(.connected)) }
        }
    }

    /// A user with a client and its calls.
    @MainActor
    private struct Phone {
        let client: ChatClient
        let calls: CallController

        init(_ name: String, _ fixture: LiveFixture) async throws {
            self.client = try await fixture.signUp(name, handlesCalls: true)
            self.calls = CallController(client: self.client, stack: Stack())
            try await self.calls.start()
        }

        var isConnected: Bool { self.calls.phase == .active && self.calls.peers.map(\.connection) == [.connected] }
    }

    private func withPhones(_ body: (Phone, Phone, LiveFixture) async throws -> Void) async throws {
        try await withLiveServer { fixture in
            try await body(try await Phone("alice", fixture), try await Phone("bob", fixture), fixture)
        }
    }

    /// Waits until the call in the log of a client has a state, for at most a minute, and returns
    /// the call.
    private func wait(_ phone: Phone, for state: CallState, in pair: ChatConversation) async throws -> CallBody {
        let log = phone.client.conversation(pair.id)
        @Sendable func call() async throws -> CallBody? {
            let event = try await log.storedMessages().messages.last { $0.event.kind == .call }?.event
            return event.flatMap { event in if case .call(let body)? = ChatBody(event) { body } else { nil } }
        }
        try await phone.client.wait { @Sendable in try await call()?.state == state }
        return try #require(try await call())
    }

    @Test func twoClientsCallEachOther() async throws {
        try await self.withPhones { alice, bob, fixture in
            // The call is the first message of the pair, whose head follows it.
            let pair = try await alice.client.conversation(with: "bob")
            try await alice.calls.call(pair.id, media: .video)
            try await bob.calls.wait { bob.calls.phase == .incoming }
            #expect(bob.calls.caller == alice.client.user && bob.calls.media == .video && alice.calls.phase == .outgoing)
            try await bob.calls.answer()
            for each in [alice, bob] { try await each.calls.wait { each.isConnected } }
            #expect(alice.calls.peers.map(\.user) == [bob.client.user])
            fixture.clock.pass(milliseconds: 151_000)
            await bob.calls.hangUp()
            try await alice.calls.wait { alice.calls.phase == .over(.ended) }
            for each in [alice, bob] {
                let call = try await self.wait(each, for: .ended, in: pair)
                #expect(call.media == .video && (151_000..<1_000_000).contains(call.duration ?? 0))
            }
        }
    }

    @Test func aCallIsDeclined() async throws {
        try await self.withPhones { alice, bob, _ in
            let pair = try await alice.client.conversation(with: "bob")
            try await alice.calls.call(pair.id, media: .audio)
            try await bob.calls.wait { bob.calls.phase == .incoming }
            await bob.calls.decline()
            try await alice.calls.wait { alice.calls.phase == .over(.declined) }
            #expect(try await self.wait(alice, for: .declined, in: pair).duration == nil)
        }
    }

    @Test func aCallContinuesAfterAReconnection() async throws {
        try await self.withPhones { alice, bob, fixture in
            let pair = try await alice.client.conversation(with: "bob")
            try await alice.calls.call(pair.id, media: .audio)
            try await bob.calls.wait { bob.calls.phase == .incoming }
            try await bob.calls.answer()
            for each in [alice, bob] { try await each.calls.wait { each.isConnected } }
            let updates = [alice, bob].map { $0.client.updates(bufferingPolicy: .unbounded) }
            await fixture.relay.cut()
            for each in updates { for await update in each { if case .connection(.online) = update { break } } }
            #expect(alice.isConnected && bob.isConnected)
            // A signal arrives only if the server still has both devices in the call.
            try await alice.calls.setMedia(CallMediaState(microphone: false))
            try await bob.calls.wait { bob.calls.peers.first?.media.microphone == false }
            await alice.calls.hangUp()
            try await bob.calls.wait { bob.calls.phase == .over(.ended) }
        }
    }
}
