import ApusChatCore
import ApusChatProtocol
import Testing

@testable import ApusChatClient

/// The values of calls that an application sees.
@Suite("Values of calls")
struct CallValuesTests {
    @Test(
        arguments: [
            (.starting, .starting), (.outgoing, .outgoing), (.incoming, .incoming), (.joining, .joining), (.active, .active),
            (.over(.hungUp), .over(.hungUp)), (.over(.lost), .over(.lost)),
        ] as [(DeviceCallMachine.Phase, CallPhase)])
    func aPhaseIsThatOfTheMachine(phase: DeviceCallMachine.Phase, shown: CallPhase) { #expect(CallPhase(phase) == shown) }

    @Test func eachReasonHasItsName() {
        let reasons = DeviceCallMachine.Reason.allCases.map(CallEndReason.init)
        #expect(Set(reasons).count == DeviceCallMachine.Reason.allCases.count)
        #expect(reasons.map { "\($0)" } == DeviceCallMachine.Reason.allCases.map { "\($0)" })
    }

    @Test func theServersOfACallAreThoseOfTheAnswer() {
        let stun = CallServer(urls: ["stun:a.test"])
        let turn = CallServer(urls: ["turn:b.test", "turns:b.test"], username: "u", credential: "c")
        let configuration = CallConfiguration(CallServersAnswer(servers: [stun, turn], expiresAt: 9))
        #expect(configuration.servers.map(\.urls) == [["stun:a.test"], ["turn:b.test", "turns:b.test"]])
        #expect(configuration.servers.map(\.username) == [nil, "u"] && configuration.servers.map(\.credential) == [nil, "c"])
        #expect(configuration.expiresAt == 9 && !configuration.isRelayOnly)
    }

    /// Without servers, nothing expires: the device makes no further request for them.
    @Test func aCallWithoutServersHasNoExpiry() {
        #expect(CallConfiguration(CallServersAnswer(servers: [], expiresAt: 9)).expiresAt == nil)
        #expect(CallConfiguration().servers.isEmpty && CallConfiguration().expiresAt == nil && !CallConfiguration().isRelayOnly)
    }

    @Test(arguments: [
        (CallState.ringing, false), (.accepted, false), (.unknown, false), (.ended, true), (.missed, true), (.declined, true),
        (.busy, true),
    ])
    func aFinalStateEndsTheCall(state: CallState, isFinal: Bool) { #expect(state.isFinal == isFinal) }

    @Test func theMicrophoneIsOnByDefault() {
        #expect(CallMediaState() == CallMediaState(microphone: true, camera: false, screen: false))
    }

    /// An event is identified by its conversation and its position.
    @Test func aPlaceIsThatOfAnEvent() {
        #expect(EventPlace(Value.text(1)) == EventPlace(Value.text(1, "other", by: Value.alice)))
        #expect(EventPlace(Value.text(1)) != EventPlace(Value.text(2)))
        #expect(EventPlace(Value.text(1)) != EventPlace(Value.text(1, in: Value.other)))
    }
}
