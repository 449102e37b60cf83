import ApusChatProtocol
import ApusChatService
import ApusChatStorage
import ApusJSON
import Testing

/// The end of calls that no party answers.
@Suite(.timeLimit(.minutes(5)))
struct CallTimersTests {
    private let pair = ConversationID(number: 50)

    /// Returns a function that writes a call from Alice to Bob, as a stopped server leaves it.
    private func prefill(_ state: CallState) -> (any MaintainedStorage) throws -> Void {
        { storage in
            var prefill = Prefill()
            prefill.conversation(50, .group, members: [1, 2], bodies: [#"{"media":"audio","state":"\#(state.rawValue)"}"#])
            prefill.changes.events[0] = EventRow(
                conversation: ConversationKey(50), seq: 1, n: 1, sender: UserKey(1), at: Prefill.start, kind: .call,
                body: prefill.changes.events[0].body)
            var row = prefill.changes.conversations[0]
            row.counters.callSeq = 1
            row.row?.counters.callSeq = 1
            prefill.changes.conversations[0] = row
            try prefill.write(to: storage)
        }
    }

    private func state(_ peer: ChatPeer) async throws -> String? {
        try await peer.history(self.pair).events.first { $0.seq == 1 }?.body["state"]?.stringValue
    }

    private func start(_ peer: ChatPeer) async throws -> Int64 {
        try await peer.ask(ChatVerbs.callStart, CallStartRequest(id: .make("c"), conversation: self.pair, media: .audio)).call
    }

    @Test func aRingEndsByItself() async throws {
        try await withService(configure: { $0.ringTime = .milliseconds(50) }) { fixture in
            let bob = try await fixture.client("bob")
            let alice = try await fixture.client("alice")
            let pair = try await alice.open("bob")
            _ = try await alice.ask(ChatVerbs.callStart, CallStartRequest(id: .make("c"), conversation: pair, media: .audio))
            let push = try await bob.next(ChatPushes.event) { $0.events.contains { $0.kind == .callUpdate } }
            #expect(push.events.last?.body["state"] == "missed")
        }
    }

    @Test func aRingThatARestartInterruptedEnds() async throws {
        try await withService(configure: { $0.ringTime = .milliseconds(50) }, prefill: self.prefill(.ringing)) { fixture in
            let alice = try await fixture.client("alice")
            if try await self.state(alice) == "ringing" {
                _ = try await alice.next(ChatPushes.event) { $0.events.contains { $0.kind == .callUpdate } }
            }
            #expect(try await self.state(alice) == "missed")
            #expect(try await self.start(alice) == 3, "another call begins")
        }
    }

    @Test func aCallThatWasAnsweredBeforeARestartContinuesForAWhile() async throws {
        try await withService(configure: { $0.ringTime = .zero }, prefill: self.prefill(.accepted)) { fixture in
            let alice = try await fixture.client("alice")
            // The timer fires at the start. The next seq shows that it wrote no event.
            #expect(try await alice.send("x", to: self.pair, id: "m").seq == 2)
            #expect(try await self.state(alice) == "accepted")
            #expect(try await self.start(alice) == 1)
        }
    }

    @Test func aCallThatNoDeviceResumesAfterARestartEnds() async throws {
        try await withService(
            configure: { ($0.ringTime, $0.absenceTime) = (.zero, .milliseconds(50)) }, prefill: self.prefill(.accepted)
        ) { fixture in
            let alice = try await fixture.client("alice")
            if try await self.state(alice) == "accepted" {
                _ = try await alice.next(ChatPushes.event) { $0.events.contains { $0.kind == .callUpdate } }
            }
            #expect(try await self.state(alice) == "ended")
            #expect(try await self.start(alice) == 3, "another call begins")
        }
    }

    @Test func aCallWhoseDevicesDisconnectEnds() async throws {
        try await withService(configure: { $0.absenceTime = .milliseconds(50) }) { fixture in
            let (alice, bob) = (try await fixture.client("alice"), try await fixture.client("bob"))
            // A further device of the caller, which is connected and does not take part.
            let tablet = try await fixture.client("alice", device: 1)
            let pair = try await alice.open("bob")
            let call = try await alice.ask(
                ChatVerbs.callStart, CallStartRequest(id: .make("c"), conversation: pair, media: .audio)
            ).call
            _ = try await bob.ask(
                ChatVerbs.callUpdate, CallUpdateRequest(id: .make("u"), conversation: pair, call: call, state: .accepted))
            alice.disconnect()
            bob.disconnect()
            let push = try await tablet.next(ChatPushes.event) { $0.events.contains { $0.body["state"] == "ended" } }
            #expect(push.events.last?.kind == .callUpdate && push.events.last?.ref == call)
        }
    }
}
