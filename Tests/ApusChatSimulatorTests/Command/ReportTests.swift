import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSimulator

/// The texts that the simulator prints.
@Suite("Report of the simulator")
struct ReportTests {
    private func outcome(_ seed: UInt64, faults: [String] = [], digest: UInt64 = 255) -> Simulation.Outcome {
        Simulation.Outcome(seed: seed, steps: 40, faults: faults, digest: digest, events: 7, deliveries: 9, coverage: Coverage())
    }

    @Test func aFaultIsPrintedWithItsReplay() {
        #expect(self.outcome(12).text == "seed 12: 40 steps, no fault, digest ff")
        #expect(
            self.outcome(12, faults: ["first", "second"]).text == """
                seed 12 failed after 40 steps. Replay: scripts/simulate --seed 12 --trace
                  first
                  second
                """)
    }

    /// The digest of several seeds does not depend on the order in which they end, and depends on
    /// the digest of each.
    @Test func theDigestHasNoOrder() {
        func digest(_ outcomes: [Simulation.Outcome]) -> UInt64 {
            var report = Runner.Report()
            for outcome in outcomes { report.add(outcome) }
            return report.digest
        }
        let outcomes = (1...5).map { self.outcome($0, digest: $0 * 1_000_003) }
        #expect(digest(outcomes) == digest(outcomes.reversed()))
        #expect(digest(outcomes) != digest(Array(outcomes.dropLast())))
        var changed = outcomes
        changed.swapAt(0, 1)
        (changed[0].seed, changed[1].seed) = (1, 2)
        #expect(digest(outcomes) != digest(changed))
    }

    @Test func theSummaryAddsTheSeeds() {
        var report = Runner.Report()
        for seed in 1...3 as ClosedRange<UInt64> { report.add(self.outcome(seed)) }
        (report.seconds, report.cpuSeconds, report.jobs) = (2, 4, 8)
        #expect(
            report.summary.hasPrefix(
                "3 seeds, 120 steps, 21 events, 27 pushes in 2.0 s with 8 jobs: 60 steps a second, 30 in a second of a core, 0 failed"))
        // A run without a measurable duration has a finite rate.
        (report.seconds, report.cpuSeconds) = (0, 0)
        #expect(report.summary.contains("120000 steps a second"))
    }

    @Test func theRunnerRunsEachSeed() async throws {
        var options = try #require(Options(["--seeds", "3-4", "--jobs", "2"]))
        let report = await Runner(options: options).run()
        #expect(report.seeds == 2 && report.failures.isEmpty && report.jobs == 2 && report.events > 0)
        options.seeds = 3...3
        let one = await Runner(options: options).run()
        options.seeds = 4...4
        let other = await Runner(options: options).run()
        #expect(one.digest ^ other.digest == report.digest && one.events + other.events == report.events)
    }

    @Test func coverageCountsByTheDecision() {
        var coverage = Coverage()
        #expect(coverage.missing.count == Verb.allCases.count - 1 + Incident.allCases.count)
        coverage.note(.recall, .refused(ChatError(.forbidden, message: "")))
        #expect(coverage.missing.contains("recall"))
        coverage.note(.recall, .accepted(StoredAnswer(conversation: ConversationKey(1), seq: 3, n: 0, at: 1)))
        coverage.note(.restart)
        #expect(!coverage.missing.contains("recall") && !coverage.missing.contains("restart") && coverage.missing.contains("edit"))
        var other = Coverage()
        other.add(coverage)
        other.add(coverage)
        let line = other.text.split(separator: "\n").first { $0.hasPrefix("recall ") }
        #expect(line?.split(separator: " ").map(String.init) == ["recall", "2", "0", "0", "2"])
        #expect(other.text.split(separator: "\n").contains { $0.split(separator: " ") == ["restart", "2"] })
    }

    @Test func theUsageNamesEveryOption() {
        for option in ["--seeds", "--seed", "--trace", "--coverage", "--bench", "--jobs", "--planted"] {
            #expect(Options.usage.contains(option), "\(option)")
        }
        for bug in PlantedBug.allCases { #expect(Options.usage.contains(bug.rawValue), "\(bug)") }
    }

    /// Every message of a run has a short description for `--trace`.
    @Test func aTraceIsReadable() {
        var lines: [String] = []
        let traced = Simulation(seed: 5, trace: { lines.append($0) }).run(steps: 60)
        #expect(traced.digest == Simulation(seed: 5).run(steps: 60).digest)
        #expect(!lines.isEmpty && lines.allSatisfy { $0.contains(" ms: ") && !$0.contains("\n") && $0.count < 20_000 })
    }
}
