import Testing

@testable import ApusChatProtocol

private struct Numbered: SequencedEvent, Equatable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    var seq: Int64
    init(integerLiteral value: Int64) { self.seq = value }
    init(_ seq: Int64) { self.seq = seq }
    var description: String { "#\(self.seq)" }
}

private typealias Machine = SyncCursorMachine<Numbered>

extension Machine {
    /// Returns a machine that has applied 1…`seq`.
    fileprivate static func level(at seq: Int64, _ configuration: SyncConfiguration = .init()) -> Self {
        Self(cursor: seq, head: seq, isPrimed: true, configuration: configuration)
    }
}

private func events(_ range: ClosedRange<Int64>) -> [Numbered] { range.map { Numbered($0) } }

struct SyncCursorMachineTests {
    @Test func theNextEventIsApplied() {
        var machine = Machine()
        #expect(machine.received(1) == .apply([1]))
        #expect(machine.received(2) == .apply([2]))
        #expect(machine.cursor == 2)
    }

    @Test func whatIsKnownIsIgnored() {
        var machine = Machine.level(at: 5)
        #expect(machine.received(5) == .ignore)
        #expect(machine.received(1) == .ignore)
        #expect(machine.received(0) == .ignore)
        #expect(machine.received(-7) == .ignore)
        #expect(machine.cursor == 5)
    }

    @Test func overtakenEventWaitsHalfASecondAndTheHoleClosesByItself() {
        var machine = Machine.level(at: 5)
        #expect(machine.received(7) == .wait(.milliseconds(500)))
        #expect(machine.received(8) == .hold)
        #expect(machine.cursor == 5)
        #expect(machine.received(6) == .apply([6, 7, 8]))
        #expect(machine.holeTimerFired() == .doNothing)
    }

