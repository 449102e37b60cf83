import ApusChatProtocol
import ApusChatService
import ApusJSON
import Testing

/// The features that client and server exchange in `hello`, and their effects.
@Suite(.timeLimit(.minutes(5)))
struct FeatureTests {
    private func client(
        _ fixture: ServiceFixture, _ name: String, features: [String], capabilities: [String] = []
    ) async throws -> (peer: ChatPeer, answer: HelloAnswer) {
        let peer = ChatPeer(url: fixture.url, token: "\(name):0")
        try await peer.connect()
        let device = HelloDevice(name: "Test", platform: "test", capabilities: capabilities)
        return (peer, try await peer.ask(ChatVerbs.hello, HelloRequest(features: features, device: device)))
    }

    @Test func theServerReportsItsFeaturesAndLimits() async throws {
        var limits = HelloLimits()
        limits.blobBytes = 4_321
        try await withService(configure: { [limits] in $0.verbs.limits = limits }) { fixture in
            let answer = try await self.client(fixture, "alice", features: ["teleport"]).answer
            #expect(answer.features == ChatFeature.all, "a feature that the server does not know changes nothing")
            #expect(answer.limits == limits)
        }
    }

    /// Each case is the features and capabilities of a client, and the pushes that it receives.
    @Test(
        arguments: [
            ([], [], ["typing", "signal", "mark", "event"]),
            (["calls", "typing", "receipts"], [], ["typing", "signal", "mark", "event"]),
            (["calls", "teleport"], [], ["signal", "event"]),
            (["typing"], [], ["typing", "event"]),
            (["edit"], [], ["event"]),
            (["calls"], ["call.audio"], ["signal", "event"]),
            (["calls"], ["push.web"], ["event"]),
            ([], ["push.web"], ["typing", "mark", "event"]),
        ] as [([String], [String], Set<String>)])
    func aClientGetsThePushesOfItsFeatures(features: [String], capabilities: [String], expected: Set<String>) async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await self.client(fixture, "bob", features: features, capabilities: capabilities).peer
            let pair = try await alice.open("bob")
            _ = try await alice.send("before", to: pair, id: "m1")
            _ = try await bob.next(ChatPushes.event) { $0.events.contains { $0.body["text"] == "before" } }
            let answer = try await bob.send("answer", to: pair, id: "m2")
            let call = try await alice.ask(
                ChatVerbs.callStart, CallStartRequest(id: .make("c"), conversation: pair, media: .audio)
            ).call
            _ = try await alice.ask(ChatVerbs.typing, TypingRequest(conversation: pair))
            _ = try await alice.ask(
                ChatVerbs.signal, SignalRequest(conversation: pair, call: call, recipient: UserName(prepared: "bob"), data: ["sdp": "v=0"]))
            _ = try await alice.ask(ChatVerbs.mark, MarkRequest(conversation: pair, read: answer.n))
            _ = try await alice.send("last", to: pair, id: "m3")
            var names: Set<String> = []
            var isLast = false
            // The position may arrive after the last message.
            while !isLast || (expected.contains("mark") && !names.contains("mark")) {
                let push = try await bob.nextPush()
                names.insert(push.name)
                guard push.name == "event" else { continue }
                isLast = try isLast || EventPush(json: push.payload).events.contains { $0.body["text"] == "last" }
            }
            #expect(names.intersection(["typing", "signal", "mark", "event"]) == expected)
        }
    }
}
