import ApusChatCore
import ApusChatProtocol
import ApusJSON
import ApusSeededRandom
import Testing

/// Two devices that negotiate at random moments, over a chat that keeps the order.
@Suite("Random negotiations")
struct NegotiationModelTests {
    private enum Message { case offer, answer }

    private struct Side {
        var negotiation: PeerNegotiation
        /// The messages on their way to this side.
        var inbox: [Message] = []
    }

    /// Carries an action out. Returns the messages for the other side.
    private func perform(_ action: PeerNegotiation.Action, of side: inout Side, rolledBack: inout Bool) -> [Message] {
        switch action {
        case .offer: return [.offer]  // `settled` is called for the answer
        case .answer(let rollsBack):
            if rollsBack { rolledBack = true }
            return [.answer] + self.perform(side.negotiation.settled(), of: &side, rolledBack: &rolledBack)
        case .applyAnswer: return self.perform(side.negotiation.settled(), of: &side, rolledBack: &rolledBack)
        default: return []
        }
    }

    /// Both sides come to rest: no side waits for an answer that never comes.
    @Test func crossingOffersSettle() {
        var crossings = 0
        for seed in UInt64(1)...500 {
            var generator = SplitMix64(state: seed)
            var sides = [Side(negotiation: PeerNegotiation(isPolite: true)), Side(negotiation: PeerNegotiation(isPolite: false))]
            var needs = Int.random(in: 1...6, using: &generator)
            var rolledBack = false
            var steps = 0
            while needs > 0 || sides.contains(where: { !$0.inbox.isEmpty }) {
                steps += 1
                guard steps < 200 else {
                    Issue.record("seed \(seed) does not settle")
                    break
                }
                let index = Int.random(in: 0...1, using: &generator)
                var sent: [Message] = []
                if needs > 0, Bool.random(using: &generator) {
                    needs -= 1
                    sent = self.perform(sides[index].negotiation.needed(), of: &sides[index], rolledBack: &rolledBack)
                } else if !sides[index].inbox.isEmpty {
                    let message = sides[index].inbox.removeFirst()
                    let action = message == .offer ? sides[index].negotiation.receivedOffer() : sides[index].negotiation.receivedAnswer()
                    sent = self.perform(action, of: &sides[index], rolledBack: &rolledBack)
                }
                sides[1 - index].inbox += sent
            }
            if rolledBack { crossings += 1 }
            for side in sides {
                var side = side
                #expect(side.negotiation.resumed(isConnected: true) == .doNothing, "seed \(seed)")
                #expect(side.negotiation.receivedCandidate() == .addCandidate, "seed \(seed)")
            }
        }
        #expect(crossings > 20)
    }

    // MARK: Signals

    /// Signals of a hostile user are refused, or read as signals that do not change when they are
    /// written and read again.
    @Test func signalsHaveOneForm() {
        var generator = SplitMix64(state: 91)
        let values: [JSONValue] = [
            .null, true, false, 0, -1, 1_001, 1.5, .integer(.max), "", "a1", "v=0", "<b>", "\u{0}", "鸟",
            .string(String(repeating: "a", count: 65)),
            .string(String(repeating: "é", count: 50_001)), [], [:], ["candidate": "x", "sdpMid": "0"],
            ["candidate": "x", "sdpMid": .string(String(repeating: "a", count: 257)), "sdpMLineIndex": 1_000],
            ["candidate": "x", "sdpMLineIndex": 1_001],
            ["candidate": "", "sdpMLineIndex": 0, "usernameFragment": 7], ["candidate": ["x"], "sdpMid": "0"],
        ]
        let types: [JSONValue] = ["join", "leave", "full", "answered", "state", "offer", "answer", "candidate", "Offer", "", 1, nil]
        let names = ["session", "to", "sdp", "candidate", "reply", "again", "moved", "microphone", "camera", "screen", "type", "zz"]
        var read = 0
        for _ in 0..<20_000 {
            var data: JSONObject = ["type": types.randomElement(using: &generator) ?? .null]
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                data[names.randomElement(using: &generator) ?? "to"] = values.randomElement(using: &generator)
            }
            guard let signal = CallSignal(data) else { continue }
            read += 1
            #expect(CallSignal(signal.data) == signal, "\(data)")
            #expect(signal.session.utf8.count <= 64 && signal.recipient.utf8.count <= 64)
            if case .offer(let sdp) = signal.content { #expect(sdp.utf8.count <= CallSignal.maximumDescription && !sdp.isEmpty) }
            if case .candidate(let text, let mid, let index, let fragment) = signal.content {
                #expect(text.utf8.count <= CallSignal.maximumCandidate && (mid != nil || index != nil))
                #expect((mid?.utf8.count ?? 0) <= 256 && (fragment?.utf8.count ?? 0) <= 256 && (0...1_000).contains(index ?? 0))
            }
        }
        #expect(read > 3_000)
    }

    // MARK: States of a call

    /// Any reports in any order: a call that is over stays as it is, a duration belongs to an end,
    /// and only a callee answers.
    @Test(arguments: [true, false]) func reportsInAnyOrder(isGroup: Bool) {
        var generator = SplitMix64(state: 93)
        for _ in 0..<3_000 {
            var call = CallMachine(isGroup: isGroup)
            var time: Int64 = 0
            var answeredAt: Int64?
            for _ in 0..<8 {
                time += Int64.random(in: -5...1_000, using: &generator)
                let before = call
                let report = CallState.allCases.randomElement(using: &generator) ?? .ended
                let party = CallMachine.Party.allCases.randomElement(using: &generator) ?? .server
                switch call.reported(report, by: party, at: time) {
                case .record(let state, let duration):
                    #expect(!before.isOver && state == call.state && state != .ringing && state != .unknown && call.changedAt == time)
                    if state == .accepted {
                        #expect(party == .callee)
                        answeredAt = time
                    }
                    #expect(duration == (state == .ended ? answeredAt.map { max(0, time - $0) } : nil))
                    #expect((state == .ended) == (before.state == .accepted))
                    if isGroup, before.state == .accepted { #expect(party == .server) }
                case .leave: #expect(isGroup && call == before && before.state == .accepted && party != .server)
                case .doNothing: #expect(call == before)
                }
            }
        }
    }
}
