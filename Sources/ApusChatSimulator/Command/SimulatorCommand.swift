#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Runs seeds and prints the failures. `scripts/simulate` starts it.
@main
enum SimulatorCommand {
    static func main() async {
        guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
            print(Options.usage)
            exit(2)
        }
        if options.listsPlanted { return await Self.findPlanted() }
        if options.traces { return Self.trace(options) }
        let report = await Runner(options: options).run()
        if options.showsCoverage { print(report.coverage.text) }
        print(report.summary)
        exit(report.failures.isEmpty ? 0 : 1)
    }

    /// Replays one seed and prints each request, message and network fault.
    private static func trace(_ options: Options) {
        let outcome = Simulation(seed: options.seeds.lowerBound, bug: options.bug) { print($0) }.run()
        print(outcome.text)
        exit(outcome.faults.isEmpty ? 0 : 1)
    }

    /// Prints, for each planted bug, the lowest seed from 1 to 400 that finds it.
    private static func findPlanted() async {
        var areAllFound = true
        for bug in PlantedBug.allCases {
            let found = (1...400).lazy.map { Simulation(seed: $0, bug: bug).run() }.first { !$0.faults.isEmpty }
            if found == nil { areAllFound = false }
            print("\(bug.rawValue): " + (found.map { "seed \($0.seed), step \($0.steps): \($0.faults[0].prefix(160))" } ?? "not found"))
        }
        exit(areAllFound ? 0 : 1)
    }
}