    @Test func holeThatStaysOpenIsPulled() {
        var machine = Machine.level(at: 5)
        #expect(machine.received(8) == .wait(.milliseconds(500)))
        #expect(machine.holeTimerFired() == .pull(.page(from: 6, limit: 200)))
        #expect(machine.holeTimerFired() == .doNothing)
        #expect(
            machine.received(page: [6, 7, 8], head: 8, for: .page(from: 6, limit: 200)) == .apply([6, 7, 8], gap: nil, next: .doNothing))
        #expect(machine.cursor == 8)
    }

    @Test func pagesThatAreShorterThanAskedForAreFollowedByTheNext() {
        var machine = Machine.level(at: 5)
        #expect(machine.synchronized(head: 100, floor: 1) == .pull(.page(from: 6, limit: 200)))
        for first in stride(from: Int64(6), to: 99, by: 2) {
            let page = events(first...first + 1)
            #expect(
                machine.received(page: page, head: 100, for: .page(from: first, limit: 200))
                    == .apply(page, gap: nil, next: .pull(.page(from: first + 2, limit: 200))))
        }
        #expect(machine.received(page: [100], head: 100, for: .page(from: 100, limit: 200)) == .apply([100], gap: nil, next: .doNothing))
    }

    @Test func aWindowThatIsShorterThanAskedForIsStillAWindow() {
        var machine = Machine.level(at: 5)
        #expect(machine.synchronized(head: 10_000, floor: 1) == .pull(.window(before: 10_001, limit: 50)))
        let newest = events(9_998...10_000)
        #expect(
            machine.received(page: newest, head: 10_000, for: .window(before: 10_001, limit: 50))
                == .apply(newest, gap: 6...9_997, next: .doNothing))
        #expect(!machine.isBehind)
    }

    @Test func eventsThatComeDuringThePullAreAppliedOnce() {
        var machine = Machine.level(at: 5)
        _ = machine.received(8)
        _ = machine.holeTimerFired()
        #expect(machine.received(6) == .apply([6]))
        #expect(machine.received(9) == .hold)
        #expect(
            machine.received(page: [6, 7, 8], head: 9, for: .page(from: 6, limit: 200)) == .apply([7, 8, 9], gap: nil, next: .doNothing))
    }

    @Test func synchronizedHeadIsPulledAtOnceInPages() {
        var configuration = SyncConfiguration()
        configuration.pageLimit = 2
        var machine = Machine.level(at: 5, configuration)
        #expect(machine.synchronized(head: 5, floor: 1) == .doNothing)
        #expect(machine.synchronized(head: 8, floor: 1) == .pull(.page(from: 6, limit: 2)))
        #expect(
            machine.received(page: [6, 7], head: 8, for: .page(from: 6, limit: 2))
                == .apply([6, 7], gap: nil, next: .pull(.page(from: 8, limit: 2))))
        #expect(machine.received(page: [8], head: 8, for: .page(from: 8, limit: 2)) == .apply([8], gap: nil, next: .doNothing))
    }

    @Test func nudgeGivesTheEventTimeToCome() {
        var machine = Machine.level(at: 5)
        #expect(machine.headAdvanced(head: 6, floor: 1) == .wait(.milliseconds(500)))
        #expect(machine.received(6) == .apply([6]))
        #expect(machine.holeTimerFired() == .doNothing)
        #expect(machine.headAdvanced(head: 6, floor: 1) == .doNothing)
    }

    @Test func newConversationStartsWithAWindowAndNoGap() {
        var machine = Machine()
        #expect(machine.synchronized(head: 500, floor: 1) == .pull(.window(before: 501, limit: 50)))
        #expect(
            machine.received(page: events(451...500), head: 500, for: .window(before: 501, limit: 50))
                == .apply(events(451...500), gap: nil, next: .doNothing))
        #expect(machine.cursor == 500)
        #expect(machine.isPrimed)
    }

    @Test(arguments: [(behind: Int64(1_000), window: false), (1_001, true)])
    func tooFarBehindTakesAWindow(behind: Int64, window: Bool) {
        var machine = Machine.level(at: 10)
        let action = machine.synchronized(head: 10 + behind, floor: 1)
        #expect(action == (window ? .pull(.window(before: 11 + behind, limit: 50)) : .pull(.page(from: 11, limit: 200))))
    }

    @Test func windowBeyondTheCursorLeavesAGapMarker() {
        var machine = Machine.level(at: 10)
        _ = machine.synchronized(head: 2_000, floor: 1)
        #expect(
            machine.received(page: events(1_951...2_000), head: 2_000, for: .window(before: 2_001, limit: 50))
                == .apply(events(1_951...2_000), gap: 11...1_950, next: .doNothing))
        #expect(machine.received(2_001) == .apply([2_001]))
    }

    @Test func windowThatReachesTheCursorLeavesNone() {
        var machine = Machine.level(at: 10)
        _ = machine.synchronized(head: 2_000, floor: 1)
        #expect(
            machine.received(page: events(9...12), head: 12, for: .window(before: 2_001, limit: 50))
                == .apply([11, 12], gap: nil, next: .pull(.window(before: 2_001, limit: 50))))
    }

    @Test func pageThatSkipsAnnouncesTheGap() {
        var machine = Machine.level(at: 5)
        _ = machine.synchronized(head: 9, floor: 1)
        #expect(machine.received(page: [8, 9], head: 9, for: .page(from: 6, limit: 200)) == .apply([8, 9], gap: 6...7, next: .doNothing))
    }

    @Test func pageWithAHoleInsideIsTakenUpToTheHole() {
        var machine = Machine.level(at: 5)
        _ = machine.synchronized(head: 9, floor: 1)
        #expect(
            machine.received(page: [6, 9, 6, 7], head: 9, for: .page(from: 6, limit: 200))
                == .apply([6, 7], gap: nil, next: .pull(.page(from: 8, limit: 200))))
    }

    @Test func emptyPageWaitsLongerEachTime() {
        var machine = Machine.level(at: 5)
        _ = machine.synchronized(head: 6, floor: 1)
        let request = SyncPullRequest.page(from: 6, limit: 200)
        #expect(machine.received(page: [], head: 6, for: request) == .apply([], gap: nil, next: .wait(.milliseconds(500))))
        #expect(machine.holeTimerFired() == .pull(request))
        #expect(machine.received(page: [], head: 6, for: request) == .apply([], gap: nil, next: .wait(.seconds(1))))
        #expect(machine.holeTimerFired() == .pull(request))
        #expect(machine.pullFailed() == .wait(.seconds(2)))
    }

    @Test func retryDelayHasACeiling() {
        #expect(SyncConfiguration().retryDelay(afterAttempts: .max) == .seconds(30))
        #expect(SyncConfiguration().retryDelay(afterAttempts: -1) == .milliseconds(500))
    }

    @Test func disconnectVoidsTheRequestAndResumingAsksAgain() {
        var machine = Machine.level(at: 5)
        #expect(machine.received(7) == .wait(.milliseconds(500)))
        machine.disconnected()
        #expect(machine.holeTimerFired() == .doNothing)
        #expect(machine.pullFailed() == .doNothing)
        #expect(machine.resumed() == .pull(.page(from: 6, limit: 200)))
        #expect(machine.resumed() == .doNothing)
        #expect(machine.received(page: [6], head: 7, for: .page(from: 6, limit: 200)) == .apply([6, 7], gap: nil, next: .doNothing))
    }

    @Test func lateAnswerAfterADisconnectIsStillGood() {
        var machine = Machine.level(at: 5)
        _ = machine.synchronized(head: 7, floor: 1)
        machine.disconnected()
        #expect(machine.received(page: [6, 7], head: 7, for: .page(from: 6, limit: 200)) == .apply([6, 7], gap: nil, next: .doNothing))
    }

    @Test func raisedFloorMovesTheCursorWithoutAGap() {
        var machine = Machine.level(at: 5)
        #expect(machine.synchronized(head: 12, floor: 10) == .pull(.page(from: 10, limit: 200)))
        #expect(
            machine.received(page: [10, 11, 12], head: 12, for: .page(from: 10, limit: 200))
                == .apply([10, 11, 12], gap: nil, next: .doNothing))
    }

    @Test func whatIsHeldIsBounded() {
        var configuration = SyncConfiguration()
        configuration.maximumHeld = 2
        var machine = Machine.level(at: 0, configuration)
        for seq in Int64(2)...9 { _ = machine.received(Numbered(seq)) }
        #expect(machine.received(1) == .apply([1, 2, 3]))
        #expect(machine.holeTimerFired() == .pull(.page(from: 4, limit: 200)))
    }

    @Test func absurdNumbersDoNotTrap() {
        var machine = Machine.level(at: 5)
        #expect(machine.received(Numbered(.max)) == .wait(.milliseconds(500)))
        #expect(machine.received(Numbered(.min)) == .ignore)
        #expect(machine.holeTimerFired() == .pull(.window(before: .max, limit: 50)))
        #expect(
            machine.received(page: [Numbered(.max)], head: .max, for: .window(before: .max, limit: 50))
                == .apply([Numbered(.max)], gap: 6...(.max - 1), next: .doNothing))
        _ = machine.synchronized(head: .min, floor: .max)
        _ = machine.headAdvanced(head: .max, floor: .min)
        #expect(machine.received(Numbered(.max)) == .ignore)
    }

    /// Applies 1, 2, 3, … in order, even if events are lost, duplicated and reordered.
    @Test(arguments: UInt64(1)...40) func chaosAppliesEverythingOnceInOrder(seed: UInt64) {
        var dice = SplitMix(state: seed)
        var configuration = SyncConfiguration()
        configuration.pageLimit = 7
        configuration.maximumHeld = 5
        var machine = Machine.level(at: 0, configuration)
        var applied: [Int64] = []
        var request: SyncPullRequest?
        let last: Int64 = 60

        func carryOut(_ action: Machine.HeadAction) { if case .pull(let asked) = action { request = asked } }

        var deliveries = (1...last).flatMap { seq in Array(repeating: seq, count: Int(dice.next() % 3)) }
        deliveries.shuffle(using: &dice)
        for seq in deliveries {
            if case .apply(let events) = machine.received(Numbered(seq)) { applied += events.map(\.seq) }
            switch dice.next() % 6 {
            case 0: carryOut(machine.holeTimerFired())
            case 1:
                machine.disconnected()
                request = nil
                carryOut(machine.resumed())
            case 2: answer()
            default: break
            }
        }
        func answer() {
            guard case .page(let from, let limit) = request else { return }
            request = nil
            let page = from <= last ? events(from...min(last, from + Int64(limit) - 1)) : []
            guard case .apply(let new, let gap, let next) = machine.received(page: page, head: last, for: .page(from: from, limit: limit))
            else { return }
            #expect(gap == nil)
            applied += new.map(\.seq)
            carryOut(next)
        }
        machine.disconnected()
        request = nil
        carryOut(machine.synchronized(head: last, floor: 1))
        while request != nil { answer() }
        #expect(applied == Array(1...last))
        #expect(!machine.isBehind)
    }
}

struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var z = self.state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
