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
