import ApusChatCore
import ApusChatProtocol
import Testing

@Suite struct DeviceCallMachineTests {
    enum Event: Sendable {
        case started(Bool), answered, answerFailed, joined(Bool), connected, told(CallState, Bool), ended
    }

    struct Story: Sendable {
        var phase: DeviceCallMachine.Phase
        var events: [Event]
        var actions: [DeviceCallMachine.Action]
        var last: DeviceCallMachine.Phase
        var isGroup = false
    }

    /// The same cases as in `test_page_call_modules.py`, which tests the machine of the page.
    static let stories: [Story] = [
        // The caller.
        Story(
            phase: .starting, events: [.started(true), .told(.accepted, false), .told(.ended, false)], actions: [.ring, .connect, .end],
            last: .over(.ended)),
        Story(phase: .starting, events: [.started(true), .told(.missed, false)], actions: [.ring, .end], last: .over(.noAnswer)),
        Story(phase: .starting, events: [.started(true), .told(.declined, false)], actions: [.ring, .end], last: .over(.declined)),
        Story(
            phase: .starting, events: [.started(true), .told(.busy, false), .told(.accepted, false)], actions: [.ring, .end, .doNothing],
            last: .over(.busy)),
        Story(
            phase: .starting, events: [.started(true), .connected, .told(.accepted, false)], actions: [.ring, .connect, .doNothing],
            last: .active),
        Story(phase: .starting, events: [.started(true), .told(.accepted, true)], actions: [.ring, .doNothing], last: .outgoing),
        Story(
            phase: .starting, events: [.started(true), .told(.accepted, true)], actions: [.ring, .connect], last: .active, isGroup: true),
        Story(phase: .starting, events: [.ended, .started(true)], actions: [.end, .doNothing], last: .over(.hungUp)),
        Story(
            phase: .starting, events: [.answered, .joined(true), .connected], actions: [.doNothing, .doNothing, .doNothing], last: .starting
        ),
        // Of two calls at the same time, the later start joins the earlier one.
        Story(
            phase: .starting, events: [.started(false), .told(.accepted, true), .joined(true)], actions: [.accept, .doNothing, .connect],
            last: .active),
        Story(phase: .starting, events: [.started(false), .told(.missed, false)], actions: [.accept, .end], last: .over(.missed)),
        // The callee.
        Story(
            phase: .incoming, events: [.answered, .told(.accepted, true), .joined(true)], actions: [.accept, .doNothing, .connect],
            last: .active),
        Story(
            phase: .incoming, events: [.answered, .answered, .joined(false)], actions: [.accept, .doNothing, .end], last: .over(.elsewhere)),
        Story(phase: .incoming, events: [.told(.accepted, true), .answered], actions: [.end, .doNothing], last: .over(.elsewhere)),
        Story(phase: .incoming, events: [.told(.missed, false)], actions: [.end], last: .over(.missed)),
        Story(phase: .incoming, events: [.answered, .answerFailed, .answered], actions: [.accept, .doNothing, .accept], last: .joining),
        Story(
            phase: .incoming, events: [.answered, .told(.ended, false), .joined(true)], actions: [.accept, .end, .doNothing],
            last: .over(.ended)),
        Story(
            phase: .incoming, events: [.told(.unknown, true), .told(.ringing, false), .connected],
            actions: [.doNothing, .doNothing, .doNothing], last: .incoming),
        Story(
            phase: .incoming, events: [.told(.accepted, false), .answered], actions: [.doNothing, .accept], last: .joining, isGroup: true),
        Story(
            phase: .incoming, events: [.started(true), .answerFailed, .ended], actions: [.doNothing, .doNothing, .end], last: .over(.hungUp)
        ),
    ]

    @Test(arguments: stories) func eachEventHasAnActionInEachPhase(story: Story) {
        var machine = DeviceCallMachine(story.phase, isGroup: story.isGroup)
        let actions = story.events.map { event -> DeviceCallMachine.Action in
            switch event {
            case .started(let isOwn): return machine.started(isOwn: isOwn)
            case .answered: return machine.answered()
            case .answerFailed:
                machine.answerFailed()
                return .doNothing
            case .joined(let counts): return machine.joined(counts: counts)
            case .connected: return machine.connected()
            case .told(let state, let isOwn): return machine.told(state, isOwn: isOwn)
            case .ended: return machine.ended(.hungUp)
            }
        }
        #expect(actions == story.actions)
        #expect(machine.phase == story.last)
    }

    @Test func aCallThatIsOverNoLongerChanges() {
        for reason in DeviceCallMachine.Reason.allCases {
            var machine = DeviceCallMachine(.incoming, isGroup: false)
            #expect(machine.ended(reason) == .end && machine.isOver)
            #expect(machine.answered() == .doNothing && machine.started(isOwn: true) == .doNothing)
            #expect(machine.joined(counts: true) == .doNothing && machine.connected() == .doNothing)
            #expect(machine.told(.accepted, isOwn: true) == .doNothing && machine.told(.ended, isOwn: true) == .doNothing)
            #expect(machine.ended(.failed) == .doNothing)
            #expect(machine.phase == .over(reason))
        }
    }
}
