import Testing

@testable import ApusChatSimulator

/// The arguments of `scripts/simulate` at their edges.
@Suite("Arguments of the simulator")
struct OptionEdgeTests {
    @Test func withoutArgumentsTheDefaultsApply() throws {
        let options = try #require(Options([]))
        #expect(options.seeds == 1...100 && options.jobs == 0 && options.bug == nil)
        #expect(!options.traces && !options.isBenchmark && !options.listsPlanted && !options.showsCoverage)
    }

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("18446744073709551615", .max), ("+7", 7), ("007", 7),
        ] as [(String, UInt64)])
    func aSeedIsANumber(text: String, seed: UInt64) {
        #expect(Options(["--seed", text])?.seeds == seed...seed)
    }

    @Test(arguments: ["", " 1", "1 ", "-1", "1.0", "0x10", "1e3", "18446744073709551616", "١", "one", "1-2", "--trace"])
    func anotherTextIsNotASeed(text: String) { #expect(Options(["--seed", text]) == nil) }

    @Test(
        arguments: [
            ("0-0", 0...0), ("1-1", 1...1), ("5-9", 5...9), ("0-18446744073709551615", 0 ... .max),
        ] as [(String, ClosedRange<UInt64>)])
    func aRangeHasTwoSeeds(text: String, seeds: ClosedRange<UInt64>) { #expect(Options(["--seeds", text])?.seeds == seeds) }

    @Test(arguments: ["", "-", "5", "5-", "-5", "9-5", "1-2-3", "a-b", "1–5", "1..5", "1 - 5", "1-18446744073709551616"])
    func anotherTextIsNotARange(text: String) { #expect(Options(["--seeds", text]) == nil) }

    @Test(arguments: [("1", 1), ("64", 64), ("9223372036854775807", .max)] as [(String, Int)])
    func jobsAreAPositiveNumber(text: String, jobs: Int) { #expect(Options(["--jobs", text])?.jobs == jobs) }

    @Test(arguments: ["", "0", "-1", "two", "1.5", "9223372036854775808"])
    func anotherTextIsNotANumberOfJobs(text: String) { #expect(Options(["--jobs", text]) == nil) }

    @Test(arguments: PlantedBug.allCases) func eachBugIsPlantedByItsName(bug: PlantedBug) {
        let options = Options(["--planted", bug.rawValue])
        #expect(options?.bug == bug && options?.listsPlanted == false)
        #expect(Options(["--planted", bug.rawValue.uppercased()]) == nil && Options(["--planted", bug.rawValue + " "]) == nil)
        #expect(Options.usage.contains(bug.rawValue))
    }

    @Test(arguments: ["--seed", "--seeds", "--jobs", "--planted"]) func anOptionWithAValueNeedsIt(option: String) {
        #expect(Options([option]) == nil)
        #expect(Options(["--coverage", option]) == nil)
    }

    @Test(arguments: ["", "-", "--", "seed", "-seed", "--Seed", "--seed=1", "--help", "-h", "1", "--trace=1", "—seed"])
    func anotherArgumentIsRefused(argument: String) {
        #expect(Options([argument]) == nil)
        #expect(Options(["--seed", "1", argument]) == nil)
    }

    /// The last value of a repeated option applies, and options can be in any order.
    @Test func optionsCombine() throws {
        let options = try #require(
            Options(["--trace", "--planted", "all", "--seeds", "1-9", "--coverage", "--seed", "4", "--planted", "link-past-limit"]))
        #expect(options.traces && options.showsCoverage && options.seeds == 4...4 && options.bug == .linkPastLimit && options.listsPlanted)
        #expect(Options(["--jobs", "8", "--bench"])?.jobs == 1)
        #expect(Options(["--bench", "--jobs", "8"])?.jobs == 8)
    }

    /// The names of bugs are words with hyphens, so that a shell passes them unchanged.
    @Test func namesOfBugsAreUniqueWords() {
        #expect(Set(PlantedBug.allCases.map(\.rawValue)).count == PlantedBug.allCases.count)
        for bug in PlantedBug.allCases {
            #expect(bug.rawValue.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }, "\(bug)")
            #expect((1...400).contains(bug.seed), "the command looks for it in these seeds")
        }
    }
}
