import ApusChatProtocol
import Testing

@testable import ApusChatSimulator

/// The replay of a seed, on which the search for the cause of a fault depends.
@Suite("Replay of a seed")
struct ReplayTests {
    /// Returns the trace and the outcome of a run.
    private static func run(_ seed: UInt64, bug: PlantedBug? = nil, steps: Int = 400) -> (lines: [String], outcome: Simulation.Outcome) {
        var lines: [String] = []
        let outcome = Simulation(seed: seed, bug: bug) { lines.append($0) }.run(steps: steps)
        return (lines, outcome)
    }

    @Test func aTraceChangesNothing() {
        let traced = Self.run(5)
        let plain = Simulation(seed: 5).run(steps: 400)
        #expect(plain.digest == traced.outcome.digest && plain.deliveries == traced.outcome.deliveries)
    }

    @Test func differentSeedsDiffer() {
        let digests = (1...8 as ClosedRange<UInt64>).map { Simulation(seed: $0).run(steps: 200).digest }
        #expect(Set(digests).count == digests.count)
    }

    /// Each line of a trace begins with its time, and the times never decrease.
    @Test func aTraceIsInTheOrderOfItsTimes() {
        var last: Int64 = 0
        for line in Self.run(3).lines {
            let parts = line.split(separator: " ", maxSplits: 2)
            guard parts.count == 3, parts[1] == "ms:", let time = Int64(parts[0]) else {
                Issue.record("\(line)")
                return
            }
            #expect(time >= last)
            last = time
        }
        #expect(last > 0)
    }

    @Test func aRunHasTheStepsThatAreRequested() {
        for steps in [0, 1, 100] { #expect(Simulation(seed: 4).run(steps: steps).steps == steps) }
        #expect(Self.run(4, steps: 100).outcome.faults.isEmpty)
    }

    /// A fault ends its run, and a replay finds it at the same step with the same text.
    @Test(arguments: [PlantedBug.recalledServed, .unreadCountsChanges, .linkPastLimit]) func aFaultIsFoundAgain(bug: PlantedBug) {
        let (first, second) = (Simulation(seed: bug.seed, bug: bug).run(), Simulation(seed: bug.seed, bug: bug).run())
        #expect((1...5).contains(first.faults.count))
        #expect(first.faults == second.faults && first.steps == second.steps && first.digest == second.digest)
        #expect(first.text.contains("--seed \(bug.seed) --trace"))
    }

    /// A connection of a device has a number of its own, which the trace names.
    @Test func connectionsAreNumberedInOrder() {
        let numbers = Self.run(6).lines.compactMap { line -> Int? in
            guard line.contains(" connects as ") else { return nil }
            return line.split(separator: " ").last.flatMap { Int($0) }
        }
        #expect(numbers == Array(1...max(1, numbers.count)))
    }
}
