import Testing

@testable import ApusChatSimulator

/// The simulator finds what is planted, and only that. `scripts/simulate` runs many seeds.
@Suite("Simulation")
struct SimulationTests {
    @Test(arguments: PlantedBug.allCases) func aPlantedBugIsFoundByItsSeed(_ bug: PlantedBug) {
        #expect(!Simulation(seed: bug.seed, bug: bug).run().faults.isEmpty)
        #expect(Simulation(seed: bug.seed).run().faults == [])
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
        #expect(Options(["--planted", "recalled-served"])?.bug == .recalledServed)
        #expect(Options(["--planted", "all"])?.listsPlanted == true)
    }

    @Test(arguments: [["--seeds", "9-5"], ["--seeds"], ["--seed", "x"], ["--planted", "none"], ["--jobs", "0"], ["--other"]])
    func otherArgumentsAreRefused(_ arguments: [String]) {
        #expect(Options(arguments)?.seeds == nil)
    }
}
