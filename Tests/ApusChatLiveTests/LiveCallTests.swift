import ApusChatClient
import ApusChatProtocol
import ApusJSON
import Observation
import Testing

/// A call of two clients at a real server, with a stack that exchanges descriptions only.
@Suite(.timeLimit(.minutes(2))) @MainActor
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

    private func wait(_ calls: CallController, until condition: () -> Bool) async {
        while !condition() {
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = (calls.phase, calls.peers)
                } onChange: {
                    continuation.resume()
                }
            }
            await Task.yield()
        }
    }

    @Test func twoClientsCallEachOther() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice", handlesCalls: true)
            let bob = try await fixture.signUp("bob", handlesCalls: true)
            let (stacks, clients) = ([Stack(), Stack()], [alice, bob])
            let calls = zip(clients, stacks).map { CallController(client: $0, stack: $1) }
            for each in calls { try await each.start() }
            let pair = try await alice.conversation(with: "bob")
            try await calls[0].call(pair.id, media: .video)
            await self.wait(calls[1]) { calls[1].phase == .incoming }
            #expect(calls[1].caller == alice.user && calls[1].media == .video)
            try await calls[1].answer()
            for each in calls { await self.wait(each) { each.peers.first?.connection == .connected } }
            #expect(calls[0].phase == .active && calls[0].peers.map(\.user) == [bob.user])
            await calls[1].hangUp()
            await self.wait(calls[0]) { calls[0].phase == .over(.ended) }
            try await alice.wait { @Sendable in
                try await pair.storedMessages().messages.contains { $0.event.body["state"]?.stringValue == "ended" }
            }
        }
    }
}
