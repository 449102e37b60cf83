import Testing

@testable import ApusChatSimulator

/// The simulator finds planted bugs and no others. `scripts/simulate` runs more seeds.
@Suite("Simulation")
struct SimulationTests {
    @Test(arguments: PlantedBug.allCases) func aPlantedBugIsFoundByItsSeed(_ bug: PlantedBug) {
        #expect(!Simulation(seed: bug.seed, bug: bug).run().faults.isEmpty)
    }

    /// Without a bug, the seeds 1 to 13 have no faults. Together they cover all verbs and incidents
    /// except rare ones.
    @Test func theSeedsWithoutABugFindNothingAndCoverVerbsAndIncidents() async {
        var coverage = Coverage()
        await withTaskGroup(of: Simulation.Outcome.self) { group in
            for seed in 1...13 as ClosedRange<UInt64> { group.addTask { Simulation(seed: seed).run() } }
            for await outcome in group {
                #expect(outcome.faults == [])
                coverage.add(outcome.coverage)
            }
        }
        #expect(Set(coverage.missing).isSubset(of: ["unschedule", "failedSchedule", "slowClose"]), "\(coverage.missing)")
    }

    @Test func aSeedGivesTheSameRun() {
        let first = Simulation(seed: 77).run(steps: 300)
        let second = Simulation(seed: 77).run(steps: 300)
        #expect(first.digest == second.digest && first.events == second.events && first.deliveries == second.deliveries)
        #expect(Simulation(seed: 78).run(steps: 300).digest != first.digest)
    }
}

@Suite("Options")
struct OptionsTests {
    @Test func theArgumentsSelectTheSeeds() {
        #expect(Options([])?.seeds == 1...100)
        #expect(Options(["--seeds", "5-9"])?.seeds == 5...9)
        #expect(Options(["--seed", "7", "--trace"])?.traces == true)
        #expect(Options(["--bench"])?.jobs == 1)
        #expect(Options(["--coverage"])?.showsCoverage == true)
        #expect(Options(["--planted", "recalled-served"])?.bug == .recalledServed)
        #expect(Options(["--planted", "all"])?.listsPlanted == true)
    }

    @Test(arguments: [["--seeds", "9-5"], ["--seeds"], ["--seed", "x"], ["--planted", "none"], ["--jobs", "0"], ["--other"]])
    func otherArgumentsAreRefused(_ arguments: [String]) {
        #expect(Options(arguments)?.seeds == nil)
    }
}
