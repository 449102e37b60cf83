import ApusChatCore
import ApusChatProtocol
import Testing

@Suite struct CallMachineTests {
    private static let reports: [CallState] = [.ringing, .accepted, .ended, .missed, .declined, .busy]

    @Test func anAnsweredCallHasADuration() {
        var call = CallMachine(changedAt: 1_000)
        #expect(call.reported(.accepted, by: .callee, at: 5_000) == .record(.accepted, duration: nil))
        #expect(!call.isOver)
        #expect(call.reported(.ended, by: .caller, at: 65_000) == .record(.ended, duration: 60_000))
        #expect(call.isOver)
    }

    /// Each case is a report, its party and the new state of a ringing call; nil without an effect.
    @Test(arguments: [
        (CallState.accepted, CallMachine.Party.callee, CallState?.some(.accepted)), (.accepted, .caller, nil), (.accepted, .server, nil),
        (.declined, .callee, .declined), (.busy, .callee, .busy), (.declined, .caller, .missed), (.busy, .caller, .missed),
        (.declined, .server, nil), (.busy, .server, nil), (.ended, .caller, .missed), (.ended, .callee, .missed),
        (.missed, .server, .missed), (.ringing, .caller, nil), (.ringing, .callee, nil),
    ])
    func aRingIsAnsweredOnce(report: CallState, party: CallMachine.Party, state: CallState?) {
        var call = CallMachine(changedAt: 1_000)
        let action = call.reported(report, by: party, at: 2_000)
        #expect(action == state.map { .record($0, duration: nil) } ?? .doNothing)
        #expect(call.state == state ?? .ringing)
    }

    @Test(arguments: [CallState.declined, .busy, .ended, .missed]) func oneMemberOfAGroupDoesNotEndTheRingOfTheOthers(report: CallState) {
        var call = CallMachine(isGroup: true)
        #expect(call.reported(report, by: .callee, at: 1) == .doNothing)
        #expect(call.reported(.accepted, by: .callee, at: 2) == .record(.accepted, duration: nil))
    }

    /// Each case is the state of the call, a report, its party, and the actions in a group and in a
    /// pair. Time passes from 1,000 to 4,000 ms.
    @Test(arguments: [
        (CallState.accepted, CallState.ended, CallMachine.Party.caller, Self.leave, Self.end),
        (.accepted, .ended, .callee, Self.leave, Self.end),
        (.accepted, .ended, .server, Self.end, Self.end), (.accepted, .missed, .caller, Self.nothing, Self.nothing),
        (.accepted, .missed, .callee, Self.nothing, Self.nothing), (.accepted, .missed, .server, Self.nothing, Self.nothing),
        (.accepted, .declined, .caller, Self.nothing, Self.nothing), (.accepted, .declined, .callee, Self.nothing, Self.nothing),
        (.accepted, .busy, .caller, Self.nothing, Self.nothing), (.accepted, .busy, .callee, Self.nothing, Self.nothing),
        (.accepted, .accepted, .callee, Self.nothing, Self.nothing), (.accepted, .ringing, .callee, Self.nothing, Self.nothing),
        (.accepted, .unknown, .callee, Self.nothing, Self.nothing), (.ringing, .ended, .caller, Self.miss, Self.miss),
        (.ringing, .missed, .caller, Self.miss, Self.miss), (.ringing, .declined, .caller, Self.miss, Self.miss),
        (.ringing, .ended, .callee, Self.nothing, Self.miss), (.ringing, .ended, .server, Self.miss, Self.miss),
        (.ended, .ended, .caller, Self.nothing, Self.nothing), (.missed, .ended, .callee, Self.nothing, Self.nothing),
    ])
    func aMemberLeavesTheCallOfAGroup(
        state: CallState, report: CallState, party: CallMachine.Party, inGroup: CallMachine.Action, inPair: CallMachine.Action
    ) {
        for (isGroup, expected) in [(true, inGroup), (false, inPair)] {
            var call = CallMachine(state: state, changedAt: 1_000, isGroup: isGroup)
            #expect(call.reported(report, by: party, at: 4_000) == expected, "isGroup: \(isGroup)")
            let shown: CallState = if case .record(let new, _) = expected { new } else { state }
            #expect(call.state == shown && call.changedAt == (shown == state ? 1_000 : 4_000))
        }
    }

    private static let leave = CallMachine.Action.leave
    private static let end = CallMachine.Action.record(.ended, duration: 3_000)
    private static let miss = CallMachine.Action.record(.missed, duration: nil)
    private static let nothing = CallMachine.Action.doNothing

    /// Members leave and join, and repeat their reports; then the server ends the call.
    @Test func theServerEndsTheCallOfAGroupWithItsWholeDuration() {
        var call = CallMachine(changedAt: 1_000, isGroup: true)
        #expect(call.reported(.accepted, by: .callee, at: 5_000) == .record(.accepted, duration: nil))
        for time in [6_000, 6_000, 9_000] as [Int64] {
            #expect(call.reported(.ended, by: .callee, at: time) == .leave)
            #expect(call.reported(.accepted, by: .callee, at: time) == .doNothing)
            #expect(call.reported(.ended, by: .caller, at: time) == .leave)
        }
        #expect(call.reported(.ended, by: .server, at: 10_000) == .record(.ended, duration: 5_000))
        #expect(call.reported(.ended, by: .caller, at: 11_000) == .doNothing)
    }

    @Test func aRingThatEndsInTheMomentOfTheAnswerDoesNotEndTheCall() {
        var call = CallMachine(state: .accepted, changedAt: 1_000)
        #expect(call.reported(.missed, by: .server, at: 2_000) == .doNothing)
        #expect(call.state == .accepted)
    }

    @Test func theServerEndsACallThatItsDevicesLeft() {
        var call = CallMachine(state: .accepted, changedAt: 1_000)
        #expect(call.reported(.ended, by: .server, at: 91_000) == .record(.ended, duration: 90_000))
        #expect(call.isOver)
    }

    @Test(arguments: [CallState.ended, .missed, .declined, .busy, .unknown]) func nothingFollowsTheEnd(state: CallState) {
        for report in Self.reports {
            for party in CallMachine.Party.allCases {
                var call = CallMachine(state: state, changedAt: 1_000)
                #expect(call.reported(report, by: party, at: 2_000) == .doNothing)
                #expect(call.isOver && call.state == state)
            }
        }
    }

    @Test func aClockThatWasSetBackMakesNoNegativeDuration() {
        var call = CallMachine(state: .accepted, changedAt: 5_000)
        #expect(call.reported(.ended, by: .callee, at: 4_000) == .record(.ended, duration: 0))
    }
}
